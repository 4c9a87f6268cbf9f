"""What the pages say of what is missing or fails, and of a database that comes and goes."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from shutil import copyfile

import pytest
from starlette.testclient import TestClient

from newscrawl.dashboard import Config, create_app
from newscrawl.dashboard.security import POLICY
from newscrawl.storage import open_database
from tests.dashboards import TODAY, config_of, save_past as save
from tests.worlds import body, headline

# What is not there -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/nowhere", 404),
        ("/company/Nobody", 404),
        ("/article?url=https://nowhere.example/", 404),
        ("/article", 422),
        ("/?days=many", 422),
        ("/company/Siemens?since=2026-11-05&until=2026-11-01", 422),
        ("/search?q=%22%22", 200),
        ("/registry/edit", 404),
        ("/article/explanation?url=https://nowhere.example/", 404),
    ],
)
def test_wrong_address_is_answered_with_advice(client, path, code):
    answer = client.get(path)
    assert answer.status_code == code
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/nowhere", "There is no page at this address"),
        ("/company/Siemans", "Did you mean Siemens?"),
        ("/company/Siemens%20AG", "Did you mean Siemens?"),
        ("/company/Zzyzx", "was ever mentioned in this database.</p>"),
    ],
)
def test_missing_page_is_answered_with_advice(client, database, path, says):
    save(database, 0, headline("Siemens"))
    answer = client.get(path)
    assert answer.status_code == 404
    assert says in answer.text


def test_registered_company_without_articles_has_a_page(client, database):
    save(database, 3, headline("Siemens"))
    page = client.get("/company/Boeing").text
    since = TODAY - timedelta(days=3)
    assert f"No article names Boeing since {since.day} {since:%b %Y}, in 1 source read." in page
    assert ">Watch Boeing</button>" in page
    assert client.get("/proof?company=Boeing&counted=articles").status_code == 200


def test_unexpected_error_reveals_nothing(client, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret of the inside")

    monkeypatch.setattr("newscrawl.storage.queries.overview", broken)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.headers["Content-Security-Policy"] == POLICY


# A database that comes and goes ------------------------------------------------------------------


def test_missing_database_is_reported_and_found_again(client, file):
    assert client.get("/").status_code == 200
    away = file.rename(file.with_name("away.sqlite"))
    gone = client.get("/sources")
    assert gone.status_code == 503
    assert gone.headers["Retry-After"] == "5"
    assert '<meta http-equiv="refresh" content="5">' in gone.text
    assert "no database at" in gone.text
    assert client.get("/api/facts").json()["detail"].startswith("no database at")
    away.rename(file)
    assert client.get("/sources").status_code == 200


def test_replaced_database_file_is_read(client, file, sqlite_template):
    assert "Siemens" not in client.get("/").text
    other = copyfile(sqlite_template, file.with_name("other.sqlite"))
    with open_database(f"sqlite:///{other}") as database:
        save(database, 0, headline("Siemens"))
    for leftover in file.parent.glob("news.sqlite-*"):
        leftover.unlink()
    other.replace(file)
    assert "Siemens" in client.get("/").text


def test_locked_database_is_reported_and_read_again_when_it_is_free(file):
    config = config_of(file)
    app = create_app(replace(config, database_url=f"{config.database_url}?timeout=0.1"))
    with (
        TestClient(app, base_url="http://localhost") as client,
        closing(sqlite3.connect(file)) as other,
    ):
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        locked = client.get("/")
        assert locked.status_code == 503
        assert "locked by another process" in locked.text
        other.rollback()
        other.execute("PRAGMA locking_mode = NORMAL")
        other.execute("SELECT count(*) FROM sources").fetchone()
        assert client.get("/").status_code == 200


def test_older_schema_is_reported_with_the_upgrade_command(client, file):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0031'")
    answer = client.get("/")
    assert answer.status_code == 503
    assert "newscrawl db upgrade" in answer.text


# Both kinds of database -----------------------------------------------------------------------


def test_every_page_works_on_both_kinds_of_database(database_url, tmp_path):
    with open_database(database_url) as database:
        save(database, 1, headline("Siemens"), body("Bosch", 8))
    config = Config(database_url=database_url, companies=tmp_path / "mine.toml")
    paths = (
        "/",
        "/company/Siemens?split=source&count=stories",
        "/compare?company=Siemens&company=Bosch",
        "/article?url=https://ft.example/1-2-Siemens",
        "/sources",
        "/search?q=siemens",
        "/registry",
        "/api/counts?company=%ff%00",
    )
    app = create_app(config)
    with TestClient(app, base_url="http://localhost") as client:
        codes = [client.get(path).status_code for path in paths]
    assert codes == [200] * 7 + [422]
