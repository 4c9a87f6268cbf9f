"""Mutated pages: each is read completely, within limits of time and memory.

Seeds are the pages of our made-up sites; mutations are what breaks on the web (bytes lost, doubled
and changed, tags torn, pages cut) and the tricks of `tests.fuzz.tricks`, put anywhere into a page.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from newscrawl.extraction.language import decide_language
from newscrawl.items import Article, Page
from newscrawl.mentions import Companies, load_companies, with_mentions
from newscrawl.reading import NoArticleError, PageReader
from newscrawl.storage import UnstorableDocument
from newscrawl.storage.documents import record_of
from tests.fuzz.tricks import TRICKS
from tests.walls import pages as walls

URL = "https://harbour.example/story/crane-moves-1"
# What a page may take: seconds of processor time for a megabyte, and megabytes of memory.
SECONDS, MEGABYTES = 2.0, 300.0
# A page below this size, in megabytes, may take as long as one of this size (0.2 s): the limits of
# blocks, of nested elements and of names (docs/algorithms.md) are numbers, which 40 KB can reach.
MIN_SIZE = 0.1
_TESTS = Path(__file__).parent.parent
_READER = PageReader(method="combined", min_characters=120)
_ENCODINGS = ("utf-8", "latin-1", "utf-16", "gb2312", "iso-2022-jp", "x", None)
# The sizes of the parts that are inserted into a page, and their weights.
_SIZES = {100: 50, 3_000: 30, 30_000: 15, 300_000: 4, 3_000_000: 1}


@dataclass(frozen=True, slots=True)
class Example:
    """A mutated page, its seed and mutations; `encoding` is that of its header."""

    seed: str
    mutations: tuple[str, ...]
    html: bytes
    encoding: str | None

    def __str__(self) -> str:
        return f"{self.seed} {'+'.join(self.mutations)} ({len(self.html):,} bytes)"


@cache
def seeds() -> dict[str, bytes]:
    """Return the pages to mutate, by name."""
    files = [*_TESTS.glob("site/pages/*.html"), *_TESTS.glob("pages/*.html")]
    pages = {path.stem: path.read_bytes() for path in sorted(files)}
    for wall in (*walls.CONSENT, *walls.PAYWALLS):
        pages[wall.path] = wall.html.encode()
    return pages


@cache
def companies() -> Companies:
    """Return the bundled registry."""
    return load_companies()


# --- Mutations ----------------------------------------------------------------------------------

Random = random.Random


def _span(rng: Random, html: bytes, most: int) -> tuple[int, int]:
    start = rng.randrange(len(html) + 1)
    return start, min(len(html), start + rng.randrange(1, most))


def _lose(rng: Random, html: bytes) -> bytes:
    start, end = _span(rng, html, 400)
    return html[:start] + html[end:]


def _double(rng: Random, html: bytes) -> bytes:
    start, end = _span(rng, html, 2_000)
    return html[:end] + html[start:end] * rng.choice((1, 2, 50, 500)) + html[end:]


def _change_bytes(rng: Random, html: bytes) -> bytes:
    changed = bytearray(html)
    for _ in range(rng.choice((1, 5, 50))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _change_signs(rng: Random, html: bytes) -> bytes:
    old, new = rng.sample((b"<", b">", b'"', b"'", b"=", b"/", b"&", b";", b" ", b"!", b"\0"), 2)
    return html.replace(old, new, rng.choice((1, 3, 30, -1)))


def _tear_tags(rng: Random, html: bytes) -> bytes:
    parts = html.split(b">")
    for _ in range(rng.choice((1, 3, 20))):
        place = rng.randrange(len(parts))
        parts[place] = parts[place][: rng.randrange(len(parts[place]) + 1)]
    return b">".join(parts)


def _move(rng: Random, html: bytes) -> bytes:
    start, end = _span(rng, html, 3_000)
    rest = html[:start] + html[end:]
    place = rng.randrange(len(rest) + 1)
    return rest[:place] + html[start:end] + rest[place:]


def _cut(rng: Random, html: bytes) -> bytes:
    return html[: rng.randrange(len(html) + 1)]


def _mix(rng: Random, html: bytes) -> bytes:
    start, end = _span(rng, second := rng.choice(list(seeds().values())), 5_000)
    place = rng.randrange(len(html) + 1)
    return html[:place] + second[start:end] + html[place:]


def _trick(rng: Random, html: bytes) -> bytes:
    trick = TRICKS[rng.choice(list(TRICKS))]
    (size,) = rng.choices(list(_SIZES), list(_SIZES.values()))
    place = html.rfind(b">", 0, rng.randrange(len(html) + 1)) + 1
    if rng.random() < 0.2:
        place = rng.randrange(len(html) + 1)
    return html[:place] + trick.repeated(size) + html[place:]


Mutation = Callable[[Random, bytes], bytes]
MUTATIONS: tuple[Mutation, ...] = (
    *(_lose, _double, _change_bytes, _change_signs, _tear_tags, _move, _cut, _mix),
    *(_trick, _trick, _trick, _trick),
)


def examples(count: int, seed: int) -> Iterator[Example]:
    """Yield `count` examples, the same ones for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    names = tuple(seeds())
    for number in range(count):
        html = seeds()[names[number % len(names)]]
        mutations = rng.choices(MUTATIONS, k=rng.choice((1, 1, 2, 3)))
        for mutation in mutations:
            html = mutation(rng, html) or b"<"
        made_by = tuple(mutation.__name__.strip("_") for mutation in mutations)
        yield Example(names[number % len(names)], made_by, html, rng.choice(_ENCODINGS))


