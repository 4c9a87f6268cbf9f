"""Labelled pages, and their splits by site: the same for training, evaluation and benchmarks.

A set is a folder with `gold.jsonl` (one page a line) and `pages/<id>.html` or
`pages/<id>.html.gz`; a corpus is one such folder or a folder of them. docs/training.md describes
the lines.

A split is by site, never by page: models are scored on unseen sites. A hash of seed and name
decides the side of a site within its stratum (the set and language of most of its pages), so a
split depends on nothing but corpus and seed.
"""

import gzip
import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from newscrawl.cluster import Workers, open_pool
from newscrawl.sources.urls import registered_domain
from newscrawl.training import metrics
from newscrawl.workers import results_by_item

GOLD_FILE = "gold.jsonl"
PAGES_FOLDER = "pages"
PAGE_ENDINGS = (".html.gz", ".html")
LENGTHS = ((59, "0-59 words"), (120, "60-120 words"), (250, "121-250 words"))
LONGEST = "251 words and more"
REQUIRED_STRINGS = ("id", "lang", "site")
OPTIONAL_STRINGS = ("url", "title", "date", "text", "gold", "doubt")
LISTS_OF_STRINGS = ("authors", "with", "without", "optional")
# A gold text that the page's own JSON-LD holds, which an extractor would read there.
FROM_PUBLISHER = "publisher"
JSON_LD = re.compile(rb"(?is)<script[^>]*application/ld\+json.*?</script\s*>")


class CorpusError(Exception):
    """A corpus that can't be used; the message is one line that says what to do."""


DEVELOPMENT, SEALED = "development", "sealed"
SEALED_SITES = 5  # one site in five


def part_of(site: str) -> str:
    """Return the part of a site: rules and models are fitted to pages of "development" only."""
    digest = hashlib.sha256(site.encode()).hexdigest()
    return SEALED if int(digest[:8], 16) % SEALED_SITES == 0 else DEVELOPMENT


def without_json_ld(html: bytes) -> bytes:
    """Return a page without its JSON-LD, which may hold the text that is its label."""
    return JSON_LD.sub(b"", html)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPage:
    """A page and the text that a person extracted.

    `text` is None if only phrases are given: `with_` must come out, `without` must not.
    `optional` are texts that may come out or not. `gold` says who made the text ("hand", "rules",
    "publisher"), `doubt` why it may be wrong. `line` is the line of the gold file, unchanged.
    """

    id: str
    set: str
    lang: str
    site: str
    path: Path
    line: str
    page_type: str = "article"
    url: str | None = None
    title: str | None = None
    authors: tuple[str, ...] = ()
    date: str | None = None
    text: str | None = None
    with_: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    gold: str | None = None
    doubt: str | None = None

    @property
    def html(self) -> bytes:
        """Return the bytes of the page, read from disk at each call.

        Where the publisher's JSON-LD is the gold text, the page comes without it.
        """
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise CorpusError(f"can't read {self.path}: {error.strerror}") from error
        if self.path.suffix == ".gz":
            try:
                data = gzip.decompress(data)
            except (OSError, EOFError) as error:
                raise CorpusError(f"{self.path}: not a readable gzip file ({error})") from error
        return without_json_ld(data) if self.gold == FROM_PUBLISHER else data

    @property
    def length(self) -> str:
        """Return the group of the gold text's length in words; ours: short texts are the worst."""
        if self.text is None:
            return "no text"
        words = len(metrics.words(self.text))
        return next((name for most, name in LENGTHS if words <= most), LONGEST)

    @property
    def owner(self) -> str:
        """Return the registrable domain: www1.example.gr and www2.example.gr are one site."""
        return registered_domain(f"http://{self.site}") or self.site


