"""The explanations of pages: which sentences are asked about, and what was made of the page."""

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Final

from markupsafe import Markup
from w3lib.encoding import http_content_type_encoding

from newscrawl.answers.proof import evidence_text
from newscrawl.archive import ArchiveError
from newscrawl.archive.lookup import Archive, NotArchivedError
from newscrawl.archive.warc import Capture, decoded_body
from newscrawl.dashboard.companies_file import CompaniesFile
from newscrawl.extraction.explain_page import NO_SENTENCE, AskedSentence, explained_content
from newscrawl.items import Section
from newscrawl.mentions import CompanyFinder
from newscrawl.sources.visits import FetchError, fetch
from newscrawl.storage.queries import ArticlePage
from newscrawl.text import sentence_around
from newscrawl.workers import Limits, WorkerProcess, WorkExceededError

logger = logging.getLogger(__name__)

# Ours: minimum interval between two readings of the archive's folder, which running crawls extend.
READ_AGAIN = 60.0  # seconds
# The limits of a crawl (extraction_pool); a page of 7 MB takes 12 to 22 s.
LIMITS: Final = Limits(seconds=60, megabytes=1024, clock_seconds=120.0)
MAX_WAITING: Final = 3  # ours: further requests, each of which occupies one of the server's threads


class UnexplainedError(Exception):
    """A page that can't be explained: one line that says why."""


class BusyError(Exception):
    """As many pages wait for their explanation as may: one line that says so."""


NOT_COUNTED = "not counted any more: it was corrected, or the registry or the text has changed"
MAX_SENTENCES = 50  # of an article, in the explanation of one of them
_Place = tuple[Section, int]  # the part and the start of a mention


def left_out_sentence(
    file: CompaniesFile | None, article_page: ArticlePage, company: str
) -> AskedSentence:
    """Return the question why a company around the article is not counted."""
    path = file.path if file is not None and file.path.exists() else None
    finds = CompanyFinder(company, article_page.row.language, path)
    return AskedSentence(left_out=company, finds=finds)


def sentence_at(article_page: ArticlePage, at: str, *, is_query: bool) -> AskedSentence:
    """Return the sentence at a place, or else that of the first mention, of the body if it has one,
    with the other sentences that have mentions. Words that a saved query matches are no mention."""
    places = {
        (mention.section, mention.start): (mention.start, mention.end)
        for mention in article_page.mentions
    }
    place = next((place for place in places if f"{place[0]}:{place[1]}" == at), None)
    if at and place is None:
        part, start = at.split(":")
        unmentioned: _Place = ("title" if part == "title" else "body", int(start))
        place, places[unmentioned] = unmentioned, (int(start), int(start) + 1)
    elif place is None and places:
        place = min(places)
    if place is None:
        return AskedSentence()
    first, *others = [
        _sentence(article_page, *span) for span in _spans(article_page, places, place)
    ]
    if not any((mention.section, mention.start) == place for mention in article_page.mentions):
        why = "words of the saved query" if is_query else NOT_COUNTED
        first = replace(first, mentions=(why, *first.mentions))
    section, begin = place
    return replace(first, others=tuple(others), place=f"{section}-{begin}")


def _spans(
    article_page: ArticlePage, places: Mapping[_Place, tuple[int, int]], asked: _Place
) -> list[tuple[Section, tuple[int, int]]]:
    """Return the sentences that have mentions, without those within one before: the asked one, then
    the headline, then those of the text in order."""
    spans: list[tuple[Section, tuple[int, int]]] = []
    for section, start in (
        asked,
        *sorted(places, key=lambda place: (place[0] == "body", place[1])),
    ):
        is_listed = any(part == section and first <= start < last for part, (first, last) in spans)
        if not is_listed and len(spans) <= MAX_SENTENCES:
            span = 0, len(article_page.row.title or "")
            if section == "body":
                span = sentence_around(article_page.text, *places[section, start])
            spans.append((section, span))
    return spans


def _sentence(article_page: ArticlePage, section: Section, span: tuple[int, int]) -> AskedSentence:
    """Return a sentence with the companies in it and why they count."""
    first, last = span
    text = article_page.row.title or "" if section == "title" else article_page.text
    inside = (
        f"{mention.company}: {evidence_text(mention)}"
        for mention in article_page.mentions
        if mention.section == section and first <= mention.start and mention.end <= last
    )
    return AskedSentence(
        text=text[first:last].strip(), section=section, mentions=tuple(dict.fromkeys(inside))
    )


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
                page = fetch(urls[0]) if fetch_anew else None
                read = (page.body, page.url, page.encoding) if page else self._archived(urls)
                return worker.run(explained_content, *read, asked)
        except FetchError as error:
            raise UnexplainedError(f"{error}.") from error
        except WorkExceededError as error:
            raise UnexplainedError(f"Its explanation {error}.") from error
        finally:
            worker.close()
            self._places.release()

    def _archived(self, urls: Sequence[str]) -> tuple[bytes, str, str | None]:
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
            return decoded_body(capture), capture.url, encoding
        except ArchiveError as error:
            logger.warning("can't explain a page: %s", error)
            raise UnexplainedError("Its copy in the archive can't be read.") from error


def _first(archive: Archive, urls: Sequence[str]) -> Capture | None:
    for url in urls:
        with suppress(NotArchivedError):
            return archive.find(url)
    return None
