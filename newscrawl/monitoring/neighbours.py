"""Which sources share a host: a site must not be asked by two crawls at a time."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from newscrawl.sources import Source


def neighbours(sources: Iterable[Source]) -> Mapping[str, frozenset[str]]:
    """For each source that shares a host with others, the slugs of those others."""
    at_host: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        for url in (source.home, *source.feeds, *source.sitemaps, *source.news_sitemaps):
            at_host[urlsplit(url).netloc.removeprefix("www.")].add(source.slug)
    found: dict[str, set[str]] = defaultdict(set)
    for slugs in at_host.values():
        for slug in slugs:
            found[slug] |= slugs - {slug}
    return {slug: frozenset(others) for slug, others in found.items() if others}
