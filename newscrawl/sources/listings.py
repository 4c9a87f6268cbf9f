"""Feeds and sitemaps under one roof: what lists pages, told apart by its bytes."""

from collections.abc import Callable
from typing import TypeVar

from newscrawl.sources.connection import FetchError
from newscrawl.sources.feeds import Feed, parse_feed
from newscrawl.sources.sitemaps import Sitemap, looks_like_sitemap, parse_sitemap, unpack
from newscrawl.workers import Limits, WorkerProcess, WorkExceededError

Result = TypeVar("Result")

# Ours: home pages of a megabyte are read in a tenth of a second and 130 MB.
_LIMITS = Limits(seconds=20, megabytes=768, patience=80.0)


def read_listing(body: bytes, url: str, content_type: str | None = None) -> Feed | Sitemap:
    """Read a feed or sitemap, gzipped or not; raises FeedError or SitemapError."""
    text = unpack(body)
    if looks_like_sitemap(text):
        return parse_sitemap(text, url)
    return parse_feed(text, url, content_type=content_type)


def read_apart(
    read: Callable[[bytes, str, str | None], Result], body: bytes, url: str, kind: str | None
) -> Result:
    """Return what a function reads in a page, in a process of its own: HTML may be such that a
    parser takes hours for it.

    Raises FetchError where it takes too long or too much memory.
    """
    worker = WorkerProcess(_LIMITS)
    try:
        return worker.run(read, body, url, kind)
    except WorkExceededError as error:
        raise FetchError(f"can't read {url}: it {error}") from error
    finally:
        worker.close()
