"""Pages are read in a thread, and in processes where they pile up; no page takes others along."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from newscrawl.config import SettingError
from newscrawl.crawl.extraction_pool import (
    BACKLOG,
    LARGE_PAGE_BYTES,
    REDUCED_BYTES,
    ExtractionPool,
    WorkerConfig,
    WorkerDiedError,
    process_count,
)
from newscrawl.items import Document, FetchAttempt, Page
from newscrawl.mentions import load_companies
from newscrawl.reading import NoArticleError
from tests.dying import PlacedReader
from tests.site.crawling import PROJECT
from tests.site.faults import story
from tests.watching import alive, wait_for

PAGE = Page(
    url="https://n.example/a",
    source="n",
    html=story("A bridge", "Siemens"),
    fetched_at=datetime(2026, 11, 22, tzinfo=UTC),
)


CONFIG = WorkerConfig(reader=PlacedReader(method="fe", min_characters=10))
HERE = {f"{os.getpid()} extraction_0"}


@pytest.fixture
def readers() -> Iterator[ExtractionPool]:
    opened = ExtractionPool(CONFIG, 1)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def started() -> Iterator[ExtractionPool]:
    """Readers with a process, for tests that don't ask when it starts: that takes seconds."""
    opened = ExtractionPool(CONFIG, 1)
    yield opened
    opened.close()


def read_all(readers: ExtractionPool, pages: list[Page]) -> list[Document | BaseException]:
    async def work() -> list[Document | BaseException]:
        return await asyncio.gather(*map(readers.read, pages), return_exceptions=True)

    return asyncio.run(work())


def places(documents: list[Document | BaseException]) -> set[str]:
    """The processes and threads in which pages were read."""
    found = {document.article.section for document in documents if isinstance(document, Document)}
    return {place for place in found if place}


def test_few_pages_are_read_in_a_thread(readers):
    documents = read_all(readers, [PAGE] * BACKLOG)
    assert places(documents) == HERE


@pytest.mark.thorough
def test_backlog_of_pages_is_read_in_a_process(readers):
    documents = read_all(readers, [PAGE] * (BACKLOG + 5))
    assert len(places(documents)) == 2
    assert places(read_all(readers, [PAGE])).isdisjoint(HERE)


@pytest.mark.thorough
def test_preloaded_process_reads_the_first_page(readers):
    readers.start()
    assert places(read_all(readers, [PAGE])).isdisjoint(HERE)


def test_thread_and_process_return_equal_documents(started):
    documents = read_all(started, [PAGE] * (BACKLOG + 5))
    texts = {document.article.text for document in documents if isinstance(document, Document)}
    assert len(texts) == 1
    assert all(document.page == PAGE for document in documents if isinstance(document, Document))


@pytest.mark.thorough
def test_companies_are_found_in_the_reader_process():
    readers = ExtractionPool(replace(CONFIG, find_companies=True), 1, load_companies())
    documents = read_all(readers, [PAGE] * (BACKLOG + 5))
    readers.close()
    assert len(places(documents)) == 2
    for document in documents:
        assert isinstance(document, Document)
        assert {mention.company for mention in document.mentions} == {"Siemens"}
        assert document.searched is document.article


def test_missing_registry_leaves_documents_unsearched(tmp_path):
    config = replace(CONFIG, find_companies=True, registry=tmp_path / "gone.toml")
    document = config.worker().read(PAGE)
    assert isinstance(document, Document)
    assert document.searched is None


def test_reader_process_returns_why_a_page_is_not_an_article(started):
    empty = replace(PAGE, html=b"")
    verdicts = read_all(started, [empty] * (BACKLOG + 5))
    assert all(isinstance(verdict, NoArticleError) for verdict in verdicts)
    assert {verdict.reason for verdict in verdicts if isinstance(verdict, NoArticleError)} == {
        "NotHtml"
    }


def test_page_that_crashes_its_process_loses_no_other_page(started):
    read_all(started, [PAGE] * (BACKLOG + 1))
    poison = replace(PAGE, html=b"poison")
    verdicts = read_all(started, [PAGE, PAGE, poison, PAGE, PAGE])
    assert [type(verdict) for verdict in verdicts] == [
        Document, Document, WorkerDiedError, Document, Document,
    ]  # fmt: skip


def suspected(page: Page) -> Page:
    """The page as one of which a crawl has died before."""
    return replace(
        page, attempt=FetchAttempt(queue_id=1, url=page.url, born=page.fetched_at, crash_count=1)
    )


