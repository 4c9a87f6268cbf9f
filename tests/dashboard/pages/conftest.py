"""An empty database, and a client that asks for the pages over it."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import pytest
from starlette.testclient import TestClient

from newscrawl.dashboard import create_app
from newscrawl.storage import Database, open_database
from tests.dashboards import config_of


@pytest.fixture
def file(tmp_path: Path, sqlite_template: Path) -> Path:
    """An empty database."""
    return copyfile(sqlite_template, tmp_path / "news.sqlite")


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{file}") as opened:
        yield opened


@pytest.fixture
def client(file: Path) -> Iterator[TestClient]:
    app = create_app(config_of(file))
    with TestClient(app, base_url="http://127.0.0.1:8300", raise_server_exceptions=False) as opened:
        yield opened
