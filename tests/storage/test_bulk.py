"""Rows that are inserted in bulk: what both databases hold afterwards, and how they fail."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from newscrawl.storage.engine import BulkInsert, new_ids
from newscrawl.storage.models import Base, Company, Source

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


def counter(**columns: object) -> BulkInsert:
    """Sums of a day, which are added to where there are some."""

    def add(row):
        table = TABLES["daily_totals"].c
        return row.on_conflict_do_update(
            index_elements=["day"], set_={"read": table["read"] + row.excluded["read"]}
        )

    return BulkInsert(TABLES["daily_totals"], tuple(columns), add)


@numbers
def test_rows_are_read_as_they_were_written(database, number):
    rows = [source(place) for place in range(number)]
    insert = BulkInsert(TABLES["sources"], tuple(rows[0]))
    values = [tuple(row.values()) for row in rows]
    database.write(lambda session: insert.write(session.connection(), values))
    with database.reading() as session:
        sources = session.execute(select(Source).order_by(Source.id)).scalars().all()
    assert [(stored.slug, stored.name, stored.registered_at) for stored in sources] == [
        (row["slug"], ODD, AT) for row in rows
    ]


@numbers
def test_existing_rows_are_skipped(database, number):
    names = BulkInsert(TABLES["companies"], ("name",), lambda row: row.on_conflict_do_nothing())
    rows = [(f"{ODD} {place}",) for place in range(number)]
    database.write(lambda session: names.write(session.connection(), rows[: number // 2]))
    database.write(lambda session: names.write(session.connection(), rows))
    with database.reading() as session:
        stored = session.scalars(select(Company.name)).all()
    assert sorted(stored) == sorted(name for (name,) in rows)


@numbers
def test_existing_rows_are_updated(database, number):
    names = ("articles", "limited", "in_title", "in_body", "boilerplate", "boilerplate_articles")
    nothing = dict.fromkeys(names, 0)
    rows = [
        {"day": (AT + timedelta(days=place)).date(), "read": place, **nothing}
        for place in range(number)
    ]
    sums = counter(**rows[0])
    values = [tuple(row.values()) for row in rows]
    for _ in range(2):
        database.write(lambda session: sums.write(session.connection(), values))
    days = TABLES["daily_totals"].c
    with database.reading() as session:
        stored = session.execute(select(days.day, days["read"]).order_by(days.day)).all()
    assert stored == [(row["day"], 2 * row["read"]) for row in rows]


@pytest.mark.parametrize("number", [FEW, MANY], ids=["few", "many"])
def test_conflicting_row_raises_integrity_error(database, number):
    names = BulkInsert(TABLES["companies"], ("name",))
    rows = [("Siemens",)] * number

    def work(connection: Connection) -> None:
        with pytest.raises(IntegrityError) as failed:
            names.write(connection, rows)
        raise failed.value

    with pytest.raises(Exception, match="companies"):
        database.write(lambda session: work(session.connection()))
    with database.reading() as session:
        assert session.scalars(select(Company)).all() == []


@numbers
def test_row_ids_are_unique(database, number):
    names = BulkInsert(TABLES["companies"], ("id", "name"))

    def work(connection: Connection) -> list[int]:
        fresh = new_ids(connection, Company, number)
        names.write(connection, [(number_of_row, str(number_of_row)) for number_of_row in fresh])
        return fresh

    numbers_of_rows = [
        number_of_row
        for _ in range(2)
        for number_of_row in database.write(lambda session: work(session.connection()))
    ]
    assert len(numbers_of_rows) == 2 * number
    assert numbers_of_rows == sorted(set(numbers_of_rows))
