"""The commands of the scores, in this process."""

import pytest

from benchmarks.scores.command import app
from newscrawl.cli import main
from tests.conftest import Newscrawl, Ran


@pytest.fixture
def run_scores(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_folder: None
) -> Newscrawl:
    """Run a command with arguments, 80 columns wide, in an empty folder."""

    def run_command(*arguments: object) -> Ran:
        monkeypatch.setattr("sys.argv", ["scores", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main(app)
        printed = capsys.readouterr()
        return Ran(int(ended.value.code or 0), printed.out, printed.err)

    return run_command
