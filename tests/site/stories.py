"""A site of twelve stories that is crawled slowly, so that a crawl can be interrupted."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.site.faults import always
from tests.site.server import SiteServer

PATHS = tuple(f"/story/{number}" for number in range(12))


def twelve_stories() -> SiteServer:
    site = SiteServer()
    site.routes["/robots.txt"] = always("User-agent: *\nCrawl-delay: 0.1\n")
    site.serve_stories(PATHS)
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
