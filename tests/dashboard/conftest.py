"""Fixtures of the tests of the dashboard: a browser, its pages, and the article to correct."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browsers import Watched, chromium
from tests.dashboards import ARTICLE_COMPANIES, dashboard

Look = Callable[..., Watched]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard with a hostile paper among the others."""
    with dashboard(tmp_path_factory.mktemp("dashboard"), days=40, hostile=True) as url:
        yield url


@pytest.fixture
def look(browser: Browser, base: str) -> Iterator[Look]:
    """Opens pages, and sees to it that nothing was said or asked of another host."""
    watched: list[Watched] = []

    def new(path: str, width: int = 1280, **settings: Any) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 860}, **settings)
        watched.append(Watched(context.new_page(), base))
        watched[-1].open(path)
        return watched[-1]

    yield new
    for one in watched:
        assert one.said == []
        assert one.elsewhere == []
        one.page.context.close()


@pytest.fixture
def database_url(tables_url: str) -> str:
    """The URL of a new database, which has its tables here."""
    return tables_url


@pytest.fixture
def companies(tmp_path: Path) -> Path:
    path = tmp_path / "companies.toml"
    path.write_text(ARTICLE_COMPANIES, "utf-8")
    return path
