"""The recipes, in this process."""

from collections.abc import Callable

import pytest

from benchmarks.recipes.command_line import main
from tests.conftest import Ran

RunRecipe = Callable[..., Ran]


@pytest.fixture
def run_recipe(capsys: pytest.CaptureFixture[str], empty_folder: None) -> RunRecipe:
    """Run a recipe with arguments, 80 columns wide, in an empty folder."""

    def run(*arguments: object) -> Ran:
        code: object = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        printed = capsys.readouterr()
        return Ran(int(code or 0), printed.out, printed.err)  # type: ignore[call-overload]

    return run