@dataclass(frozen=True)
class Corpus:
    """Pages in a fixed order: by set, then in the order of the gold file."""

    name: str
    pages: tuple[GoldPage, ...]

    def __iter__(self) -> Iterator[GoldPage]:
        return iter(self.pages)

    def __len__(self) -> int:
        return len(self.pages)

    @cached_property
    def sites(self) -> tuple[str, ...]:
        return tuple(sorted({page.owner for page in self.pages}))

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 of all gold lines and pages, whatever the order of lines."""
        total = hashlib.sha256()
        for page in sorted(self.pages, key=lambda page: (page.set, page.id)):
            for part in (page.set, page.line):
                total.update(hashlib.sha256(part.encode()).digest())
            total.update(hashlib.sha256(page.html).digest())
        return total.hexdigest()

    def select(
        self,
        *,
        sets: Iterable[str] = (),
        langs: Iterable[str] = (),
        page_types: Iterable[str] = (),
        with_text: bool = False,
    ) -> "Corpus":
        """Return the pages that satisfy every filter; an empty filter accepts all.

        Raises:
            CorpusError: a name that the corpus doesn't hold, or nothing left.
        """
        pages = self.pages
        for field, values in (("set", sets), ("lang", langs), ("page_type", page_types)):
            pages = _only(pages, field, tuple(values), self.name)
        if with_text:
            pages = tuple(page for page in pages if page.text is not None)
        if not pages:
            raise CorpusError(f"{self.name}: no page left after filtering; loosen the filters")
        return Corpus(self.name, pages)

    def part(self, name: str) -> "Corpus":
        """Return the pages of the sites of a part (`part_of`).

        Raises:
            CorpusError: no page is of such a site.
        """
        pages = tuple(page for page in self.pages if part_of(page.owner) == name)
        if not pages:
            raise CorpusError(f"{self.name}: no page of a site that is {name}; add sites")
        return Corpus(self.name, pages)

    def check_unchanged(self, fingerprint: str, learned: str) -> None:
        """Raise a CorpusError if `learned` was made from other pages than these."""
        if self.fingerprint != fingerprint:
            raise CorpusError(
                f"{self.name}: changed since {learned} was learned, or another corpus (fingerprint "
                f"{self.fingerprint[:12]}, not {fingerprint[:12]}); train again or use that one"
            )


def load_corpus(folder: Path | str) -> Corpus:
    """Read a set, or every set in a folder of sets. Pages themselves are read when needed.

    Raises:
        CorpusError: anything missing or broken, with file and line.
    """
    root = Path(folder)
    if not root.is_dir():
        raise CorpusError(f"{root}: no such folder; name one with {GOLD_FILE} and {PAGES_FOLDER}/")
    if (root / GOLD_FILE).is_file():
        return Corpus(root.resolve().name, tuple(_read_set(root)))
    sets = sorted(path.parent for path in root.glob(f"*/{GOLD_FILE}"))
    if not sets:
        raise CorpusError(f"{root}: holds no {GOLD_FILE}, nor does a folder in it")
    return Corpus(root.resolve().name, tuple(page for part in sets for page in _read_set(part)))


def _read_set(folder: Path) -> Iterator[GoldPage]:
    gold = folder / GOLD_FILE
    pages = folder / PAGES_FOLDER
    endings = {
        path.name.removesuffix(ending): path
        for ending in reversed(PAGE_ENDINGS)
        for path in (pages.iterdir() if pages.is_dir() else ())
        if path.name.endswith(ending)
    }
    first_lines: dict[str, int] = {}
    try:
        lines = gold.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{gold}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{gold}:{number}"
        record = _parse_line(line, place)
        page_id = record["id"]
        if page_id in first_lines:
            raise CorpusError(f"{place}: id {page_id!r} is already on line {first_lines[page_id]}")
        first_lines[page_id] = number
        if page_id not in endings:
            raise CorpusError(
                f"{place}: no page {PAGES_FOLDER}/{page_id}.html[.gz]; add it or delete the line"
            )
        values: dict[str, Any] = {name: record.get(name) or None for name in OPTIONAL_STRINGS}
        values |= {name: tuple(record.get(name) or ()) for name in LISTS_OF_STRINGS}
        yield GoldPage(
            **{name: record[name] for name in REQUIRED_STRINGS},
            set=folder.resolve().name,
            path=endings[page_id],
            line=line,
            page_type=record.get("page_type") or "article",
            with_=values.pop("with"),
            **values,
        )
    if not first_lines:
        raise CorpusError(f"{gold}: empty; write one JSON object a line")


def _parse_line(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise CorpusError(
            f"{place}: broken JSON at column {error.colno} ({error.msg}); correct the line"
        ) from error
    if not isinstance(record, dict):
        raise CorpusError(f"{place}: a JSON object expected, not {type(record).__name__}")
    for field in REQUIRED_STRINGS:
        if not isinstance(record.get(field), str) or not record[field].strip():
            raise CorpusError(f'{place}: "{field}" missing or not a string; give it')
    for field in OPTIONAL_STRINGS:
        if not isinstance(record.get(field), str | None):
            raise CorpusError(f'{place}: "{field}" must be a string or null')
    for field in LISTS_OF_STRINGS:
        value = record.get(field)
        if not (
            value is None or (isinstance(value, list) and all(isinstance(v, str) for v in value))
        ):
            raise CorpusError(f'{place}: "{field}" must be a list of strings or null')
    if not (record.get("text") or "").strip() and not record.get("with"):
        raise CorpusError(
            f'{place}: page {record["id"]!r} has no text; give "text" or phrases in "with"'
        )
    return record


def _only(
    pages: tuple[GoldPage, ...], field: str, names: tuple[str, ...], corpus: str
) -> tuple[GoldPage, ...]:
    if not names:
        return pages
    values = sorted({getattr(page, field) for page in pages})
    if unknown := sorted(set(names) - set(values)):
        raise CorpusError(
            f"{corpus}: no {field.replace('_', ' ')} {', '.join(unknown)}; there are "
            f"{', '.join(values)}"
        )
    return tuple(page for page in pages if getattr(page, field) in names)


TRAINING_SHARE = 0.7  # Ziegler & Skubacz 2007, section 4


FEW_PAGES = 50  # ours: a process takes as long to start as about 50 pages to read
_BATCH = 8  # ours: pages of a part of the work, which is sent at once

Result = TypeVar("Result")


def map_pages(
    job: Callable[[GoldPage], Result],
    pages: Sequence[GoldPage],
    *,
    workers: Workers | None = None,
    on_page: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Return the result of a job for each page, in order.

    Few pages are read in this process, more of them by `workers`, by default a process for each
    core. Those of a cluster must have the corpus at the same path. `on_page` is called here after
    each page.

    Raises:
        CorpusError: a page that can't be read or crashes the process that reads it.
    """
    workers = workers or os.cpu_count() or 1
    if isinstance(workers, int) and len(pages) < FEW_PAGES:
        workers = 1
    files = sorted({page.path.parent.parent / GOLD_FILE for page in pages})
    pool = open_pool(partial(_do_pages, job), workers, files=files)
    size = 1 if workers == 1 else _BATCH
    batches = (pages[start : start + size] for start in range(0, len(pages), size))
    results = []
    for batch, batch_results in results_by_item(pool, batches):
        for page, result in zip(batch, batch_results, strict=True):
            if result is None:
                raise CorpusError(
                    f"{page.path}: crashes the process that reads it, or takes more than its limits"
                )
            results.append(result[0])
            on_page()
    return results


