"""A page whose explanation takes long, or too much, holds up nobody else."""

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from shutil import copyfile
from urllib.parse import quote

import httpx2
import pytest

from newscrawl.dashboard import explanations
from newscrawl.dashboard.explanations import MAX_WAITING, Explainer, UnexplainedError
from newscrawl.storage import open_database
from newscrawl.workers import Limits
from tests.archives import capture, written
from tests.dashboards import config_of, serving
from tests.explaining import WaitsForFile, compute_for_ever, take_memory
from tests.worlds import document, register, save_document

URL = "https://ft.example/long"
EXPLANATION = f"/article/explanation?url={quote(URL, safe='')}"
PAGE = b"<html><body><p>The council voted for the tram on Tuesday, after talk.</p></body></html>"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    written(tmp_path / "archive", capture(URL, PAGE))
    return tmp_path / "archive"


class Served:
    """A dashboard with one article, whose explanations wait for a file in a folder."""

    def __init__(self, base: str, folder: Path) -> None:
        self.base, self.folder = base, folder

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(f"{self.base}{path}", timeout=300)


@pytest.fixture
def dashboard(
    archive: Path, tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    file = copyfile(sqlite_template, tmp_path / "news.sqlite")
    with open_database(f"sqlite:///{file}") as database:
        save_document(database, document("long", title="The tram"), register(database))
    monkeypatch.setattr(explanations, "explained_content", WaitsForFile(tmp_path / "end"))
    with serving(config_of(Path(file), explain=Explainer(archive))) as base:
        yield Served(base, tmp_path)


def test_other_pages_answer_while_a_page_is_explained(dashboard):
    number = 1 + MAX_WAITING + 1
    with ThreadPoolExecutor(number) as readers:
        try:
            requests = [readers.submit(dashboard.get, EXPLANATION) for _ in range(number)]
            done, waiting = wait(requests, return_when=FIRST_COMPLETED)
            (refused,) = [one.result() for one in done]
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
            assert "Several pages are being explained already" in refused.text
            assert dashboard.get("/").status_code == 200
            assert dashboard.get("/api/facts").status_code == 200
            assert dashboard.get(EXPLANATION).status_code == 503
            assert not any(one.done() for one in waiting)
        finally:
            (dashboard.folder / "end").touch()
        answers = [one.result() for one in waiting]
    assert {one.status_code for one in answers} == {200}
    assert all("explained at last" in one.text for one in answers)
    assert dashboard.get(EXPLANATION).status_code == 200


@pytest.mark.parametrize(
    ("work", "fault"),
    [
        (compute_for_ever, r"Its explanation took more than 5 s of a processor"),
        (take_memory, r"Its explanation took more than 1024 MB of memory"),
    ],
    ids=["time", "memory"],
)
def test_explanation_over_its_limits_is_ended_and_the_next_one_works(
    archive, monkeypatch, work, fault
):
    monkeypatch.setattr(explanations, "MAX_WAITING", 0)
    explain = Explainer(archive, Limits(seconds=5, megabytes=1024, clock_seconds=300))
    with monkeypatch.context() as patch:
        patch.setattr(explanations, "explained_content", work)
        with pytest.raises(UnexplainedError, match=fault):
            explain([URL], False)
    assert "The council voted" in explain([URL], False)
