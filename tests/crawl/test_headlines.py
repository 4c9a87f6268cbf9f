"""A headline that a feed tells after a sitemap named the page is not lost, whatever came first."""

import threading
from collections.abc import Callable

import pytest

from tests.site.crawling import Crawl
from tests.site.faults import Answer, listing
from tests.site.server import SiteServer
from tests.thorough import first_is_quick
from tests.walls.pages import CONSENT

PAGE = "/story"
XML = "application/xml"
# How a page is kept from us, and what robots.txt says.
KEPT: dict[str, tuple[Answer, bytes]] = {
    "payment": (Answer(status=402, body=b"<h1>Subscribe</h1>"), b""),
    "refused": (Answer(status=403, body=b"<h1>No</h1>"), b""),
    "robots": (Answer(status=200), b"User-agent: *\nDisallow: /story\n"),
    "consent": (Answer(body=CONSENT[0].html.encode()), b""),
}


class Site(SiteServer):
    """A sitemap that names a page, and a feed that tells its headline; `wait_for` holds back the
    answers of some paths until others were asked for."""

    def __init__(self, kept: str, wait_for: dict[str, str] | None = None) -> None:
        super().__init__()
        answer, robots = KEPT[kept]
        self._before = wait_for or {}
        self._asked: dict[str, threading.Event] = {
            path: threading.Event() for path in (PAGE, "/feed.xml", "/map.xml", "/last.xml")
        }
        self._add("/robots.txt", lambda: Answer(body=robots, kind="text/plain"))
        self._add(PAGE, lambda: answer)
        self._add("/map.xml", lambda: Answer(body=self._map(), kind=XML))
        self._add("/feed.xml", lambda: Answer(body=listing(self.url, (PAGE,)), kind=XML))

    def _add(self, path: str, answer: Callable[[], Answer]) -> None:
        def give(_visit: int) -> Answer:
            if path in self._asked:
                self._asked[path].set()
            if before := self._before.get(path):
                self._asked[before].wait(30)
                # What was answered first is to be dealt with first, too.
                return Answer(**{**_fields(answer()), "delay": 0.5})
            return answer()

        self.routes[path] = give

    def _map(self) -> bytes:
        return f"<urlset><url><loc>{self.url}{PAGE}</loc></url></urlset>".encode()


def _fields(answer: Answer) -> dict[str, object]:
    return {name: getattr(answer, name) for name in Answer.__dataclass_fields__}


def title_of(done: Crawl) -> list[str]:
    return [row["title"] for row in done.rows("SELECT title FROM articles")]


@pytest.mark.parametrize("kept", first_is_quick(KEPT))
@pytest.mark.parametrize(
    "wait_for",
    first_is_quick(
        [
            {},
            {"/feed.xml": PAGE},
            {"/feed.xml": "/map.xml"},
            {PAGE: "/feed.xml"},
            {"/map.xml": "/feed.xml"},
        ]
    ),
    ids=["as it comes", "page first", "sitemap first", "page last", "feed first"],
)
def test_headline_of_a_later_listing_is_stored_in_the_same_crawl(forks, tmp_path, kept, wait_for):
    if kept == "robots" and wait_for.get("/feed.xml") == PAGE:
        wait_for = {"/feed.xml": "/map.xml"}  # the page is never asked for
    with Site(kept, wait_for) as site:
        listings = (f"sitemaps={site.url}/map.xml", site.feeds)
        done = forks.crawl("ft", *listings, database=tmp_path / "news.sqlite")
    assert title_of(done) == [f"Report from {PAGE}"], done.output
    assert done.errors == []
    # In one crawl it is asked for twice at most.
    assert site.paths().count(PAGE) <= 2


@pytest.mark.parametrize("kept", first_is_quick(KEPT))
def test_headline_is_stored_by_a_later_crawl(forks, tmp_path, kept):
    database = tmp_path / "news.sqlite"
    with Site(kept, {"/feed.xml": "/map.xml"}) as site:
        sitemap, feed = f"sitemaps={site.url}/map.xml", site.feeds
        assert title_of(forks.crawl("ft", sitemap, database=database)) == []
        done = forks.crawl("ft", sitemap, feed, database=database)
    assert title_of(done) == [f"Report from {PAGE}"], done.output
