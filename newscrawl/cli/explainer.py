"""The dashboard's tasks on the archive: explain pages, and find mentions again."""

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Final

from markupsafe import Markup
from w3lib.encoding import http_content_type_encoding

from newscrawl.archive import ArchiveError
from newscrawl.archive.lookup import Archive, NotArchivedError
from newscrawl.archive.reread import Rematch, RematchResult
from newscrawl.archive.warc import Capture, decoded_body
from newscrawl.dashboard.config import BusyError, UnexplainedError
from newscrawl.extraction.explain_page import NO_SENTENCE, AskedSentence, explained_content
from newscrawl.sources.visits import FetchedPage, FetchError, fetch
from newscrawl.storage import Database
from newscrawl.storage.mentions import count_texts
from newscrawl.storage.queries import Scope
from newscrawl.workers import Limits, WorkerProcess, WorkExceededError

logger = logging.getLogger(__name__)

# Ours: minimum interval between two readings of the archive's folder, which running crawls extend.
READ_AGAIN = 60.0  # seconds
# The limits of a crawl (extraction_pool); a page of 7 MB takes 12 to 22 s.
LIMITS: Final = Limits(seconds=60, megabytes=1024, clock_seconds=120.0)
MAX_WAITING: Final = 3  # ours: further requests, each of which occupies one of the server's threads
# Ours: sentences of each company in a preview, and processes, which leave the server's thread free.
_EXAMPLES = 3
_WORKERS = 2


def find_mentions_again(
    database: Database,
    companies: Path | None,
    dry_run: bool,
    on_progress: Callable[[int], None],
    articles: Sequence[int] | None = None,
) -> RematchResult:
    """Find the mentions of stored articles again, as `newscrawl rematch` does: of all, or some."""
    task = Rematch(
        database,
        companies,
        Scope(),
        workers=_WORKERS if articles is None else 1,
        dry_run=dry_run,
        examples=_EXAMPLES,
        articles=articles,
    )
    if done_before := task.done_before:
        on_progress(count_texts(database, Scope()) - count_texts(database, Scope(), done_before))
    return task.run(on_progress)


class Explainer:
    """Explain pages, each in a process of its own, one at a time; a few requests may wait."""

    def __init__(self, folder: Path | None, limits: Limits = LIMITS) -> None:
        self._folder = folder
        self._limits = limits
        self._archive: Archive | None = None
        self._read_at = float("-inf")
        self._lock = Lock()
        self._places = BoundedSemaphore(1 + MAX_WAITING)

    def __call__(
        self, urls: Sequence[str], fetch_anew: bool, asked: AskedSentence = NO_SENTENCE
    ) -> Markup:
        """Return the explanation of the page at the first available URL, beginning with `asked`.

        Raises UnexplainedError, and BusyError if as many requests wait as may.
        """
        if not self._places.acquire(blocking=False):
            raise BusyError("Several pages are being explained already: try again in a minute.")
        worker = WorkerProcess(self._limits)
        try:
            with self._lock:
                page = fetch(urls[0]) if fetch_anew else self._archived(urls)
                return worker.run(explained_content, page.body, page.url, page.encoding, asked)
        except FetchError as error:
            raise UnexplainedError(f"{error}.") from error
        except WorkExceededError as error:
            raise UnexplainedError(f"Its explanation {error}.") from error
        finally:
            worker.close()
            self._places.release()

    def _archived(self, urls: Sequence[str]) -> FetchedPage:
        if self._folder is None:
            raise UnexplainedError(
                "This dashboard has no archive of pages; docs/archive.md says how crawls keep one."
            )
        try:
            capture = _first(self._archive, urls) if self._archive else None
            if capture is None and time.monotonic() - self._read_at >= READ_AGAIN:
                self._archive, self._read_at = Archive(self._folder), time.monotonic()
                capture = _first(self._archive, urls)
            if capture is None:
                raise UnexplainedError("The page is not in the archive.")
            encoding = http_content_type_encoding(capture.header("content-type"))
            return FetchedPage(url=capture.url, body=decoded_body(capture), encoding=encoding)
        except ArchiveError as error:
            logger.warning("can't explain a page: %s", error)
            raise UnexplainedError("Its copy in the archive can't be read.") from error


def _first(archive: Archive, urls: Sequence[str]) -> Capture | None:
    for url in urls:
        try:
            return archive.find(url)
        except NotArchivedError:
            continue
    return None
