"""The recipes, in this process."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.recipes.command_line import main
from tests.conftest import Ran

RunRecipe = Callable[..., Ran]


@pytest.fixture
def run_recipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> RunRecipe:
    """Run a recipe with arguments, 80 columns wide, in an empty folder."""
    for name in [name for name in os.environ if name.startswith("NEWSCRAWL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ran:
        code: object = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        printed = capsys.readouterr()
        return Ran(int(code or 0), printed.out, printed.err)  # type: ignore[call-overload]

    return run
