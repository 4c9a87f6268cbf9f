"""A site of twelve stories that is crawled slowly, so that a crawl can be interrupted."""

import sqlite3
from pathlib import Path

from tests.site.crawling import rows_of
from tests.site.faults import always
from tests.site.server import SiteServer

PATHS = tuple(f"/story/{number}" for number in range(12))


def twelve_stories() -> SiteServer:
    site = SiteServer()
    site.routes["/robots.txt"] = always("User-agent: *\nCrawl-delay: 0.1\n")
    site.serve_stories(PATHS)
    return site


def stored(database: Path) -> int:
    """Return the number of articles; there are no tables before a crawl has created them."""
    try:
        return len(rows_of(database, "SELECT id FROM articles")) if database.exists() else 0
    except sqlite3.OperationalError:
        return 0
