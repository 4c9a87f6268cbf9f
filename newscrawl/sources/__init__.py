"""The sources of news: the registry of sites, their feeds and sitemaps, canonical URLs."""

from newscrawl.sources.feeds import Entry, Feed, FeedError, parse_feed
from newscrawl.sources.registry import Source, SourceError, load_sources, own_file
from newscrawl.sources.sitemaps import Sitemap, SitemapError, parse_sitemap
from newscrawl.sources.urls import UrlError, canonical_url, site_name, web_url

__all__ = [
    "Entry",
    "Feed",
    "FeedError",
    "Sitemap",
    "SitemapError",
    "Source",
    "SourceError",
    "UrlError",
    "canonical_url",
    "load_sources",
    "own_file",
    "parse_feed",
    "parse_sitemap",
    "site_name",
    "web_url",
]
