"""Opening databases, and what is said where that fails."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import select

from newscrawl.storage import (
    StorageError,
    database,
    engine,
    migrations,
    open_database,
    queries,
    upgrade_database,
)
from newscrawl.storage.models import ArticleUrl
from tests.worlds import (
    LONG,
    document,
    known_urls,
    register,
    save_document,
    save_documents,
    set_schema_version,
)


def message(url: str, *, create: bool = True) -> str:
    """What opening says; always a single line."""
    with pytest.raises(StorageError) as caught:
        open_database(url, create=create)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "news.sqlite"


def test_values_of_a_list_are_looked_up_in_the_index(file):
    query = select(ArticleUrl.article_id).where(
        engine.one_of(ArticleUrl.url, "urls"), ArticleUrl.article_id > 0
    )
    with open_database(f"sqlite:///{file}") as opened, opened.reading() as session:
        connection = session.connection()
        statement = query.compile(dialect=connection.dialect)
        steps = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", ('["a"]', 0))
        plan = [row.detail for row in steps]
    assert any(step.startswith("SEARCH article_urls USING INDEX") for step in plan), plan


def test_postgresql_database_of_another_encoding_is_refused(postgres_server):
    name = "test_sql_ascii"
    with closing(psycopg.connect(postgres_server, autocommit=True)) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' "
            "TEMPLATE template0"
        )
        try:
            text = message(postgres_server.replace("/postgres?", f"/{name}?"))
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    assert f"/{name} has the encoding SQL_ASCII" in text
    assert "ENCODING 'UTF8'" in text


# --- URLs ---


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgresql_url_uses_psycopg(scheme):
    assert engine.parse_url(f"{scheme}://u@h/d").drivername == "postgresql+psycopg"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("news.sqlite", "not a database URL: write it as sqlite:///newscrawl.sqlite or"),
        ("sqlite://news.sqlite", "one of SQLite has no host, as in sqlite:///newscrawl.sqlite"),
        ("", "not a database URL"),
        ("mysql://u:secret@h/d", "no support for the database 'mysql'"),
        ("oracle+x://u:secret@h/d", "no support"),
        ("postgresql://u:secret@h:port/d", "not a database URL"),
    ],
)
def test_unsupported_database_url_is_refused(url, says):
    text = message(url)
    assert says in text
    assert "secret" not in text


def test_error_of_an_unreachable_server_hides_its_password():
    text = message("postgresql://me:secret@127.0.0.1:1/news?connect_timeout=2")
    assert text.startswith("can't reach the database postgresql://me:***@127.0.0.1:1/news")
    assert "NEWSCRAWL_DATABASE_URL" in text
    assert "secret" not in text


def test_missing_database_of_a_server_is_named(postgres_server):
    text = message(postgres_server.replace("/postgres?", "/nowhere?"))
    assert 'database "nowhere" does not exist' in text


# --- Files ---


def test_new_file_has_tables_and_the_modes_that_we_rely_on(file):
    with open_database(f"sqlite:///{file}") as opened:
        register(opened)
        with opened.reading() as session:
            connection = session.connection()
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
            # What is deleted is overwritten at once.
            assert connection.exec_driver_sql("PRAGMA secure_delete").scalar() == 1


def test_in_memory_database_is_shared_by_threads():
    with open_database("sqlite://") as opened:
        run = register(opened)
        worker = threading.Thread(target=save_document, args=(opened, document(), run))
        worker.start()
        worker.join()
        assert known_urls(opened, ["https://ft.example/a"])


def test_reader_of_a_missing_file_is_refused(file):
    assert message(f"sqlite:///{file}", create=False).startswith(f"no database at {file}: crawl")
    assert not file.exists()


def test_missing_folder_is_named(tmp_path):
    text = message(f"sqlite:///{tmp_path}/nowhere/news.sqlite")
    assert "does its folder exist" in text


def test_file_that_is_not_a_database_is_named(file):
    file.write_text("no database, whatever its name says" * 100)
    assert f"{file} is not an SQLite database" in message(f"sqlite:///{file}")


# Opens a database in four forks of a process that has imported everything.
OPENED_IN_FORKS = """
import os, sys
from newscrawl.storage import open_database
open_database(sys.argv[1]).close()
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        open_database(sys.argv[2]).close()
        os._exit(0)
    children.append(child)
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""


