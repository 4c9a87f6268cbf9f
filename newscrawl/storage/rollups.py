"""What is counted of articles, kept in step with them: the tables of `models.analysis`.

An article's `Tally` is what it adds to the counts. The daily sums are changed by `Sums`, which
gathers the changes of a transaction and writes them once, at its end: one row for each day,
company and source then, not one for each article.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import BindParameter, Connection, Delete, bindparam, case, delete, func, select

from newscrawl.storage import models
from newscrawl.storage.bulk import BulkInsert
from newscrawl.storage.documents import COUNTED_KINDS, minute_of
from newscrawl.storage.models import Appearance, Article, Boilerplate, CountedArticle, Mention

_SUMS = (
    "read",
    "articles",
    "limited",
    "in_title",
    "in_body",
    "boilerplate",
    "boilerplate_articles",
)
_KEYS: Mapping[type[Any], tuple[str, ...]] = {
    models.DailyTotal: ("day",),
    models.DailySource: ("source_id", "day", "language"),
    models.DailyCompany: ("company_id", "day"),
    models.DailyCompanySource: ("company_id", "source_id", "day", "language"),
}


def _sums_of(table: type[Any]) -> list[str]:
    return [name for name in _SUMS if hasattr(table, name)]


def _adding(table: type[Any]) -> BulkInsert:
    """An INSERT that adds to the row that is there."""
    keys, names = _KEYS[table], _sums_of(table)

    def add(row: Any) -> Any:
        sums = {name: getattr(table, name) + row.excluded[name] for name in names}
        return row.on_conflict_do_update(index_elements=list(keys), set_=sums)

    return BulkInsert(models.Base.metadata.tables[table.__tablename__], (*keys, *names), add)


def _dropping(table: type[Any]) -> Delete:
    """A DELETE of a row of which nothing is left."""
    keys = [getattr(table, name) == bindparam(f"of_{name}") for name in _KEYS[table]]
    empty = [getattr(table, name) == 0 for name in _sums_of(table)]
    return delete(table).where(*keys, *empty)


_ADD = {table: _adding(table) for table in _KEYS}
_DROP = {table: _dropping(table) for table in _KEYS}
_ENTRY = ("minute", "article_id", "source_id", "language", "section", "limited")
_NAMED = ("in_title", "in_body", "story_id")
_ADD_COUNTED = BulkInsert(models.Base.metadata.tables["counted_articles"], (*_ENTRY, *_NAMED))
_ADD_APPEARANCES = BulkInsert(
    models.Base.metadata.tables["appearances"], ("company_id", *_ENTRY, *_NAMED)
)
_NUMBERS: BindParameter[Any] = bindparam("numbers", expanding=True)
_ARTICLES = select(
    Article.id,
    Article.source_id,
    Article.day,
    Article.published_at,
    Article.first_seen_at,
    Article.language,
    Article.section,
    Article.access,
    Article.kind,
).where(Article.id.in_(_NUMBERS))
_OCCURRENCES = (
    select(
        Mention.article_id,
        Mention.company_id,
        func.sum(case((Mention.section == "title", 1), else_=0)),
        func.sum(case((Mention.section == "title", 0), else_=1)),
    )
    .where(Mention.article_id.in_(_NUMBERS))
    .group_by(Mention.article_id, Mention.company_id)
)
_IN_BOILERPLATE = select(Boilerplate.article_id, Boilerplate.company_id, Boilerplate.number).where(
    Boilerplate.article_id.in_(_NUMBERS)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What an article that counts adds to the counts. `companies` are the numbers of its
    occurrences in headline and body by company, `boilerplate` those on the rest of its page."""

    article_id: int
    source_id: int
    day: date
    minute: int
    language: str
    section: str
    limited: bool
    companies: Mapping[int, tuple[int, int]]
    boilerplate: Mapping[int, int]


