"""The search of all stored articles in the background of the dashboard."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from newscrawl.dashboard import jobs
from newscrawl.dashboard.jobs import JobRunningError, JobState, RematchJob
from newscrawl.storage import Database, open_database, queries
from tests.worlds import body, document, register, save_document

COMPANIES = 'bundled = false\n[[company]]\nname = "Quayside Works"\n'


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database of two articles with a company that is no longer in the registry."""
    address = f"sqlite:///{tmp_path}/news.sqlite"
    with open_database(address, create=True) as database:
        run = register(database)
        for number in range(2):
            text = f"Old Mill bought Quayside Works for {number} million."
            page = document(f"a{number}", text=text, mentions=[body("Old Mill")])
            save_document(database, page, run)
    return address


def finished(job: RematchJob) -> JobState:
    while job.state is None or job.state.running:
        time.sleep(0.05)
    return job.state


def ranking(url: str) -> list[str]:
    with open_database(url) as database:
        return [row.company for row in queries.company_ranking(database)]


def test_preview_counts_and_writes_nothing(url):
    job = RematchJob(url)
    job.preview(COMPANIES, "Quayside Works")
    state = finished(job)
    assert (state.done, state.total, state.fault) == (2, 2, None)
    changes = {one.company: one.articles for one in state.report.companies}
    assert changes == {"Old Mill": -2, "Quayside Works": 2}
    assert len(state.report.examples) == 4
    assert ranking(url) == ["Old Mill"]


def test_rematch_writes_what_the_preview_shows(url, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(COMPANIES, "utf-8")
    job = RematchJob(url)
    job.rematch(file)
    state = finished(job)
    assert state.report.changed == 2
    assert ranking(url) == ["Quayside Works"]


def test_one_job_runs_at_a_time_and_can_be_stopped(url, monkeypatch):
    waiting: list[Callable[[int], None]] = []

    def find_again(
        database: Database,
        companies: Path | None,
        preview: bool,
        advance: Callable[[int], None],
        articles: object,
    ) -> None:
        waiting.append(advance)
        while True:
            time.sleep(0.01)
            advance(1)

    monkeypatch.setattr(jobs, "find_mentions_again", find_again)
    job = RematchJob(url)
    job.rematch(None)
    with pytest.raises(JobRunningError):
        job.preview(COMPANIES, "Quayside Works")
    while not waiting:
        time.sleep(0.01)
    job.stop()
    assert finished(job).fault == "It was stopped."


def test_fault_of_a_job_is_shown(url, tmp_path):
    job = RematchJob(f"sqlite:///{tmp_path}/nowhere.sqlite")
    job.preview(COMPANIES, "Quayside Works")
    assert "nowhere.sqlite" in (finished(job).fault or "")
