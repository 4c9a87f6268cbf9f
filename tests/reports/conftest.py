"""The news of two months, made once for all tests of reports."""

from pathlib import Path

import pytest

from newscrawl.storage import open_database
from tests.dashboards import make_news


@pytest.fixture(scope="session")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the papers' news, one of them hostile."""
    file = tmp_path_factory.mktemp("season") / "news.sqlite"
    with open_database(f"sqlite:///{file}") as opened:
        make_news(opened, days=61, hostile=True)
    return file
