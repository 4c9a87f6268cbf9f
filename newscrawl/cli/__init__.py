"""The command line: `newscrawl COMMAND ...`, each command in a module of its own.

Exit codes: 0 done, 1 nothing found or work that failed, 2 bad usage or input.
"""

import sys

import typer
from typer.exceptions import Abort, TyperException

from newscrawl.cli import (
    ablation,
    alerts,
    articles,
    benchmark,
    companies,
    cost,
    database,
    digest,
    evaluate,
    explain,
    extract,
    ingest,
    label,
    mentions,
    metrics,
    monitor,
    plots,
    reextract,
    rematch,
    search,
    serve,
    sources,
    status,
    train,
    train_network,
)

app = typer.Typer(
    name="newscrawl",
    help="Watch the news for companies: who is mentioned how often, where, beside what.",
    epilog="Articles come in by: scrapy crawl ft (scrapy list shows all sources).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

# A new command is one line here.
app.command("mentions", epilog=mentions.EXAMPLE)(mentions.mentions)
app.command("articles", epilog=articles.EXAMPLE)(articles.articles)
app.command("monitor", epilog=monitor.EXAMPLE)(monitor.monitor)
app.command("status", epilog=status.EXAMPLE)(status.status)
app.command("metrics", epilog=metrics.EXAMPLE)(metrics.metrics)
app.command("digest", epilog=digest.EXAMPLE)(digest.digest)
app.command("search", epilog=search.EXAMPLE)(search.search)
app.command("extract", epilog=extract.EXAMPLE)(extract.extract)
app.command("ingest", epilog=ingest.EXAMPLE)(ingest.ingest)
app.command("reextract", epilog=reextract.EXAMPLE)(reextract.reextract)
app.command("rematch", epilog=rematch.EXAMPLE)(rematch.rematch)
app.command("explain", epilog=explain.EXAMPLE)(explain.explain)
app.command("evaluate", epilog=evaluate.EXAMPLE)(evaluate.evaluate)
app.command("train", epilog=train.EXAMPLE)(train.train)
app.command("train-network", epilog=train_network.EXAMPLE)(train_network.train_network)
app.command("ablation", epilog=ablation.EXAMPLE)(ablation.ablation)
app.command("benchmark", epilog=benchmark.EXAMPLE)(benchmark.benchmark)
app.command("cost", epilog=cost.EXAMPLE)(cost.cost)
app.command("label", epilog=label.EXAMPLE)(label.label)
app.command("serve", epilog=serve.EXAMPLE)(serve.serve)
app.command("plots", epilog=plots.EXAMPLE)(plots.plots)
app.add_typer(alerts.app, name="alerts")
app.add_typer(companies.app, name="companies")
app.add_typer(sources.app, name="sources")
app.add_typer(database.app, name="db")


def main() -> None:
    """Runs the command line; an error that newscrawl names is one line and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        _fail(_usage(error), error.exit_code)
    except (Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except Exception as error:
        # What newscrawl raises by a name of its own is meant for the user. All else is a bug.
        if not type(error).__module__.startswith("newscrawl."):
            raise
        _fail(str(error), 2)
    sys.exit(code)


def _usage(error: TyperException) -> str:
    message = error.format_message().removesuffix(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    # Without a message the help itself has been printed.
    return f"{message} (see {context.command_path} --help)" if message and context else message


def _fail(message: str, code: int) -> None:
    from newscrawl.cli.output import say

    if message:
        say(f"newscrawl: {' '.join(message.split())}")
    sys.exit(code)
