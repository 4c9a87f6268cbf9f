"""Rows in bulk and prepared statements: what both databases hold afterwards, and how they fail."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Connection, column, select, table
from sqlalchemy.exc import DBAPIError, IntegrityError

from newscrawl.storage import Database
from newscrawl.storage.bulk import ManyRows, Numbers
from newscrawl.storage.models import Base, Company, Source
from newscrawl.storage.prepared import Prepared, among

TABLES = Base.metadata.tables
AT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
ONE, FEW, MANY = 1, 3, 40
ODD = "tab\tline\nback\\slash 'quote' {brace} \N{SNOWMAN}"

numbers = pytest.mark.parametrize("number", [ONE, FEW, MANY], ids=["one", "few", "many"])


def source(number: int) -> dict[str, object]:
    return {
        "slug": f"s{number}",
        "name": ODD,
        "country": "de",
        "language": "de",
        "home": "https://s.example/",
        "registered_at": AT.astimezone(timezone(timedelta(hours=2))),
    }


def counter(**columns: object) -> ManyRows:
    """Sums of a day, which are added to where there are some."""

    def add(row):
        table = TABLES["daily_totals"].c
        return row.on_conflict_do_update(
            index_elements=["day"], set_={"read": table["read"] + row.excluded["read"]}
        )

    return ManyRows(TABLES["daily_totals"], tuple(columns), add)


@numbers
def test_rows_are_read_as_they_were_written(database: Database, number: int) -> None:
    rows = [source(place) for place in range(number)]
    written = ManyRows(TABLES["sources"], tuple(rows[0]))
    database.write(lambda session: written.write(session.connection(), rows))
    with database.reading() as session:
        found = session.execute(select(Source).order_by(Source.id)).scalars().all()
    assert [(one.slug, one.name, one.registered_at) for one in found] == [
        (row["slug"], ODD, AT) for row in rows
    ]


@numbers
def test_rows_that_are_there_are_passed_over(database: Database, number: int) -> None:
    names = ManyRows(TABLES["companies"], ("name",), lambda row: row.on_conflict_do_nothing())
    rows = [{"name": f"{ODD} {place}"} for place in range(number)]
    database.write(lambda session: names.write(session.connection(), rows[: number // 2]))
    database.write(lambda session: names.write(session.connection(), rows))
    with database.reading() as session:
        stored = session.scalars(select(Company.name)).all()
    assert sorted(stored) == sorted(row["name"] for row in rows)


@numbers
def test_rows_that_are_there_are_added_to(database: Database, number: int) -> None:
    names = ("articles", "limited", "in_title", "in_body", "boilerplate", "boilerplate_articles")
    nothing = dict.fromkeys(names, 0)
    rows = [
        {
            "day": (AT + timedelta(days=place)).date(),
            "read": place,
            **nothing,
            "boilerplate_articles": 0,
        }
        for place in range(number)
    ]
    sums = counter(**rows[0])
    for _ in range(2):
        database.write(lambda session: sums.write(session.connection(), rows))
    days = TABLES["daily_totals"].c
    with database.reading() as session:
        stored = session.execute(select(days.day, days["read"]).order_by(days.day)).all()
    assert stored == [(row["day"], 2 * row["read"]) for row in rows]


@pytest.mark.parametrize("number", [FEW, MANY], ids=["few", "many"])
def test_a_row_that_clashes_fails_as_sqlalchemy_fails(database: Database, number: int) -> None:
    names = ManyRows(TABLES["companies"], ("name",))
    rows = [{"name": "Siemens"}] * number

    def work(connection: Connection) -> None:
        with pytest.raises(IntegrityError) as failed:
            names.write(connection, rows)
        raise failed.value

    with pytest.raises(Exception, match="companies"):
        database.write(lambda session: work(session.connection()))
    with database.reading() as session:
        assert session.scalars(select(Company)).all() == []


def test_a_statement_that_fails_fails_as_sqlalchemy_fails(database: Database) -> None:
    gone = Prepared(select(table("nowhere", column("id")).c.id))
    with database.reading() as session, pytest.raises(DBAPIError, match="nowhere"):
        gone.rows(session.connection(), {})


@numbers
def test_numbers_are_new_each_time(database: Database, number: int) -> None:
    companies = Numbers(TABLES["companies"])
    names = ManyRows(TABLES["companies"], ("id", "name"))

    def work(connection: Connection) -> list[int]:
        fresh = companies.take(connection, number)
        names.write(connection, [{"id": one, "name": str(one)} for one in fresh])
        return fresh

    taken = [
        one for _ in range(2) for one in database.write(lambda session: work(session.connection()))
    ]
    assert len(taken) == 2 * number
    assert taken == sorted(set(taken))


@pytest.mark.parametrize("asked", [[], ["a"], ["a", "c", ODD]], ids=["none", "one", "some"])
def test_what_is_among_values_is_found(database: Database, asked: list[str]) -> None:
    rows = [{"name": name} for name in ("a", "b", "c", ODD)]
    names = ManyRows(TABLES["companies"], ("name",))
    database.write(lambda session: names.write(session.connection(), rows))
    found = Prepared(select(Company.name).where(among(Company.name, "names")))
    with database.reading() as session:
        assert {name for (name,) in found.rows(session.connection(), {"names": asked})} == set(
            asked
        )
