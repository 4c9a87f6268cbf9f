"""The dashboard's tasks on the archive: explain pages, and find mentions again."""

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

from markupsafe import Markup
from w3lib.encoding import http_content_type_encoding

from newscrawl.archive import ArchiveError
from newscrawl.archive.lookup import Archive, NotArchivedError
from newscrawl.archive.rematch import Rematch, RematchResult
from newscrawl.archive.warc import Capture, decoded_body
from newscrawl.cli.extract import fetch_policy
from newscrawl.dashboard.config import UnexplainedError
from newscrawl.extraction.explain import Explanation, explain
from newscrawl.extraction.explain_page import NO_SENTENCE, AskedSentence, render_content
from newscrawl.sources.fetcher import FetchError, fetch
from newscrawl.storage import Database
from newscrawl.storage.mentions import count_texts
from newscrawl.storage.queries import Scope

logger = logging.getLogger(__name__)

# Ours: minimum interval between two readings of the archive's folder, which running crawls extend.
READ_AGAIN = 60.0  # seconds
# Ours: sentences of each company in a preview, and processes, which leave the server's thread free.
_EXAMPLES = 3
_WORKERS = 2


def find_mentions_again(
    database: Database,
    companies: Path | None,
    dry_run: bool,
    on_progress: Callable[[int], None],
) -> RematchResult:
    """Find the mentions of all stored articles again, as `newscrawl rematch` does."""
    task = Rematch(
        database, companies, Scope(), workers=_WORKERS, dry_run=dry_run, examples=_EXAMPLES
    )
    if done_before := task.done_before:
        on_progress(count_texts(database, Scope()) - count_texts(database, Scope(), done_before))
    return task.run(on_progress)


class Explainer:
    """Explain pages, one at a time because each takes a second of processor time."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._archive: Archive | None = None
        self._read_at = float("-inf")
        self._lock = Lock()

    def __call__(
        self, urls: Sequence[str], fetch_anew: bool, asked: AskedSentence = NO_SENTENCE
    ) -> Markup:
        """Return the explanation of the page at the first available URL, beginning with `sentence`.

        Raises UnexplainedError.
        """
        with self._lock:
            explained = (
                self._explain_fetched(urls[0]) if fetch_anew else self._explain_archived(urls)
            )
            return render_content(explained, asked)

    def _explain_fetched(self, url: str) -> Explanation:
        try:
            page = fetch(url, fetch_policy())
        except FetchError as error:
            raise UnexplainedError(f"{error}.") from error
        return explain(page.body, page.url, encoding=page.encoding)

    def _explain_archived(self, urls: Sequence[str]) -> Explanation:
        if self._folder is None:
            raise UnexplainedError(
                "This dashboard has no archive of pages. Crawls keep them, and the dashboard finds "
                "them, where NEWSCRAWL_ARCHIVE names a folder."
            )
        try:
            capture = self._capture(self._folder, urls)
            if capture is None:
                raise UnexplainedError("The page is not in the archive.")
            html = decoded_body(capture)
            encoding = http_content_type_encoding(capture.header("content-type"))
        except ArchiveError as error:
            logger.warning("can't explain a page: %s", error)
            raise UnexplainedError("Its copy in the archive can't be read.") from error
        return explain(html, capture.url, encoding=encoding)

    def _capture(self, folder: Path, urls: Sequence[str]) -> Capture | None:
        found = _first(self._archive, urls) if self._archive else None
        if found or time.monotonic() - self._read_at < READ_AGAIN:
            return found
        self._archive, self._read_at = Archive(folder), time.monotonic()
        return _first(self._archive, urls)


def _first(archive: Archive, urls: Sequence[str]) -> Capture | None:
    for url in urls:
        try:
            return archive.find(url)
        except NotArchivedError:
            continue
    return None
