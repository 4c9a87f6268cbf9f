"""The migrations lead to the tables of the models, on both databases."""

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from newscrawl.storage import engine, open_database, queries, schema, upgrade_database
from newscrawl.storage.models import Base

SCRIPTS = Path(schema.__file__).parent / "migrations"


@pytest.fixture
def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    return ScriptDirectory.from_config(config)


def test_head_is_the_newest_migration(scripts: ScriptDirectory) -> None:
    assert scripts.get_current_head() == schema.HEAD


def test_versions_sort_in_the_order_of_their_migrations(scripts: ScriptDirectory) -> None:
    newest_first = [script.revision for script in scripts.walk_revisions()]
    assert newest_first == sorted(newest_first, reverse=True)


def is_modelled(name: str | None, kind: str, _parents: object) -> bool:
    """The index of the full text is another table on each of the two databases."""
    return kind != "table" or not str(name).startswith("article_search")


def test_migrated_tables_are_those_of_the_models(database_url: str) -> None:
    upgrade_database(database_url)
    opened = engine.make_engine(engine.parse_url(database_url))
    with opened.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_modelled})
        assert compare_metadata(context, Base.metadata) == []
    opened.dispose()


def test_an_upgrade_tells_where_from_and_where_to(database_url: str) -> None:
    assert upgrade_database(database_url) == (None, schema.HEAD)
    assert upgrade_database(database_url) == (schema.HEAD, schema.HEAD)


def test_an_upgraded_database_opens(database_url: str) -> None:
    upgrade_database(database_url)
    with open_database(database_url) as database:
        database.register_source("ft", "FT", "gb", "en", "https://ft.example/")
        assert database.start_run("ft") == 1


def test_the_search_index_of_sqlite_merges_rarely(tmp_path: Path) -> None:
    with (
        open_database(f"sqlite:///{tmp_path / 'news.sqlite'}") as database,
        database.reading() as session,
    ):
        found = session.execute(text("SELECT v FROM article_search_config WHERE k = 'automerge'"))
        assert found.scalars().all() == [8]


def test_articles_of_a_database_without_counts_are_counted(database_url: str) -> None:
    opened = engine.make_engine(engine.parse_url(database_url))
    with opened.execution_options(writes=True).begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(SCRIPTS))
        command.upgrade(config, "0002")
        for statement in _OLD_ROWS:
            connection.execute(text(statement))
    opened.dispose()
    assert upgrade_database(database_url) == ("0002", schema.HEAD)
    with open_database(database_url) as database:
        (row,) = queries.company_ranking(database)
        assert (row.company, row.hits.articles, row.hits.in_title) == ("Siemens", 1, 1)
        (found,) = queries.search(database, "wins")
        assert found.article.url == "https://ft.example/a"


_OLD_ROWS = (
    "INSERT INTO sources VALUES (1, 'ft', 'FT', 'gb', 'en', 'https://ft.example/', '2026-11-20')",
    "INSERT INTO runs (id, source_id, started_at) VALUES (1, 1, '2026-11-20')",
    "INSERT INTO companies VALUES (1, 'Siemens')",
    """INSERT INTO articles (id, source_id, run_id, url, title, text, authors, day, access, kind,
    method, confidence, content_hash, revision, first_seen_at, last_seen_at)
    VALUES (1, 1, 1, 'https://ft.example/a', 'Siemens wins', 'A text.', '[]', '2026-11-20', 'open',
    'article', 'combined', 1.0, 'x', 1, '2026-11-20 12:00:00+00', '2026-11-20 12:00:00+00')""",
    """INSERT INTO mentions (id, article_id, company_id, section, start_offset, end_offset, surface,
    rule) VALUES (1, 1, 1, 'title', 0, 7, 'Siemens', 'name')""",
)
