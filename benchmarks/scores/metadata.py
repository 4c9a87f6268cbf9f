"""Scores of titles, authors, dates and languages against labelled pages.

Fields without gold are not counted.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from newscrawl.extraction.html import decode, parse
from newscrawl.extraction.metadata.reader import read_metadata
from newscrawl.training.corpus import Corpus, GoldPage

_WORD: Final = re.compile(r"\w+")
_LIST: Final = re.compile(r"\s*(?:[,;|/]\s*(?:(?:and|und|&)\s)?|\s(?:and|und|&)\s)\s*")


@dataclass(frozen=True, slots=True)
class Fields:
    """The metadata that a method found on a page. `published` may be a moment or a day."""

    title: str | None = None
    authors: tuple[str, ...] = ()
    published: datetime | date | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """The mean of a measure in [0, 1] over the pages that have gold for it."""

    mean: float
    pages: int


def normal(text: str) -> tuple[str, ...]:
    """Return the words in lower case, so that quotes, blanks and soft hyphens don't matter."""
    return tuple(_WORD.findall(text.replace("\xad", "").casefold()))


def token_f1(text: str | None, gold: str) -> float:
    """Return the F1 of the words of two strings."""
    mine, gold_counts = Counter(normal(text or "")), Counter(normal(gold))
    shared = (mine & gold_counts).total()
    return 2 * shared / (mine.total() + gold_counts.total()) if shared else 0.0


def authors_f1(authors: Iterable[str], gold: Iterable[str]) -> float:
    """Return the F1 of the sets of names; gold with several names in one string is split, unless
    the whole string was found: the name of an office may hold an "and"."""
    mine = {normal(name) for name in authors}
    gold_words: set[tuple[str, ...]] = set()
    for name in gold:
        words_of_name = normal(name)
        parts = {words_of_name} if words_of_name in mine else map(normal, _LIST.split(name))
        gold_words.update(filter(None, parts))
    shared = len(mine & gold_words)
    return 2 * shared / (len(mine) + len(gold_words)) if shared else 0.0


def same_day(published: datetime | date | None, gold: str) -> bool | None:
    """Return whether both are the same calendar day, as written or in UTC; None if the gold is not
    a day."""
    try:
        gold_moment = datetime.fromisoformat(gold)
    except ValueError:
        return None
    return not _days(published).isdisjoint(_days(gold_moment))


def _days(moment: datetime | date | None) -> frozenset[date]:
    if isinstance(moment, datetime):
        universal = moment.astimezone(UTC).date() if moment.tzinfo else moment.date()
        return frozenset((moment.date(), universal))
    return frozenset((moment,)) if moment else frozenset()


def measure(fields: Fields, page: GoldPage) -> dict[str, float]:
    """Return every measure of one page that its gold allows."""
    values: dict[str, float] = {}
    if page.title:
        values["title exact"] = float(normal(fields.title or "") == normal(page.title))
        values["title F1"] = token_f1(fields.title, page.title)
    if page.authors:
        values["authors F1"] = authors_f1(fields.authors, page.authors)
    if page.date and (same := same_day(fields.published, page.date)) is not None:
        values["day"] = float(same)
    if page.lang:
        values["language"] = float((fields.language or "")[:2] == page.lang)
    return values


def score(
    pages: Iterable[GoldPage], method: Callable[[GoldPage], Fields]
) -> dict[str, dict[str, Score]]:
    """Score a method by set, and over all pages under the name "all"."""
    sums: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for page in pages:
        for name, value in measure(method(page), page).items():
            sums[page.set][name].append(value)
            sums["all"][name].append(value)
    return {
        group: {
            name: Score(sum(values) / len(values), len(values)) for name, values in by_name.items()
        }
        for group, by_name in sums.items()
    }


def read_page(page: GoldPage) -> Fields:
    """Return newscrawl's metadata of a page."""
    metadata = read_metadata(parse(decode(page.html)), page.url)
    return Fields(metadata.title, metadata.authors, metadata.published, metadata.language)


def labelled_pages(corpus: Corpus) -> list[GoldPage]:
    """Return the articles that have gold for title, authors or date."""
    return [
        page
        for page in corpus
        if page.page_type == "article" and (page.title or page.authors or page.date)
    ]