def test_new_file_can_be_opened_concurrently(file):
    urls = [f"sqlite:///{path}" for path in (file.with_name("another.sqlite"), file)]
    done = subprocess.run(
        [sys.executable, "-c", OPENED_IN_FORKS, *urls], capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["0"] * 4, "")
    assert file.exists()


# --- Versions ---

NEXT = f"{int(migrations.HEAD) + 1:04}"


def test_postgresql_without_tables_names_the_upgrade_command(postgres_url):
    assert message(postgres_url).endswith("no tables of newscrawl yet: newscrawl db upgrade")


@pytest.mark.parametrize(
    ("version", "says"),
    [(migrations.FORMER_LAST, "newscrawl db upgrade"), (NEXT, "made by a newer newscrawl")],
    ids=["older", "newer"],
)
def test_other_schema_is_refused_with_advice(database_url, version, says):
    upgrade_database(database_url)
    set_schema_version(database_url, version)
    assert says in message(database_url)


def test_newer_schema_is_not_reported_as_up_to_date(database_url):
    upgrade_database(database_url)
    set_schema_version(database_url, NEXT)
    with pytest.raises(StorageError, match="made by a newer newscrawl"):
        upgrade_database(database_url)


# --- Locks ---


@pytest.fixture
def locked(file: Path) -> Iterator[sqlite3.Connection]:
    """Another process's write transaction, as far as SQLite can tell."""
    open_database(f"sqlite:///{file}").close()
    writer = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    yield writer
    writer.close()


def test_locked_database_is_a_clear_error(file, locked, monkeypatch):
    monkeypatch.setattr(database, "RETRY_PAUSES", (0.01, 0.01))
    with (
        open_database(f"sqlite:///{file}?timeout=0.05") as opened,
        pytest.raises(StorageError, match=r"is still locked by another process: end the"),
    ):
        opened.register_source("ft", "FT", "gb", "en", "https://ft.example/")


def test_released_lock_is_waited_for(file, locked, monkeypatch):
    monkeypatch.setattr(database, "RETRY_PAUSES", ())
    with open_database(f"sqlite:///{file}") as opened:
        release = threading.Timer(2.5, locked.rollback)
        release.start()
        assert register(opened) == 1
        release.join()


def test_ending_process_does_not_wait_for_a_lock(file, locked):
    assert locked.in_transaction
    with open_database(f"sqlite:///{file}") as opened:
        opened.lock_wait.is_closing = lambda: True
        for _ in range(20):  # all of them together wait for seconds, and not each
            with pytest.raises(StorageError, match=r"is still locked by another process"):
                register(opened)
        assert opened.lock_wait.is_spent


def test_invalid_wait_setting_is_refused(file):
    with pytest.raises(StorageError, match=r"not a number of seconds in the database URL: timeou"):
        open_database(f"sqlite:///{file}?timeout=soon")


def test_readers_do_not_wait_for_a_writer(file, locked):
    with open_database(f"sqlite:///{file}?timeout=0") as opened:
        assert known_urls(opened, ["https://ft.example/a"]) == set()


def test_closed_connection_is_reopened(postgres_url):
    upgrade_database(postgres_url)
    with open_database(postgres_url) as opened:
        register(opened)
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert known_urls(opened, ["https://ft.example/a"]) == set()


def test_deleted_file_is_named_and_not_recreated(file):
    with open_database(f"sqlite:///{file}") as opened:
        opened.close()  # as a pool does with connections that it doesn't need
        file.unlink()
        with pytest.raises(StorageError, match=r"news\.sqlite is missing: was it moved\?"):
            queries.facts(opened)
        assert not file.exists()


def test_reader_waits_for_a_restarted_server(postgres_server, postgres_url, monkeypatch):
    upgrade_database(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        name = connection.info.dbname
    waited = []
    with (
        open_database(postgres_url) as opened,
        psycopg.connect(postgres_server, autocommit=True) as admin,
    ):
        register(opened)
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        opened.close()  # the next connection is a new one

        def wait(seconds: float) -> None:
            waited.append(seconds)
            admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

        monkeypatch.setattr(database.time, "sleep", wait)
        assert [*queries.source_names(opened)] == ["ft"]
    assert len(waited) == 1


def test_size_on_disk_grows_with_the_articles(database):
    before = database.size_on_disk()
    run = register(database)
    texts = [document(f"{n}", text=f"{n} {LONG * 20}") for n in range(50)]
    save_documents(database, texts, run)
    assert database.size_on_disk() > before + 50 * len(LONG)