# --- The check ----------------------------------------------------------------------------------


def read(html: bytes, encoding: str | None = None) -> Article | str:
    """Process a page up to the record to store; return its article, or the name of the error."""
    page = Page(
        url=URL,
        source="harbour",
        html=html,
        fetched_at=datetime(2026, 11, 22, tzinfo=UTC),
        encoding=encoding,
    )
    try:
        document = with_mentions(_READER.read(page), companies())
        record = record_of(document)
    except (NoArticleError, UnstorableDocument) as error:
        return type(error).__name__
    _ = record.wording.sketch
    title, text = document.article.title or "", document.article.text
    for mention in document.mentions:
        section = title if mention.section == "title" else text
        assert section[mention.start : mention.end] == mention.surface
    return document.article


def most_seconds(html: bytes) -> float:
    """Return the maximum CPU seconds for a page."""
    return SECONDS * max(len(html) / 1e6, MIN_SIZE)


def forget_peak() -> float:
    """Reset the peak memory of this process; return its current megabytes."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return peak()


def peak() -> float:
    """Return the peak megabytes of this process since the reset."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def run(count: int, seed: int) -> int:
    """Read `count` examples, print the results, and return the number of failures."""
    for warm in seeds().values():
        read(warm)
    decide_language(None, "saltmere")  # loads a model
    came: Counter[str] = Counter()
    failed: list[str] = []
    slowest = largest = (0.0, "")
    at_first = forget_peak()
    for example in examples(count, seed):
        before, start = forget_peak(), time.process_time()
        try:
            article = read(example.html, example.encoding)
        except Exception as error:  # noqa: BLE001 - whatever leaves the parsers is what we look for
            failed.append(f"{type(error).__name__}: {error} | {example}")
            continue
        took, grown = time.process_time() - start, peak() - before
        came[article if isinstance(article, str) else "article"] += 1
        slowest = max(slowest, (took / most_seconds(example.html) * SECONDS, str(example)))
        largest = max(largest, (grown, str(example)))
        if took > most_seconds(example.html) or grown > MEGABYTES:
            failed.append(f"{took:.2f} s, {grown:.0f} MB | {example}")
    print(f"{count} mutated pages, seed {seed}:")
    print(f"  {', '.join(f'{number} {name}' for name, number in came.most_common())}")
    print(f"  slowest: {slowest[0]:.2f} s a MB ({slowest[1]})")
    print(
        f"  largest: {largest[0]:.0f} MB ({largest[1]}); all of them left {peak() - at_first:.0f}"
    )
    print(f"  {len(failed)} exceptions, or pages beyond {SECONDS:g} s a MB or {MEGABYTES:g} MB")
    for line in failed[:10]:
        print(f"    {line[:600]}")
    return len(failed)
