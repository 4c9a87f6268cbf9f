"""A site of twelve stories that is crawled slowly, so that a crawl can be interrupted."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.site.faults import Answer, listing, story
from tests.site.server import SiteServer

PATHS = tuple(f"/story/{number}" for number in range(12))


def twelve_stories() -> SiteServer:
    site = SiteServer()
    site.routes["/robots.txt"] = lambda _: Answer(body=b"User-agent: *\nCrawl-delay: 0.1\n")
    site.routes["/feed.xml"] = lambda _: Answer(
        body=listing(site.url, PATHS), kind="application/xml"
    )
    for path in PATHS:
        site.routes[path] = lambda _, path=path: Answer(body=story(f"About {path}", "Siemens"))
    return site


def stored(database: Path) -> int:
    try:
        with (
            closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection,
            connection,
        ):
            (count,) = connection.execute("SELECT count(*) FROM articles").fetchone()
    except sqlite3.OperationalError:
        return 0
    connection.close()
    return int(count)
