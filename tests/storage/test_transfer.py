"""A database is copied whole into an empty one of the other kind."""

import pytest
from sqlalchemy import func, select

from newscrawl.storage import Database, StorageError, open_database, queries, upgrade_database
from newscrawl.storage.database import copy_database
from newscrawl.storage.models import Base, Run
from newscrawl.storage.saved_queries import add_query, count_history
from tests.counted import counted
from tests.worlds import LONG, body, document, moment, register, save_document


def fill(database: Database) -> None:
    run = register(database)
    for hours, more in enumerate(("", "Corrected. ")):
        text = f"Siemens builds a bridge. {more}{LONG}"
        document_with_names = document(
            text=text, mentions=[body("Siemens")], fetched_at=moment(hours)
        )
        save_document(database, document_with_names, run)
    save_document(database, document("b", text=f"Another text. {LONG}"), run)
    database.finish_run(run, "finished", {"newscrawl/articles_new": 2})
    register(database, "zdf", "de")
    add_query(database, "bridges", "bridge", "ann")
    count_history(database, "bridges")


def rows(database: Database) -> dict[str, list[str]]:
    with database.reading() as session:
        return {
            table.name: sorted(map(repr, session.execute(select(table)).mappings()))
            for table in Base.metadata.sorted_tables
        }


@pytest.fixture
def sqlite(tmp_path: object) -> str:
    return f"sqlite:///{tmp_path}/from.sqlite"


@pytest.mark.parametrize("direction", ["to PostgreSQL", "to SQLite"])
def test_copy_has_the_same_rows_and_answers(sqlite, postgres_url, direction):
    one, other = (sqlite, postgres_url) if direction == "to PostgreSQL" else (postgres_url, sqlite)
    upgrade_database(one)
    with open_database(one) as source:
        fill(source)
        assert copy_database(source, other) == 2
        with open_database(other) as target:
            assert rows(target) == rows(source)
            assert counted(target) == counted(source)
            assert queries.company_ranking(target) == queries.company_ranking(source)
            found = [hit.article.url for hit in queries.search(target, "siemens")]
            assert found == ["https://ft.example/a"]
            with target.reading() as session:
                unfinished = select(func.count(Run.id)).where(Run.counts.is_(None))
                assert session.scalar(unfinished) == 1
            # New rows get new ids.
            run = register(target)
            fresh = document("c", text=f"One more. {LONG}", mentions=[body("Bosch")])
            assert save_document(target, fresh, run).outcome == "new"
            assert queries.facts(target).rows["articles"] == 3


def test_database_with_rows_is_not_copied_into(sqlite, postgres_url):
    for url in (sqlite, postgres_url):
        upgrade_database(url)
    with open_database(sqlite) as source, open_database(postgres_url) as target:
        fill(source)
        register(target, "zdf", "de")
        before = rows(target)
        with pytest.raises(StorageError, match="is not empty"):
            copy_database(source, postgres_url)
        assert rows(target) == before
