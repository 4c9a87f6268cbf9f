"""The commands of the benchmarks, in this process."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.command_line import run
from tests.conftest import Ran

RunBenchmark = Callable[..., Ran]


@pytest.fixture
def empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Be in an empty folder, 80 columns wide, without settings."""
    for name in [name for name in os.environ if name.startswith("NEWSCRAWL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run_benchmark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_folder: None
) -> RunBenchmark:
    """Run the command of a benchmark with arguments, 80 columns wide, in an empty folder."""

    def run_command(command: Callable[..., None], *arguments: object) -> Ran:
        monkeypatch.setattr("sys.argv", ["benchmark", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run(command)
        printed = capsys.readouterr()
        return Ran(int(ended.value.code or 0), printed.out, printed.err)

    return run_command
