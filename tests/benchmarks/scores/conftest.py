"""The commands of the scores, in this process."""

from pathlib import Path

import pytest

from benchmarks.scores.command import app
from newscrawl.cli import main
from tests.conftest import Newscrawl, Ran


@pytest.fixture
def run_scores(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Newscrawl:
    """Run a command with arguments, 80 columns wide, in an empty folder."""
    monkeypatch.delenv("NEWSCRAWL_CORPUS", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: object) -> Ran:
        monkeypatch.setattr("sys.argv", ["scores", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main(app)
        printed = capsys.readouterr()
        return Ran(int(ended.value.code or 0), printed.out, printed.err)

    return run_command
