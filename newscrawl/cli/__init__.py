"""The command line: `newscrawl COMMAND ...`, a module for each group of commands.

Exit codes: 0 success, 1 nothing found or work that failed, 2 bad usage or input; as in shells, 130
interrupted, and 141 if the reader of the output has closed it, as `head` does.
"""

import errno
import io
import os
import re
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand
from typer.exceptions import Abort, TyperException

from newscrawl.cli import (
    alerts,
    archives,
    arguments,
    articles,
    companies,
    database,
    extract,
    mentions,
    monitor,
    questions,
    reports,
    saved_queries,
    serve,
    sources,
    train,
)

# The groups of commands in the help.
_ASK, _WATCH, _READ = "Ask the news", "Watch the news", "Read pages"
_KEEP, _LEARN = "Manage the data", "Score and improve extraction"
_INTERRUPTED, _BROKEN_PIPE = 128 + signal.SIGINT, 128 + signal.SIGPIPE
_MAYBE_PASSWORD = re.compile(r"(No such command |extra argument\S* ).*@.*", re.DOTALL)
_DISK_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EFBIG}

app = typer.Typer(
    name="newscrawl",
    help="Watch the news for companies: who is mentioned how often, where, and with whom.",
    epilog="Fetch articles with scrapy crawl ft (scrapy list shows all sources).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_set: bool) -> None:
    if is_set:
        from newscrawl import __version__
        from newscrawl.cli.output import write_line
        from newscrawl.extraction.compiled import PATH

        write_line(f"newscrawl {__version__}")
        write_line(f"extraction: {PATH}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


# A new command is one line here.
app.command("mentions", epilog=mentions.EXAMPLE, rich_help_panel=_ASK)(mentions.mentions)
app.command("share", epilog=mentions.SHARE_EXAMPLE, rich_help_panel=_ASK)(mentions.share)
app.command("together", epilog=mentions.TOGETHER_EXAMPLE, rich_help_panel=_ASK)(mentions.together)
app.command("proof", epilog=mentions.PROOF_EXAMPLE, rich_help_panel=_ASK)(mentions.proof)
app.command("articles", epilog=articles.ARTICLES_EXAMPLE, rich_help_panel=_ASK)(articles.articles)
app.command("monitor", epilog=monitor.MONITOR_EXAMPLE, rich_help_panel=_WATCH)(monitor.monitor)
app.command("status", epilog=monitor.STATUS_EXAMPLE, rich_help_panel=_WATCH)(monitor.status)
app.command("metrics", epilog=monitor.METRICS_EXAMPLE, rich_help_panel=_WATCH)(monitor.metrics)
app.command("digest", epilog=alerts.DIGEST_EXAMPLE, rich_help_panel=_ASK)(alerts.digest)
app.command(
    "search", cls=articles.SearchCommand, epilog=articles.SEARCH_EXAMPLE, rich_help_panel=_ASK
)(articles.search)
app.command("report", epilog=reports.EXAMPLE, rich_help_panel=_ASK)(reports.report)
app.command("extract", epilog=extract.EXAMPLE, rich_help_panel=_READ)(extract.extract)
app.command("ingest", epilog=archives.INGEST_EXAMPLE, rich_help_panel=_READ)(archives.ingest)
app.command("reextract", epilog=archives.REEXTRACT_EXAMPLE, rich_help_panel=_READ)(
    archives.reextract
)
app.command("rematch", epilog=archives.REMATCH_EXAMPLE, rich_help_panel=_READ)(archives.rematch)
app.command("explain", epilog=extract.EXPLAIN_EXAMPLE, rich_help_panel=_READ)(extract.explain)
app.command("evaluate", epilog=train.EVALUATE_EXAMPLE, rich_help_panel=_LEARN)(train.evaluate)
app.command("train", epilog=train.EXAMPLE, rich_help_panel=_LEARN)(train.train)
app.command("label", epilog=train.LABEL_EXAMPLE, rich_help_panel=_LEARN)(train.label)
app.command("serve", epilog=serve.EXAMPLE, rich_help_panel=_ASK)(serve.serve)
app.add_typer(questions.app, name="ask", rich_help_panel=_ASK)
app.add_typer(alerts.app, name="alerts", rich_help_panel=_ASK)
app.add_typer(saved_queries.app, name="queries", rich_help_panel=_ASK)
app.add_typer(companies.app, name="companies", rich_help_panel=_KEEP)
app.add_typer(sources.app, name="sources", rich_help_panel=_KEEP)
app.add_typer(articles.revisions, name="revisions", rich_help_panel=_KEEP)
app.add_typer(articles.corrections, name="corrections", rich_help_panel=_KEEP)
app.add_typer(serve.tokens, name="tokens", rich_help_panel=_KEEP)
app.add_typer(database.app, name="db", rich_help_panel=_KEEP)


def _declare(commands: typer.Typer) -> None:
    """Make the commands of an application, and of its groups, as `arguments.declared` says."""
    if not isinstance(commands.info.cls, type):
        commands.info.cls = arguments.CommandGroup
    for command in commands.registered_commands:
        if command.cls is TyperCommand:
            command.cls = arguments.Command
        if command.callback is not None:
            command.callback = arguments.declared(command.callback)
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            _declare(group.typer_instance)


_declare(app)


def main(commands: typer.Typer = app) -> None:
    """Run the command line; an error that newscrawl names is one line and exit code 2."""
    if commands is not app:
        _declare(commands)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # As Python writes to standard error what the terminal's charset lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = commands(standalone_mode=False)
        # Flushed here and not when Python ends, when a full disk could only be reported by a
        # traceback.
        sys.stdout.flush()
    except TyperException as error:
        message = error.format_message().removesuffix(".").replace("Value error, ", "")
        # Arguments with an @ may be those of a URL: also a part of it, where a blank splits it.
        message = _MAYBE_PASSWORD.sub(r"\1(not shown: it may have a password)", message)
        context = getattr(error, "ctx", None)
        # Without a message the help itself has been printed.
        _fail(
            f"{message} (see {context.command_path} --help)" if message and context else message,
            error.exit_code,
        )
    except (Abort, KeyboardInterrupt):
        _fail("interrupted", _INTERRUPTED)
    except SystemExit as error:
        # Typer and rich exit so, with a 1, when a pipe breaks; commands raise typer.Exit.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        _exit_quietly()
    except BrokenPipeError:
        _exit_quietly()
    except OSError as error:
        if error.errno not in _DISK_FAULTS:
            raise
        where = error.filename or "the output"
        _discard_output()
        _fail(f"can't read or write {where}: {os.strerror(error.errno)}", 1)
    except Exception as error:
        # Exceptions of newscrawl are messages for the user. All others are bugs.
        if not type(error).__module__.startswith("newscrawl."):
            raise
        advice = getattr(error, "advice", "")
        message = str(error) if advice in str(error) else f"{error}{advice}"
        _fail(message, 2, getattr(error, "pointer", ""))
    sys.exit(code)


def _exit_quietly() -> None:
    """Exit like a program that was killed by SIGPIPE, after its reader has gone."""
    _discard_output()
    sys.exit(_BROKEN_PIPE)


def _discard_output() -> None:
    """Keep Python from writing the rest of the output when it ends."""
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end


def _fail(message: str, code: int, pointer: str = "") -> None:
    """Exit with a message of one line; below it, lines that point at the place of a fault."""
    from newscrawl.cli.output import write_note

    if message:
        write_note(f"newscrawl: {' '.join(message.split())}")
    for line in pointer.splitlines():
        write_note(f"  {line}")
    sys.exit(code)
