"""A world of news sites on 127.0.0.0/8: the content of each address, for server and benchmark.

Each site has an address of its own, a feed of its articles, and a robots.txt. The articles are
real pages, of the development corpus if it is available, else those of tests/pages; each is served
at several addresses, with a number in its paragraphs, so that no two of them are the same article.
"""

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cached_property
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

OWN_PAGES = Path(__file__).parents[2] / "tests" / "pages"
SETS = ("daniel", "fundus", "trafilatura", "wcxb")
# One article in a hundred each, as on real sites.
FAULTS: dict[int, "Temper"] = {17: "missing", 34: "broken", 51: "moved", 68: "slow", 85: "cut"}
SLOW_SECONDS = 1.0

Temper = Literal["fine", "missing", "broken", "moved", "slow", "cut"]


@dataclass(frozen=True, slots=True)
class Place:
    """The article at an address, and how it is served."""

    number: int
    temper: Temper


@dataclass(frozen=True)
class World:
    """`sites` sites with `articles` articles together, all on one port."""

    sites: int
    articles: int
    port: int
    corpus: Path | None = None

    def host(self, site: int) -> str:
        """Return the address of a site: 127.0.1.1 is the first."""
        return f"127.0.{1 + site // 250}.{1 + site % 250}"

    def home(self, site: int) -> str:
        return f"http://{self.host(site)}:{self.port}"

    def numbers(self, site: int) -> range:
        """Return the articles of a site."""
        return range(site, self.articles, self.sites)

    def path(self, number: int) -> str:
        return f"/news/2026/harbour-report-number-{number}.html"

    def urls(self) -> Iterator[str]:
        """Yield the address of each article, the sites in turn."""
        for number in range(self.articles):
            yield self.home(number % self.sites) + self.path(number)

    def place(self, path: str) -> Place | None:
        """Return the article at a path, which no other site has."""
        text = path.rpartition("-")[2].partition(".")[0]
        if not path.startswith("/news/") or not text.isdigit() or int(text) >= self.articles:
            return None
        number = int(text)
        temper = FAULTS.get(number % 100, "fine")
        if temper == "moved" and path.startswith("/news/moved/"):
            temper = "fine"
        return Place(number, temper)

    def page(self, number: int) -> bytes:
        """Return the page of an article."""
        page = self._pages[number % len(self._pages)]
        return page.replace(b"</p>", b" Report %d.</p>" % number)

    def feed(self, site: int) -> bytes:
        """Return the feed of a site, the same at each call on one day."""
        noon = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        items = "".join(
            f"<item><title>Harbour report number {number}</title>"
            f"<link>{escape(self.home(site) + self.path(number))}</link>"
            f"<pubDate>{format_datetime(noon - timedelta(minutes=number))}</pubDate></item>\n"
            for number in self.numbers(site)
        )
        return f'<rss version="2.0"><channel>\n{items}</channel></rss>'.encode()

    @cached_property
    def _pages(self) -> list[bytes]:
        files = sorted(_files(self.corpus), key=lambda file: _shuffle_words(file.name))
        return [
            (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
            for file in files[: self.articles]
        ]


def _files(corpus: Path | None) -> list[Path]:
    if corpus is None:
        return list(OWN_PAGES.glob("*.html"))
    return [file for name in SETS for file in (corpus / name / "pages").glob("*.html.gz")]


def _shuffle_words(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
