"""The migrations lead to the tables of the models, on both databases."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from newscrawl.storage import (
    StorageError,
    engine,
    migrations,
    models,
    open_database,
    queries,
    upgrade_database,
)
from newscrawl.storage.text_index import clear_search
from tests.site.crawling import clean_environment
from tests.worlds import LONG, body, document, execute, register, save_document, set_schema_version


@pytest.fixture
def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(migrations.SCRIPTS))
    return ScriptDirectory.from_config(config)


def test_head_is_the_newest_migration(scripts):
    assert scripts.get_current_head() == migrations.HEAD


def test_versions_sort_in_the_order_of_their_migrations(scripts):
    newest_first = [script.revision for script in scripts.walk_revisions()]
    assert newest_first == sorted(newest_first, reverse=True)
    assert newest_first[-1] == migrations.FIRST


def test_former_numbers_are_no_present_ones(scripts):
    numbers = [script.revision for script in scripts.walk_revisions()]
    assert max(numbers) < migrations.FORMER_FIRST < migrations.FORMER_LAST


def is_modelled(name: str | None, kind: str, _parents: object) -> bool:
    """The index of the full text is another table on each of the two databases."""
    return kind != "table" or not str(name).startswith("article_search")


def differences(url: str) -> list[object]:
    """Return what differs between the tables of a database and those of the models."""
    opened = engine.make_engine(engine.parse_url(url))
    with opened.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_modelled})
        changes = compare_metadata(context, models.Base.metadata)
    opened.dispose()
    return list(changes)


def test_migrated_tables_are_those_of_the_models(database_url):
    upgrade_database(database_url)
    assert differences(database_url) == []


def test_change_of_the_models_needs_a_migration():
    """A new database has it without one, an older database would not."""
    dialects = (sqlite.dialect(), postgresql.dialect())
    statements = [
        " ".join(str(change.compile(dialect=dialect)).split())
        for table in models.Base.metadata.tables.values()
        for change in (CreateTable(table), *map(CreateIndex, table.indexes))
        for dialect in dialects
    ]
    digest = hashlib.sha256("\n".join(sorted(statements)).encode()).hexdigest()[:16]
    assert (migrations.HEAD, digest) == ("0003", "811e19378d8f3e82"), (
        "add a migration, with a test as docs/architecture.md describes, and both values here"
    )


def test_upgrade_reports_both_versions(database_url):
    assert upgrade_database(database_url) == (None, migrations.HEAD)
    assert upgrade_database(database_url) == (migrations.HEAD, migrations.HEAD)


def test_tables_of_another_program_are_left_alone(database_url):
    opened = engine.make_engine(engine.parse_url(database_url))
    with opened.execution_options(writes=True).begin() as connection:
        connection.execute(text("CREATE TABLE articles (title TEXT)"))
    for change in (open_database, upgrade_database):
        with pytest.raises(StorageError, match=r"(of another program \(articles\)|no tables)"):
            change(database_url)
    with opened.connect() as connection:
        assert inspect(connection).get_table_names() == ["articles"]
    opened.dispose()


def test_only_a_database_in_postgresql_is_shared(database_url):
    opened = engine.make_engine(engine.parse_url(database_url))
    with opened.execution_options(writes=True).begin() as connection:
        connection.execute(text("CREATE TABLE bookmarks (title TEXT)"))
    opened.dispose()
    if database_url.startswith("postgresql"):
        assert upgrade_database(database_url) == (None, migrations.HEAD)
        return
    with pytest.raises(StorageError, match=r"news\.sqlite has tables of another .*\(bookmarks\)"):
        upgrade_database(database_url)


def test_search_index_of_sqlite_merges_rarely(tmp_path):
    with (
        open_database(f"sqlite:///{tmp_path / 'news.sqlite'}") as database,
        database.reading() as session,
    ):
        rows = session.execute(text("SELECT v FROM article_search_config WHERE k = 'automerge'"))
        assert rows.scalars().all() == [8]


@pytest.mark.parametrize(
    ("table", "all_but"),
    [
        (models.Appearance, set()),
        (models.DailyCompanySource, {"boilerplate", "boilerplate_articles"}),
    ],
)
def test_keys_in_postgresql_have_what_is_counted(postgres_tables, table, all_but):
    opened = engine.make_engine(engine.parse_url(postgres_tables))
    with opened.connect() as connection:
        key = f"""SELECT attname FROM pg_attribute
            WHERE attrelid = CAST('pk_{table.__tablename__}' AS regclass)"""  # noqa: S608 - our own
        names = set(connection.scalars(text(key)))
    opened.dispose()
    assert names == {column.name for column in table.__table__.columns} - all_but


def files_of_tables(url: str) -> list[tuple[object, ...]]:
    """Return where each table and index begins in the database's files, and SQLite's definitions:
    other places if a table was copied."""
    if url.startswith("postgresql"):
        return execute(url, "SELECT relname, relfilenode FROM pg_class ORDER BY relname")
    return execute(url, "SELECT name, rootpage, sql FROM sqlite_master ORDER BY name")


def test_database_of_the_last_former_number_only_gets_the_new_one(database_url):
    upgrade_database(database_url)
    with open_database(database_url) as database:
        article = document(text=f"Siemens builds a bridge. {LONG}", mentions=[body("Siemens")])
        save_document(database, article, register(database))
    set_schema_version(database_url, migrations.FORMER_LAST)
    before = files_of_tables(database_url)
    with pytest.raises(StorageError, match=r"of an older version .*: newscrawl db upgrade$"):
        open_database(database_url)
    assert upgrade_database(database_url) == (migrations.FORMER_LAST, migrations.HEAD)
    assert files_of_tables(database_url) == before
    assert differences(database_url) == []
    with open_database(database_url) as database:
        assert queries.facts(database).version == migrations.HEAD
        assert [row.company for row in queries.company_ranking(database)] == ["Siemens"]


def test_search_index_of_other_words_is_made_again(database_url):
    upgrade_database(database_url)
    with open_database(database_url) as database:
        article = document(text=f"A bridge in Łódź. {LONG}", title="Żółw")
        save_document(database, article, register(database))
        database.transact(clear_search)
        assert not queries.search(database, "bridge")
    set_schema_version(database_url, "0001")
    upgrade_database(database_url)
    with open_database(database_url) as database:
        assert len(queries.search(database, "lodz zolw bridge")) == 1


def test_table_of_unregistered_names_is_added(database_url):
    upgrade_database(database_url)
    opened = engine.make_engine(engine.parse_url(database_url))
    with opened.execution_options(writes=True).begin() as connection:
        connection.execute(text("DROP TABLE unregistered_names"))
    opened.dispose()
    set_schema_version(database_url, "0002")
    assert upgrade_database(database_url) == ("0002", migrations.HEAD)
    assert differences(database_url) == []


@pytest.mark.parametrize("number", [migrations.FORMER_FIRST, "0024", "0030"])
def test_earlier_former_number_names_the_version_that_upgrades_it(database_url, number):
    upgrade_database(database_url)
    set_schema_version(database_url, number)
    advice = f"{number} of a development version: run newscrawl db upgrade of commit .* first$"
    for use in (open_database, upgrade_database):
        with pytest.raises(StorageError, match=advice):
            use(database_url)
    assert execute(database_url, "SELECT version_num FROM alembic_version") == [(number,)]


def test_former_first_number_is_not_the_present_one(database_url):
    execute(database_url, "CREATE TABLE alembic_version (version_num TEXT)")
    execute(database_url, "INSERT INTO alembic_version VALUES ('0001')")
    execute(database_url, "CREATE TABLE articles (id INTEGER)")
    for use in (open_database, upgrade_database):
        with pytest.raises(StorageError, match="0001 of a development version: run newscrawl db"):
            use(database_url)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [None, migrations.FORMER_LAST])
def test_upgrades_at_once_are_one_upgrade(database_url, number):
    if number:
        upgrade_database(database_url)
        set_schema_version(database_url, number)
    command = [sys.executable, "-m", "newscrawl", "db", "upgrade"]
    environment = clean_environment() | {"NEWSCRAWL_DATABASE_URL": database_url}
    runs = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs = [run.communicate(timeout=300)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], outputs
    upgraded = (
        f"The database was upgraded to schema {migrations.HEAD} (before: {number or 'none'}).\n"
    )
    assert sorted(outputs) == [
        *[f"The database is up to date (schema {migrations.HEAD}).\n"] * 2,
        upgraded,
    ]
    assert differences(database_url) == []


LATER = """
import sqlalchemy as sa
from alembic import op