def _do_pages(job: Callable[[GoldPage], Result], pages: Sequence[GoldPage]) -> list[tuple[Result]]:
    """Return the results as tuples, because None means that there is no result."""
    return [(job(page),) for page in pages]


@dataclass(frozen=True)
class Split:
    """Two corpora that share no site."""

    train: Corpus
    test: Corpus

    def only(self, corpus: Corpus) -> "Split":
        """Return the same split of fewer pages: a site stays on its side.

        Raises:
            CorpusError: a side that has none of the wanted pages.
        """
        pages = frozenset(corpus)
        sides = [
            Corpus(side.name, tuple(page for page in side if page in pages))
            for side in (self.train, self.test)
        ]
        for side, name in zip(sides, ("training", "testing"), strict=True):
            if not len(side):
                raise CorpusError(
                    f"{side.name}: none of the requested pages is on a site for {name}; "
                    "ask for more pages or give another --split-seed"
                )
        return Split(*sides)


def split_by_site(corpus: Corpus, *, seed: int = 0) -> Split:
    """Split the sites so that about TRAINING_SHARE of each stratum's pages are for training.

    Raises:
        CorpusError: fewer than two sites.
    """
    return Split(*_assign(corpus, (TRAINING_SHARE, 1 - TRAINING_SHARE), seed))


def folds_by_site(corpus: Corpus, *, k: int = 5, seed: int = 0) -> list[Split]:
    """Return k splits in which every page is tested once.

    Raises:
        CorpusError: k below two, or more than there are sites.
    """
    if k < 2:
        raise CorpusError(f"{k} folds leave nothing to test on; give 2 or more")
    splits = []
    for test in _assign(corpus, (1 / k,) * k, seed):
        sites = frozenset(test.sites)
        pages = tuple(page for page in corpus if page.owner not in sites)
        splits.append(Split(train=Corpus(corpus.name, pages), test=test))
    return splits


def _assign(corpus: Corpus, shares: Sequence[float], seed: int) -> list[Corpus]:
    """Assign each stratum's sites to the part that lacks most pages of its share so far."""
    if len(corpus.sites) < len(shares):
        raise CorpusError(
            f"{corpus.name}: {len(corpus.sites)} site(s) can't be split into {len(shares)} parts; "
            "a split is by site, so add pages of other sites"
        )
    sites: dict[str, list[GoldPage]] = defaultdict(list)
    for page in corpus:
        sites[page.owner].append(page)
    part_of: dict[str, int] = {}
    filled = [0] * len(shares)
    reached = 0
    strata: dict[tuple[str, str], list[str]] = defaultdict(list)
    for site, pages in sites.items():
        habits = Counter((page.set, page.lang) for page in pages)
        strata[min(habits, key=lambda habit: (-habits[habit], habit))].append(site)
    for _, stratum in sorted(strata.items()):
        stratum.sort(key=lambda site: hashlib.sha256(f"{seed} {site}".encode()).hexdigest())
        reached += sum(len(sites[site]) for site in stratum)
        for site in stratum:
            lack = [share * reached - have for share, have in zip(shares, filled, strict=True)]
            part = lack.index(max(lack))
            part_of[site] = part
            filled[part] += len(sites[site])
    return [
        Corpus(corpus.name, tuple(page for page in corpus if part_of[page.owner] == part))
        for part in range(len(shares))
    ]
