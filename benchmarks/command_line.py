"""Run the command of a benchmark with the messages and exit codes of `newscrawl`."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from benchmarks.recipes.console import RecipeError
from newscrawl.cli import main
from newscrawl.cli.arguments import Command, InputError


def run(command: Callable[..., None]) -> None:
    """Run a command with the arguments of this process, and exit."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @wraps(command)
    def run_command(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except RecipeError as error:
            raise InputError(str(error)) from error

    app.command(cls=Command)(run_command)
    main(app)
