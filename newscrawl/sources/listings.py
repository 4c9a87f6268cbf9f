"""Feeds and sitemaps under one roof: what lists pages, told apart by its bytes."""

from newscrawl.sources.feeds import Feed, parse_feed
from newscrawl.sources.sitemaps import Sitemap, looks_like_sitemap, parse_sitemap, unpack


def read_listing(body: bytes, url: str, content_type: str | None = None) -> Feed | Sitemap:
    """Read a feed or sitemap, gzipped or not; raises FeedError or SitemapError."""
    text = unpack(body)
    if looks_like_sitemap(text):
        return parse_sitemap(text, url)
    return parse_feed(text, url, content_type=content_type)
