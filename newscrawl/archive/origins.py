"""Which source an archived page belongs to: a registered one, or one of the host's own name."""

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

import courlan

from newscrawl.items import Origin
from newscrawl.sources import Source, site_name
from newscrawl.sources.slugs import host_slug

# What ISO 3166 and ISO 639 have for a country and a language that nobody knows.
_NO_COUNTRY = "zz"
_NO_LANGUAGE = "und"


class OriginFinder:
    """Finds the source of a URL: by its host, else by the domain that the host belongs to."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources: dict[str, Source] = {}
        by_domain: dict[str, Source] = {}
        # Of several sources on one host the one at its front page has the host's other pages.
        for source in sorted(sources, key=lambda one: len(urlsplit(one.home).path)):
            for host in _hosts(source):
                self._sources.setdefault(host, source)
            if domain := courlan.extract_domain(source.home):
                by_domain.setdefault(domain, source)
        self._by_domain = by_domain

    def source(self, url: str) -> Source | None:
        """The registered source of a URL."""
        found = self._sources.get(_host(url))
        if found is None:
            found = self._by_domain.get(courlan.extract_domain(url) or "")
        return found

    def origin(self, url: str, language: str | None = None) -> Origin:
        """The source of a URL, registered or not; `language` is that of the page. Raises UrlError
        where its host can be no source's name."""
        source = self.source(url)
        if source is None:
            host = host_slug(url)
            parts = urlsplit(url)
            return Origin(
                slug=host,
                name=host,
                country=_NO_COUNTRY,
                language=language or _NO_LANGUAGE,
                home=f"{parts.scheme}://{parts.netloc}/",
            )
        return Origin(
            slug=source.slug,
            name=source.name,
            country=source.country,
            language=source.languages[0],
            home=source.home,
        )


def _hosts(source: Source) -> Iterator[str]:
    yield _host(source.home)
    name = site_name(source.home)
    for url in (*source.feeds, *source.sitemaps, *source.news_sitemaps):
        # Not those of services that serve many sites' feeds.
        if name and site_name(url) == name:
            yield _host(url)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
