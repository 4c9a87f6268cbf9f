"""The same crawl into PostgreSQL."""

from pathlib import Path

import psycopg
import pytest

from newscrawl.storage import upgrade_database
from tests.site.crawling import crawl
from tests.site.faults import Answer, listing, story
from tests.site.server import SiteServer

PATHS = ("/one", "/two", "/three")


def three_stories() -> SiteServer:
    site = SiteServer()
    site.routes["/robots.txt"] = lambda _: Answer(status=404)
    site.routes["/feed.xml"] = lambda _: Answer(
        body=listing(site.url, PATHS), kind="application/xml"
    )
    for path in PATHS:
        site.routes[path] = lambda _, path=path: Answer(body=story(f"About {path}", "Siemens"))
    return site


@pytest.mark.thorough
def test_crawl_stores_in_postgresql(postgres_url: str, tmp_path: Path) -> None:
    by_url = {"NEWSCRAWL_DATABASE_URL": postgres_url}
    none = tmp_path / "none.sqlite"
    with three_stories() as site:
        feeds = f"feeds={site.url}/feed.xml"
        early = crawl("ft", feeds, database=none, environment=by_url)
        upgrade_database(postgres_url)
        first = crawl("ft", feeds, database=none, environment=by_url)
        second = crawl("ft", feeds, database=none, environment=by_url)
    assert early.code == 2
    assert "has no tables of newscrawl yet: newscrawl db upgrade" in early.output
    assert first.summary == (
        "ft: 3 found, 0 known before, 3 fetched, 3 new, 0 revised, 0 unchanged, "
        "9 mentions; state ok"
    )
    assert "0 fetched, 0 new" in second.summary
    assert second.summary.endswith("1 feeds and sitemaps unchanged, 0 mentions; state ok")
    with psycopg.connect(postgres_url) as connection:
        urls = connection.execute("SELECT url FROM articles ORDER BY id").fetchall()
        (mentions,) = connection.execute("SELECT count(*) FROM mentions").fetchone() or (0,)
    assert {url.removeprefix(site.url) for (url,) in urls} == set(PATHS)
    assert mentions == 9
    assert not none.exists()