class Sums:
    """Changes of the daily sums that have not been written yet."""

    def __init__(self) -> None:
        self._changes: dict[type[Any], dict[tuple[Any, ...], list[int]]] = {
            table: {} for table in _KEYS
        }

    def add(self, tally: Tally) -> None:
        """Adds what an article counts for."""
        self._change(tally, 1)

    def take_out(self, tally: Tally) -> None:
        """Takes out what was added for an article."""
        self._change(tally, -1)

    def write(self, connection: Connection) -> None:
        """Changes the tables, in the order of their keys: no two writers wait for each other."""
        for table, changes in self._changes.items():
            keys, sums = _KEYS[table], _sums_of(table)
            rows = [
                dict(zip((*keys, *sums), (*key, *change[-len(sums) :]), strict=True))
                for key, change in sorted(changes.items())
                if any(change[-len(sums) :])
            ]
            changes.clear()
            if not rows:
                continue
            _ADD[table].write(connection, rows)
            lessened = [row for row in rows if any(row[name] < 0 for name in sums)]
            if lessened:
                asked = [{f"of_{name}": row[name] for name in keys} for row in lessened]
                connection.execute(_DROP[table], asked)

    def _change(self, tally: Tally, times: int) -> None:
        for company in tally.companies.keys() | tally.boilerplate.keys():
            named, boilerplate = tally.companies.get(company), tally.boilerplate.get(company, 0)
            change = _sums(named, boilerplate, limited=tally.limited)
            self._add_to(models.DailyCompany, (company, tally.day), change, times)
            here = (company, tally.source_id, tally.day, tally.language)
            self._add_to(models.DailyCompanySource, here, change, times)
        whole = _sums(_all(tally.companies), sum(tally.boilerplate.values()), limited=tally.limited)
        self._add_to(models.DailyTotal, (tally.day,), whole, times)
        key = (tally.source_id, tally.day, tally.language)
        self._add_to(models.DailySource, key, whole, times)

    def _add_to(
        self, table: type[Any], key: tuple[Any, ...], change: Sequence[int], times: int
    ) -> None:
        so_far = self._changes[table].setdefault(key, [0] * len(_SUMS))
        for place, number in enumerate(change):
            so_far[place] += times * number


def counts(access: str, kind: str) -> bool:
    """Whether an article counts at all (see `newscrawl.storage.queries`)."""
    return kind in COUNTED_KINDS or access != "open"


def tallies_of(connection: Connection, numbers: Sequence[int]) -> list[Tally]:
    """The tallies that follow from the rows of these articles, of those that count."""
    asked = {"numbers": list(numbers)}
    companies: dict[int, dict[int, tuple[int, int]]] = {}
    for number, company, in_title, in_body in connection.execute(_OCCURRENCES, asked):
        companies.setdefault(number, {})[company] = (int(in_title), int(in_body))
    boilerplate: dict[int, dict[int, int]] = {}
    for number, company, found in connection.execute(_IN_BOILERPLATE, asked):
        boilerplate.setdefault(number, {})[company] = found
    return [
        Tally(
            article_id=row.id,
            source_id=row.source_id,
            day=row.day,
            minute=minute_of(row.published_at or row.first_seen_at),
            language=row.language or "",
            section=row.section or "",
            limited=row.access != "open",
            companies=companies.get(row.id, {}),
            boilerplate=boilerplate.get(row.id, {}),
        )
        for row in connection.execute(_ARTICLES, asked)
        if counts(row.access, row.kind)
    ]


def enter(connection: Connection, entries: Sequence[tuple[Tally, int]]) -> None:
    """Writes the rows of articles that have none, each with the number of its story."""
    if not entries:
        return
    counted, appearances = [], []
    for tally, story_id in entries:
        shared = {
            "article_id": tally.article_id,
            "minute": tally.minute,
            "source_id": tally.source_id,
            "language": tally.language,
            "section": tally.section,
            "limited": int(tally.limited),
            "story_id": story_id,
        }
        in_title, in_body = _all(tally.companies) or (0, 0)
        counted.append({**shared, "in_title": in_title, "in_body": in_body})
        appearances += [
            {**shared, "company_id": company, "in_title": named[0], "in_body": named[1]}
            for company, named in tally.companies.items()
        ]
    _ADD_COUNTED.write(connection, counted)
    _ADD_APPEARANCES.write(connection, appearances)


def withdraw(connection: Connection, numbers: Sequence[int]) -> None:
    """Deletes the rows of these articles."""
    for table in (CountedArticle, Appearance):
        connection.execute(delete(table).where(table.article_id.in_(numbers)))


def _all(companies: Mapping[int, tuple[int, int]]) -> tuple[int, int] | None:
    if not companies:
        return None
    return sum(n for n, _ in companies.values()), sum(n for _, n in companies.values())


def _sums(named: tuple[int, int] | None, boilerplate: int, *, limited: bool) -> tuple[int, ...]:
    """In the order of _SUMS; `read` is 1, and of no account where a table has none."""
    found = int(named is not None)
    in_title, in_body = named or (0, 0)
    return 1, found, found * int(limited), in_title, in_body, boilerplate, int(boilerplate > 0)
