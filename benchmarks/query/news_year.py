"""A generated year of news, for questions at size: articles of realistic length with mentions.

Words and companies are as unequally frequent as in newspapers (Zipf); a tenth of the articles
copy one of the last days with small edits. The same seed gives the same year.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from newscrawl.items import Article, Document, Mention, Page

BEGIN = datetime(2025, 11, 1, tzinfo=UTC)
DAYS = 365
FIRST, LAST = BEGIN.date(), BEGIN.date() + timedelta(days=DAYS - 1)
SOURCES = 400
COMPANIES = 1_000
VOCABULARY = 30_000
LANGUAGES = ("en", "de", "fr", "es", "it")
COUNTRIES = ("us", "gb", "de", "at", "fr", "ch", "es", "mx", "it", "ca")
SECTIONS = ("business", "politics", "technology", "sports", None)
# Words of a text: 300 bytes to 2 KB.
MIN_WORDS, MAX_WORDS = 45, 320
COPIES = 0.1
# Companies in an article, on average, and occurrences of each: five mentions an article.
NAMED, TIMES = 2.4, 2.1

_SYLLABLES = "ba be bi bo da de di do fa fe ga go ka ke ki ko la le li lo ma me mi mo na ne ni no"


@dataclass(frozen=True, slots=True)
class NewsSource:
    """A site of the generated world."""

    slug: str
    country: str
    language: str


def sources() -> list[NewsSource]:
    """Return all sites."""
    return [
        NewsSource(f"site{number}", COUNTRIES[number % 10], LANGUAGES[number % 5])
        for number in range(SOURCES)
    ]


@cache
def companies() -> tuple[str, ...]:
    """Return all companies, the most frequent first."""
    return tuple(f"{word(number + 5_000).capitalize()} AG" for number in range(COMPANIES))


class NewsYear:
    """Draws the articles of a year, or of its last `days`, in the order of time, with `max_words`
    words at most; `path` parts their addresses from those of another draw."""

    def __init__(
        self,
        articles: int,
        seed: int = 2026,
        path: str = "news",
        days: int = DAYS,
        max_words: int = MAX_WORDS,
    ) -> None:
        self._begin = BEGIN + timedelta(days=DAYS - days)
        self._span = timedelta(days=days)
        self._number = articles
        self._max_words = max_words
        self._path = path
        self._draw = np.random.default_rng(seed)
        self._words = np.array([word(number) for number in range(VOCABULARY)])
        self._names = companies()
        self._sources = sources()
        self._word_shares = _zipf(VOCABULARY, 1.0)
        self._company_shares = _zipf(COMPANIES, 0.9)
        self._recent: deque[tuple[str, tuple[Mention, ...], str]] = deque(maxlen=5_000)

    def __iter__(self) -> Iterator[Document]:
        for first in range(0, self._number, 1_000):
            yield from self._thousand(first, min(1_000, self._number - first))

    def _thousand(self, first: int, count: int) -> Iterator[Document]:
        draw = self._draw
        lengths = draw.integers(MIN_WORDS, self._max_words, count)
        words = np.searchsorted(self._word_shares, draw.random(int(lengths.sum())))
        texts = np.split(self._words[words], np.cumsum(lengths)[:-1])
        for offset, drawn in enumerate(texts):
            number = first + offset
            source = self._sources[int(draw.integers(SOURCES))]
            copies = self._recent and draw.random() < COPIES
            text = self._copy() if copies else self._fresh(drawn.tolist())
            if not copies:
                self._recent.append(text)
            yield self._document(number, source, text)

    def _fresh(self, words: list[str]) -> tuple[str, tuple[Mention, ...], str]:
        """Return a text with companies in it, their places, and a headline of its first words."""
        draw, title = self._draw, " ".join(words[:7]).capitalize()
        chosen = np.searchsorted(self._company_shares, draw.random(min(draw.poisson(NAMED), 8)))
        placed: dict[int, str] = {}
        for company in chosen:
            for place in draw.integers(len(words), size=1 + draw.poisson(TIMES - 1)):
                placed[int(place)] = self._names[company]
        for place in range(11, len(words) - 1, 12):
            words[place] += "."
            words[place + 1] = words[place + 1].capitalize()
        for place, name in placed.items():
            words[place] = name
        mentions, length, start = [], 0, 0
        for place in sorted(placed):
            length += sum(map(len, words[start:place])) + place - start
            mentions.append(_mention(placed[place], length))
            start = place
        return " ".join(words), tuple(mentions), title

    def _copy(self) -> tuple[str, tuple[Mention, ...], str]:
        """Return one of the last texts with something added, as papers do with agency copy."""
        text, mentions, _ = self._recent[int(self._draw.integers(len(self._recent)))]
        tail = " ".join(self._words[self._draw.integers(VOCABULARY, size=12)])
        return f"{text} {tail.capitalize()}.", mentions, tail[:40].capitalize()

    def _document(
        self, number: int, source: NewsSource, parts: tuple[str, tuple[Mention, ...], str]
    ) -> Document:
        text, mentions, title = parts
        published = self._begin + self._span * (number / self._number)
        url = f"https://{source.slug}.example/{self._path}/{number}"
        section = SECTIONS[number % len(SECTIONS)]
        page = Page(url=url, source=source.slug, html=b"", fetched_at=published)
        article = Article(
            url=url,
            title=title,
            text=text,
            published=published,
            language=source.language,
            section=section,
        )
        return Document(page=page, article=article, mentions=mentions)


def _mention(company: str, start: int) -> Mention:
    return Mention(
        company=company,
        surface=company,
        start=start,
        end=start + len(company),
        section="body",
        rule="name",
    )


def _zipf(number: int, exponent: float) -> Any:
    """Return the cumulated shares of things, the most frequent first."""
    weights = 1 / np.arange(1, number + 1) ** exponent
    return np.cumsum(weights / weights.sum())


def word(number: int) -> str:
    """Return a word that can be pronounced; each number has its own."""
    syllables, parts = _SYLLABLES.split(), []
    while True:
        number, remainder = divmod(number, len(syllables))
        parts.append(syllables[remainder])
        if not number:
            return "".join(parts) + "n"
        number -= 1
