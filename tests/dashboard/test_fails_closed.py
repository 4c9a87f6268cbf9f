"""A dashboard with named tokens alone, whose database can't be read: nobody is let in."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Semaphore, Thread
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest
from starlette.testclient import TestClient

from newscrawl.dashboard import create_app
from newscrawl.dashboard.rendering import Store
from newscrawl.storage import Database, StorageError, open_database
from newscrawl.storage.tokens import add_token
from tests.dashboards import NOW, config_of, serving

BASE = "http://127.0.0.1:8300"
PATHS = ("/", "/api/facts", "/search?q=line", "/registry", "/article?url=x", "/nowhere")
STATIC = "/static/app.js"

Moment = Callable[[Path], Iterator[None]]


def missing(file: Path) -> Iterator[None]:
    file.rename(file.with_name("elsewhere"))
    yield
    file.with_name("elsewhere").rename(file)


def in_the_place(file: Path, fake: Callable[[Path], object]) -> Iterator[None]:
    """Put something else in the place of the file, without its additional files, for a while."""
    others = [file.with_name(f"{file.name}{end}") for end in ("", "-wal", "-shm")]
    moved = [(one, one.with_name(f"moved-{one.name}")) for one in others if one.exists()]
    for one, elsewhere in moved:
        one.rename(elsewhere)
    fake(file)
    yield
    for one in others:
        shutil.rmtree(one) if one.is_dir() else one.unlink(missing_ok=True)
    for one, elsewhere in moved:
        elsewhere.rename(one)


def empty(file: Path) -> Iterator[None]:
    yield from in_the_place(file, Path.touch)


def garbage(file: Path) -> Iterator[None]:
    yield from in_the_place(file, lambda one: one.write_bytes(os.urandom(8192)))


def folder(file: Path) -> Iterator[None]:
    yield from in_the_place(file, Path.mkdir)


def loop(file: Path) -> Iterator[None]:
    yield from in_the_place(file, lambda one: one.symlink_to(one))


def truncated(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = file.read_bytes()
    yield from in_the_place(file, lambda one: one.write_bytes(whole[: len(whole) // 4]))


def without_tokens_table(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE tokens RENAME TO others")
        yield
        connection.execute("ALTER TABLE others RENAME TO tokens")


def older(file: Path) -> Iterator[None]:
    def make(copy: Path) -> None:
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("CREATE TABLE alembic_version (version_num)")
            connection.execute("INSERT INTO alembic_version VALUES ('0020')")
            connection.commit()

    yield from in_the_place(file, make)


def locked(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


ALWAYS: tuple[Moment, ...] = (
    *(missing, empty, garbage, folder, loop, truncated, without_tokens_table, older),
)
# A file that we have open can't be locked against reading.
SQLITE = [(one, True) for one in ALWAYS] + [(one, False) for one in (*ALWAYS, locked)]


@contextmanager
def dashboard(url: str) -> Iterator[tuple[TestClient, str]]:
    """A dashboard that has one named token, and this token."""
    with open_database(url) as database:
        secret = add_token(database, "ann", "edit")
    app = create_app(config_of(Path("unused"), database_url=url))
    with TestClient(app, base_url=BASE, follow_redirects=False) as client:
        yield client, secret


def statuses(client: TestClient, secret: str = "") -> set[int]:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    read = {client.get(path, headers=headers).status_code for path in PATHS}
    return read | {client.post("/registry/save", headers=headers, data={}).status_code}


def check_closed(client: TestClient, secret: str) -> None:
    """Nobody is let in, and what needs no database is answered."""
    assert statuses(client) == {503}
    assert statuses(client, secret) == {503}
    assert statuses(client, "nc_wrong") == {503}
    answer = client.get("/")
    assert answer.headers["Retry-After"]
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert client.get(STATIC).status_code == 200
    page = client.get("/sign-in")
    assert page.status_code == 200
    form = {"token": secret, "seal": page.text.split('name="seal" value="')[1].split('"')[0]}
    signed = client.post("/sign-in", data=form)
    assert signed.status_code == 503
    assert "Set-Cookie" not in signed.headers


@pytest.mark.parametrize(("moment", "asked_before"), SQLITE)
def test_unreadable_file_lets_nobody_in(tmp_path, sqlite_template, moment, asked_before):
    file = Path(shutil.copyfile(sqlite_template, tmp_path / "news.sqlite"))
    with dashboard(f"sqlite:///{file}?timeout=0.05") as (client, secret):
        if asked_before:
            assert client.get("/").status_code == 303
        with contextmanager(moment)(file):
            check_closed(client, secret)
        assert client.get("/").status_code == 303
        assert client.get("/", headers={"Authorization": f"Bearer {secret}"}).status_code == 200


@pytest.mark.parametrize("tables_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("fault", ["no connections", "no tokens table"])
def test_unreadable_server_lets_nobody_in(database_url, postgres_server, fault, monkeypatch):
    monkeypatch.setattr("newscrawl.storage.database.RETRY_PAUSES", (0.01,))
    name = urlsplit(database_url).path[1:]
    stop = [f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"]
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    stop += [f"{ended} WHERE datname = '{name}'"]
    start = [f"ALTER DATABASE {name} ALLOW_CONNECTIONS true"]
    server = postgres_server
    if fault == "no tokens table":
        stop, start = ["ALTER TABLE tokens RENAME TO o"], ["ALTER TABLE o RENAME TO tokens"]
        server = database_url
    with (
        dashboard(database_url) as (client, secret),
        psycopg.connect(server, autocommit=True) as connection,
    ):
        assert client.get("/").status_code == 303
        for statement in stop:
            connection.execute(statement.encode())
        check_closed(client, secret)
        for statement in start:
            connection.execute(statement.encode())
        assert client.get("/").status_code == 303
        assert client.get("/", headers={"Authorization": f"Bearer {secret}"}).status_code == 200


def test_file_that_is_back_for_the_page_lets_nobody_in(tmp_path, sqlite_template):
    file = Path(shutil.copyfile(sqlite_template, tmp_path / "news.sqlite"))
    elsewhere = tmp_path / "elsewhere"

    def come_back() -> object:
        # A page asks for the time after its visitor was identified, and before it reads.
        if elsewhere.exists():
            elsewhere.rename(file)
        return NOW

    with open_database(f"sqlite:///{file}") as database:
        add_token(database, "ann", "read")
    app = create_app(config_of(file, clock=come_back))
    with TestClient(app, base_url=BASE, follow_redirects=False) as client:
        file.rename(elsewhere)
        assert client.get("/").status_code == 503


def test_locked_file_holds_no_request(tmp_path, sqlite_template):
    file = Path(shutil.copyfile(sqlite_template, tmp_path / "news.sqlite"))
    with serving(config_of(file)) as base, httpx2.Client(base_url=base, timeout=120) as client:
        with contextmanager(locked)(file), ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(client.get, ["/", "/api/facts", "/search"] * 4))
        assert {answer.status_code for answer in answers} == {503}
        assert all("locked" in answer.text for answer in answers)
        assert client.get("/api/facts").status_code == 200


def test_requests_share_the_failure_of_an_opening(tmp_path, sqlite_template, monkeypatch):
    file = Path(shutil.copyfile(sqlite_template, tmp_path / "news.sqlite"))
    store, requests = Store(f"sqlite:///{file}"), Semaphore(0)
    openings: list[Mapping[str, Any]] = []

    def arrive() -> float:
        moment = time.monotonic()
        requests.release()
        return moment

    def open_or_fail(url: str, **options: Any) -> Database:
        openings.append(options)
        if len(openings) > 1:
            return open_database(url, **options)
        assert all(requests.acquire(timeout=60) for _ in range(6))
        raise StorageError("is locked")

    def read(_: int) -> str:
        try:
            with store.reading() as database:
                return database.dialect
        except StorageError as error:
            return str(error)

    monkeypatch.setattr("newscrawl.dashboard.rendering.open_database", open_or_fail)
    monkeypatch.setattr("newscrawl.dashboard.rendering.time", SimpleNamespace(monotonic=arrive))
    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(read, range(6))) == {"is locked"}
    assert len(openings) == 1
    assert read(0) == "sqlite"
    store.close()


def test_file_that_comes_and_goes_lets_nobody_in(tmp_path, sqlite_template):
    file = Path(shutil.copyfile(sqlite_template, tmp_path / "news.sqlite"))
    elsewhere, done = tmp_path / "elsewhere", Event()

    def move() -> None:
        while not done.wait(0.001):
            file.rename(elsewhere)
            done.wait(0.001)
            elsewhere.rename(file)

    with open_database(f"sqlite:///{file}") as database:
        add_token(database, "ann", "read")
    moving = Thread(target=move)
    with serving(config_of(file)) as base, httpx2.Client(base_url=base, timeout=60) as client:
        moving.start()
        try:
            codes = {client.get("/api/facts").status_code for _ in range(300)}
        finally:
            done.set()
            moving.join()
    assert codes <= {401, 503}
    assert codes
