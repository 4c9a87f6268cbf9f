"""Generated pages of any size: a news page with menu, article, teasers and comments.

No two pages share a sentence or a name, so that growth with the number of read pages is visible.
The same seed gives the same page.
"""

import json
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Final

_SYLLABLES: Final = "ba be bo da de do fa fe ga go ka ke ko la le lo ma me mo na ne ra re sa ta to"
_STOP_WORDS: Final = "the of and to in that was for on with as at by it is from had an were which"
_STOP_WORD_SHARE: Final = 0.4  # about that of English prose
_MENU, _TEASERS, _DATA = 24, 12, 60


def generated_page(size: int, seed: int = 0) -> bytes:
    """Return a page of at least `size` bytes, and hardly more than that or the smallest page."""
    writer = _Writer(Random(seed))  # noqa: S311  pages, not secrets
    parts = [*_head(writer)]
    length = sum(map(len, parts))
    sections = _sections(writer)
    while length < size:
        part = next(sections)
        parts.append(part)
        length += len(part)
    return "".join([*parts, "</div></body></html>"]).encode("ascii")


def generated_pages(size: int, count: int) -> Iterator[bytes]:
    """Yield pages of about that size, all of them different."""
    return (generated_page(size, seed) for seed in range(count))


class _Writer:
    """Words, sentences and paragraphs, drawn from one random source."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._syllables = _SYLLABLES.split()
        self._stop_words = _STOP_WORDS.split()

    def word(self) -> str:
        return "".join(self._random.choices(self._syllables, k=self._random.randint(2, 4)))

    def words(self, count: int) -> list[str]:
        return [
            self._random.choice(self._stop_words)
            if self._random.random() < _STOP_WORD_SHARE
            else self.word()
            for _ in range(count)
        ]

    def sentence(self) -> str:
        words = self.words(self._random.randint(8, 24))
        words[len(words) // 2] += ","
        return f"{' '.join(words).capitalize()}."

    def paragraph(self) -> str:
        sentences = [self.sentence() for _ in range(self._random.randint(2, 5))]
        sentences[-1] += f' See <a href="/{self.word()}">{self.word()} {self.word()}</a>.'
        return f'<p class="{self.word()}-text">{" ".join(sentences)}</p>\n'

    def data(self) -> str:
        """Return data as scripts of a page hold them."""
        return json.dumps({self.word(): self.words(3) for _ in range(_DATA)})

    def headline(self) -> str:
        return " ".join(self.words(7)).capitalize()


def _head(writer: _Writer) -> Iterator[str]:
    title = writer.headline()
    yield (
        f'<!DOCTYPE html><html lang="en"><head><title>{title}</title>'
        f'<meta property="og:title" content="{title}">'
        '<meta property="article:published_time" content="2026-01-02T03:04:05Z">'
        f"<script>var {writer.word()} = 1;</script></head><body><nav><ul>"
    )
    yield from (f'<li><a href="/{word}">{word}</a></li>' for word in writer.words(_MENU))
    yield f'</ul></nav><div class="{writer.word()}-main"><h1>{title}</h1>\n'


def _teaser(writer: _Writer, word: str) -> str:
    return (
        f'<li class="teaser {writer.word()}-item" data-{word}="{writer.word()}">'
        f'<div class="teaser-image"><a href="/{word}/{writer.word()}"><img src="/{word}.jpg" '
        f'alt="{writer.headline()}" width="320" height="180" loading="lazy"></a></div>'
        f'<div class="teaser-text"><a href="/{word}/{writer.word()}"><span>{writer.headline()}'
        f'</span></a><div class="meta"><span class="time">{writer.word()}</span></div></div></li>\n'
    )


def _sections(writer: _Writer) -> Iterator[str]:
    """Yield endless parts of a page: stretches of an article, teasers, comments."""
    while True:
        yield f'<article id="{writer.word()}"><h2>{writer.headline()}</h2>\n'
        yield from (writer.paragraph() for _ in range(8))
        yield '</article><aside class="related"><ul>'
        for word in islice(iter(writer.word, ""), _TEASERS):
            yield _teaser(writer, word)
        yield '</ul></aside><div class="comments">'
        yield from (f"<div><b>{writer.word()}</b><br>{writer.sentence()}</div>" for _ in range(3))
        yield f"</div><script>var {writer.word()} = {writer.data()};</script>\n"
