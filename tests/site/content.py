"""The pages of the site, what is true of each, and the feed and sitemaps that list them."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

PAGES = Path(__file__).parent / "pages"
# The day of the process's start: the site's pages don't change at midnight.
_TODAY = datetime.now(UTC).replace(hour=0, minute=5, second=0, microsecond=0)
_PLACEHOLDER = re.compile(r"\{\{(site|day:(\d+))\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is true of a page: `<name>.json` beside `<name>.html`.

    `companies` are named by the article itself, `boilerplate` only by what stands around it.
    `listed` says where the page is listed: feed, news (sitemap), sitemap, or nowhere.
    `outcome` is what a crawl makes of it: article, paywall, disallowed, duplicate or dropped.
    """

    path: str
    title: str
    language: str
    days_ago: int
    listed: tuple[str, ...]
    outcome: str
    standfirst: str = ""
    companies: tuple[str, ...] = ()
    boilerplate: tuple[str, ...] = ()
    charset: str = "utf-8"

    @property
    def moment(self) -> datetime:
        """When the page says that it was published."""
        return _morning(self.days_ago)


@cache
def facts() -> tuple[Facts, ...]:
    """Return the facts of all pages, by path."""
    read = [json.loads(file.read_text(encoding="utf-8")) for file in PAGES.glob("*.json")]
    for page in read:
        for name in ("listed", "companies", "boilerplate"):
            page[name] = tuple(page.get(name, ()))
    return tuple(sorted((Facts(**page) for page in read), key=lambda page: page.path))


def page_bytes(page: Facts, site: str) -> bytes:
    """Return a page as it is sent, in its own charset; `site` is the server's URL."""
    text = (PAGES / f"{page.path.strip('/').replace('/', '_')}").read_text(encoding="utf-8")
    return _filled(text, site).encode(page.charset)


def robots(site: str) -> bytes:
    """Return robots.txt: one folder is closed, and visitors are asked to take their time."""
    lines = (
        "User-agent: *",
        "Disallow: /members/",
        "Crawl-delay: 0.2",
        f"Sitemap: {site}/sitemap.xml",
    )
    return "\n".join((*lines, "")).encode()


def feed(site: str) -> bytes:
    """Return the RSS feed."""
    items = "".join(
        f"<item><title>{escape(page.title)}</title><link>{_link(site, page)}</link>"
        f"<description>{escape(f'<p>{page.standfirst}</p>')}</description>"
        f"<pubDate>{format_datetime(page.moment)}</pubDate></item>\n"
        for page in _listed("feed")
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>'
        f"<title>Harbour Courier</title><link>{site}/</link>"
        "<description>Fictional news for the newscrawl demo</description>\n"
        f"{items}</channel></rss>\n"
    ).encode()


def sitemap(site: str) -> bytes:
    """Return the index of sitemaps."""
    return _xml(
        "sitemapindex",
        (f"<sitemap><loc>{site}/sitemap-{name}.xml</loc></sitemap>" for name in ("news", "pages")),
    )


def sitemap_pages(site: str) -> bytes:
    """Return the ordinary sitemap."""
    return _xml(
        "urlset",
        (
            f"<url><loc>{site}{page.path}</loc><lastmod>{page.moment:%Y-%m-%d}</lastmod></url>"
            for page in _listed("sitemap")
        ),
    )


def sitemap_news(site: str) -> bytes:
    """Return the news sitemap."""
    return _xml(
        "urlset",
        (
            f"<url><loc>{site}{page.path}</loc><news:news><news:publication>"
            f"<news:name>Harbour Courier</news:name><news:language>{page.language}</news:language>"
            f"</news:publication><news:publication_date>{page.moment.isoformat()}"
            f"</news:publication_date><news:title>{escape(page.title)}</news:title></news:news></url>"
            for page in _listed("news")
        ),
    )


def _listed(where: str) -> list[Facts]:
    return sorted(
        (page for page in facts() if where in page.listed), key=lambda page: page.days_ago
    )


def _link(site: str, page: Facts) -> str:
    return escape(f"{site}{page.path}?utm_source=rss&utm_medium=feed")


def _xml(root: str, elements: Iterable[str]) -> bytes:
    schemas = (
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    )
    lines = ('<?xml version="1.0" encoding="utf-8"?>', f"<{root} {schemas}>", *elements)
    return "\n".join((*lines, f"</{root}>\n")).encode()


def _filled(text: str, site: str) -> str:
    def value(found: re.Match[str]) -> str:
        return site if found[1] == "site" else _morning(int(found[2])).isoformat()

    return _PLACEHOLDER.sub(value, text)


def _morning(days_ago: int) -> datetime:
    return _TODAY - timedelta(days=days_ago)