@pytest.mark.thorough
def test_quarantined_page_is_read_in_a_process(started):
    fine, poison = suspected(PAGE), suspected(replace(PAGE, html=b"poison"))
    assert places(read_all(started, [fine])).isdisjoint(HERE)
    assert [type(verdict) for verdict in read_all(started, [poison])] == [WorkerDiedError]


@pytest.mark.thorough
def test_page_over_its_time_limit_is_given_up():
    readers = ExtractionPool(replace(CONFIG, max_seconds=15), 1)
    endless = suspected(replace(PAGE, html=b"endless"))
    verdicts = read_all(readers, [endless, suspected(PAGE)])
    readers.close()
    assert [type(verdict) for verdict in verdicts] == [WorkerDiedError, Document]


def test_large_page_is_read_in_a_process(started):
    large = replace(PAGE, html=PAGE.html + b" " * LARGE_PAGE_BYTES)
    assert places(read_all(started, [large])).isdisjoint(HERE)


@pytest.mark.thorough
def test_beginning_of_a_page_that_crashes_its_process_is_read(started):
    page = suspected(replace(PAGE, html=PAGE.html + b" " * REDUCED_BYTES + b"<p>poisoned end"))
    (document,) = read_all(started, [page])
    assert isinstance(document, Document)
    assert document.page == page


@pytest.mark.thorough
def test_page_over_its_memory_limit_loses_no_other_page(started):
    greedy = suspected(replace(PAGE, html=b"greedy"))
    verdicts = read_all(started, [greedy, suspected(PAGE)])
    assert [type(verdict) for verdict in verdicts] == [WorkerDiedError, Document]


def test_zero_processes_read_in_a_thread():
    readers = ExtractionPool(CONFIG, 0)
    documents = read_all(readers, [PAGE] * (BACKLOG + 5))
    readers.close()
    assert places(documents) == HERE


@pytest.mark.thorough
def test_readers_end_when_their_crawl_is_killed():
    program = (
        "import asyncio, os, signal\n"
        "from newscrawl.crawl.extraction_pool import ExtractionPool, WorkerConfig\n"
        "from tests.dying import PlacedReader\n"
        f"from {story.__module__} import story\n"
        "from newscrawl.items import Page\n"
        "from datetime import UTC, datetime\n"
        "page = Page(url='https://n.example/a', source='n', html=story('A bridge', 'Siemens'),\n"
        "            fetched_at=datetime.now(UTC))\n"
        "config = WorkerConfig(reader=PlacedReader(method='fe', min_characters=10))\n"
        "pool = ExtractionPool(config, 1)\n"
        "async def read():\n"
        "    return await asyncio.gather(*[pool.read(page) for _ in range(20)])\n"
        "print(asyncio.run(read())[-1].article.section.split()[0], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    child = int(done.stdout)
    wait_for(lambda: not alive(child), 30)


@pytest.mark.parametrize(("setting", "processes"), [("0", 0), ("3", 3)])
def test_setting_is_parsed_as_a_number(setting, processes):
    assert process_count(setting) == processes


def test_auto_means_at_least_one_process():
    assert process_count("auto") >= 1


@pytest.mark.parametrize("setting", ["", "-1", "many", "1.5"])
def test_invalid_setting_is_named(setting):
    with pytest.raises(SettingError, match="NEWSCRAWL_EXTRACTION_PROCESSES"):
        process_count(setting)


def _processes(readers: ExtractionPool) -> set[int]:
    return {int(place.split()[0]) for place in places(read_all(readers, [suspected(PAGE)]))}


@pytest.mark.thorough
def test_page_of_a_stopped_process_is_read_in_another_one():
    readers = ExtractionPool(replace(CONFIG, max_seconds=20), 1)
    (stopped,) = _processes(readers)
    os.kill(stopped, signal.SIGSTOP)
    assert _processes(readers).isdisjoint({stopped})
    assert not alive(stopped)
    readers.close()


@pytest.mark.thorough
def test_stopped_process_is_killed_at_the_end(readers):
    (stopped,) = _processes(readers)
    os.kill(stopped, signal.SIGSTOP)
    ending = threading.Thread(target=readers.close, daemon=True)
    ending.start()
    ending.join(60)
    assert not ending.is_alive()
    assert not alive(stopped)
