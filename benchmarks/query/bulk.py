"""A year of news written straight into SQLite's tables, in minutes instead of an hour.

The tables hold the rows that `newscrawl.storage` would have written, except for the sketches of
texts, which are drawn (tests/benchmarks/test_query.py compares the two).
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.query.news_year import DAYS, FIRST, MAX_WORDS, NewsYear, companies, sources
from newscrawl.items import Document
from newscrawl.storage import open_database
from newscrawl.storage.documents import minute_of, record_of
from newscrawl.storage.text_index import NUMBER_BITS
from newscrawl.storage.words import INDEXED, KEPT

_AT_ONCE = 20_000
_MINUTES_PER_WEEK = 7 * 24 * 60

_SUMS = "count(*), sum(limited), sum(in_title), sum(in_body), 0, 0"
_ALL_HITS = (
    "sum(in_title + in_body > 0), sum(limited * (in_title + in_body > 0)), sum(in_title), "
    "sum(in_body)"
)
_ALL_SUMS = f"{_ALL_HITS}, 0, 0"
_NAMES = "articles, limited, in_title, in_body, boilerplate, boilerplate_articles"
_DAY = f"date('{FIRST}', '+' || (minute / 1440 - {FIRST.toordinal() - 1}) || ' days')"
_PLACE = f"{_DAY}, source_id, language"
# The made-up words are ASCII and plain: folding would not change them.
_SEARCH_KEY = f"minute << {NUMBER_BITS} | id"


def _rollup_statements() -> Iterator[str]:
    """Yield the statements that fill the derived tables."""
    for table, keys, source, sums in (
        ("daily_totals", "day, read", f"{_DAY}, count(*)", _ALL_SUMS),
        ("daily_sources", "day, source_id, language, read", _PLACE + ", count(*)", _ALL_SUMS),
        ("daily_companies", "day, company_id", f"{_DAY}, company_id", _SUMS),
        (
            "daily_company_sources",
            "day, source_id, language, company_id",
            _PLACE + ", company_id",
            _SUMS,
        ),
    ):
        of = "appearances" if "company" in keys else "counted_articles"
        groups = ", ".join(str(n + 1) for n, key in enumerate(keys.split(", ")) if key != "read")
        yield (
            f"INSERT INTO {table} ({keys}, {_NAMES}) "  # noqa: S608 - our own names
            f"SELECT {source}, {sums} FROM {of} GROUP BY {groups}"
        )
    yield (
        "INSERT INTO daily_sections (day, source_id, language, section, read, articles, limited, "  # noqa: S608
        f"in_title, in_body) SELECT {_PLACE}, section, count(*), {_ALL_HITS} "
        "FROM counted_articles GROUP BY 1, 2, 3, 4"
    )
    yield (
        "INSERT INTO company_sources (company_id, source_id, first_day, last_day) "
        "SELECT company_id, source_id, min(day), max(day) FROM daily_company_sources GROUP BY 1, 2"
    )
    yield (
        # No article has more than MAX_PAIRED companies.
        "INSERT INTO company_pairs (company_id, other_id, minute, article_id, limited, "
        "story_id) SELECT one.company_id, other.company_id, one.minute, one.article_id, "
        "one.limited, one.story_id "
        "FROM appearances AS one JOIN appearances AS other "
        "ON other.article_id = one.article_id AND other.company_id > one.company_id"
    )
    yield (
        "INSERT INTO article_search (rowid, title, body) "  # noqa: S608
        f"SELECT {_SEARCH_KEY}, lower(title), lower(text) FROM articles "
        "JOIN counted_articles ON article_id = id ORDER BY 1"
    )
    yield "INSERT INTO article_search (article_search) VALUES ('optimize')"
    yield "ANALYZE"


def load(file: Path, articles: int, max_words: int = MAX_WORDS) -> None:
    """Create a database with a number of articles of `max_words` words at most in a new file."""
    with open_database(f"sqlite:///{file}") as database:
        for source in sources():
            home = f"https://{source.slug}.example/"
            database.register_source(
                source.slug, source.slug, source.country, source.language, home
            )
        run = database.start_run(sources()[0].slug)
    connection = sqlite3.connect(file, isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN")
    numbers = dict(connection.execute("SELECT slug, id FROM sources"))
    _insert(connection, "companies", enumerate(companies(), 1))
    _insert(connection, "coverage", _coverage(numbers.values()))
    _articles(connection, iter(NewsYear(articles, max_words=max_words)), numbers, run)
    for statement in _rollup_statements():
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.close()


def _articles(
    connection: sqlite3.Connection,
    documents: Iterator[Document],
    numbers: dict[str, int],
    run: int,
) -> None:
    ids = {name: number for number, name in enumerate(companies(), 1)}
    draw = np.random.default_rng(1)
    stories: dict[str, int] = {}
    number = 0
    while batch := list(islice(documents, _AT_ONCE)):
        rows: dict[str, list[Any]] = {
            name: []
            for name in ("articles", "article_urls", "mentions", "counted_articles", "appearances")
        }
        for document in batch:
            number += 1
            _add(rows, document, (number, numbers[document.page.source], run), ids, stories)
        _insert(connection, "articles", rows.pop("articles"), _ARTICLE_COLUMNS)
        mentions = rows.pop("mentions")
        _insert(connection, "mentions", mentions, _MENTION_COLUMNS)
        for table, rows_of_table in rows.items():
            _insert(connection, table, rows_of_table)
        _sketches(connection, rows["counted_articles"], draw)
    _insert(connection, "stories", ((n, FIRST.isoformat()) for n in sorted(set(stories.values()))))


_ARTICLE_COLUMNS = (
    "id, source_id, run_id, url, title, text, authors, published_at, day, language, section, "
    "access, kind, method, confidence, content_hash, fingerprint, revision, first_seen_at, "
    "last_seen_at"
)
_MENTION_COLUMNS = "article_id, company_id, section, start_offset, end_offset, surface, rule"


def _add(
    rows: dict[str, list[Any]],
    document: Document,
    key: tuple[int, int, int],
    ids: dict[str, int],
    stories: dict[str, int],
) -> None:
    number, source, run = key
    article, record = document.article, record_of(document)
    published = article.published or document.page.fetched_at
    moment, minute = published.strftime("%Y-%m-%d %H:%M:%S.%f"), minute_of(published)
    head = (number, source, run, article.url, article.title, article.text, "[]", moment)
    kind = (published.date().isoformat(), article.language, article.section, "open", "article")
    tail = ("combined", 0.9, record.content_hash, record.fingerprint, 1, moment, moment)
    rows["articles"].append((*head, *kind, *tail))
    rows["article_urls"].append((article.url, number))
    # Copies of an article share its beginning.
    story = stories.setdefault(article.text[:150], number)
    shared = (source, article.language, article.section or "", 0)
    mention_counts = Counter(ids[mention.company] for mention in document.mentions)
    rows["counted_articles"].append((minute, number, *shared, 0, mention_counts.total(), story))
    for company, times in mention_counts.items():
        rows["appearances"].append((company, minute, number, *shared, 0, times, story))
    rows["mentions"] += [
        (number, ids[m.company], m.section, m.start, m.end, m.surface, m.rule)
        for m in document.mentions
    ]


def _sketches(
    connection: sqlite3.Connection, counted: list[Any], draw: np.random.Generator
) -> None:
    """Insert sketches of realistic number and size; the smallest of 180 hashes are small."""
    values = np.sort(draw.integers(2**32 * KEPT // 180, size=(len(counted), KEPT)), axis=1)
    sketches, index = [], []
    for row, smallest in zip(counted, values.astype("<u4"), strict=True):
        week, number, story = row[0] // _MINUTES_PER_WEEK, row[1], row[-1]
        sketches.append((number, story, week, 180, smallest.tobytes()))
        index += [(week, int(value), number) for value in smallest[:INDEXED]]
    _insert(connection, "sketches", sketches)
    _insert(connection, "sketch_values", index)


def _coverage(numbers: Iterable[int]) -> Iterator[tuple[Any, ...]]:
    for number in numbers:
        for day in range(DAYS):
            on = (FIRST + timedelta(days=day)).isoformat()
            yield (number, on, "ok", 7, 7, "", f"{on} 23:00:00.000000")


def _insert(
    connection: sqlite3.Connection, table: str, rows: Iterable[Any], columns: str = ""
) -> None:
    """Insert rows of all columns in their order, or of the named ones."""
    waiting = iter(rows)
    first = next(waiting, None)
    if first is None:
        return
    into = f"{table} ({columns})" if columns else table
    statement = f"INSERT OR IGNORE INTO {into} VALUES ({', '.join('?' * len(first))})"  # noqa: S608
    connection.execute(statement, first)
    connection.executemany(statement, waiting)