revision = "LATER"
down_revision = "HEAD"


def upgrade() -> None:
    op.add_column("sources", sa.Column("note", sa.Text(), nullable=False, server_default="none"))
"""


def add_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_line: str = "") -> None:
    """Let a migration follow all others, which `last_line` ends."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrations.SCRIPTS, folder)
    number = f"{int(migrations.HEAD) + 1:04}"
    script = LATER.replace("HEAD", migrations.HEAD).replace("LATER", number)
    (folder / "versions" / f"{number}_later.py").write_text(f"{script}    {last_line}\n")
    monkeypatch.setattr(migrations, "SCRIPTS", folder)
    monkeypatch.setattr(migrations, "HEAD", number)


@pytest.mark.parametrize("number", [migrations.HEAD, migrations.FORMER_LAST])
def test_later_migration_is_applied_to_stored_rows(database_url, number, tmp_path, monkeypatch):
    upgrade_database(database_url)
    with open_database(database_url) as database:
        register(database)
    set_schema_version(database_url, number)
    add_migration(tmp_path, monkeypatch)
    with pytest.raises(StorageError, match=r"of an older version .*: newscrawl db upgrade$"):
        open_database(database_url)
    assert upgrade_database(database_url) == (number, migrations.HEAD)
    assert execute(database_url, "SELECT slug, note FROM sources") == [("ft", "none")]
    open_database(database_url).close()


def test_new_database_gets_the_models_in_place_of_later_migrations(
    database_url, tmp_path, monkeypatch
):
    add_migration(tmp_path, monkeypatch, "raise AssertionError('the models have this column')")
    assert upgrade_database(database_url) == (None, migrations.HEAD)
    open_database(database_url).close()


def test_migration_that_fails_changes_nothing(database_url, tmp_path, monkeypatch):
    upgrade_database(database_url)
    before = migrations.HEAD
    add_migration(tmp_path, monkeypatch, "op.execute('DROP TABLE nowhere')")
    with pytest.raises(StorageError, match="nowhere"):
        upgrade_database(database_url)
    assert execute(database_url, "SELECT version_num FROM alembic_version") == [(before,)]
    assert differences(database_url) == []
