"""Run the command of a benchmark with the messages and exit codes of `newscrawl`."""

from collections.abc import Callable

import typer

from newscrawl.cli import main
from newscrawl.cli.arguments import Command


def run(command: Callable[..., None]) -> None:
    """Run a command with the arguments of this process, and exit."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command(cls=Command)(command)
    main(app)
