"""Crawls that learn what a site repeats on all of its pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site.crawling import Crawl
from tests.site.faults import Answer, always, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer

APPEAL = (
    "Siemens has agreed to support the newsroom of this paper for another two years, "
    "a spokeswoman of the publishing house said in a statement to our readers."
)


def page(title: str) -> bytes:
    return story(title, "Hafenwerk").replace(b"</article>", f"<p>{APPEAL}</p></article>".encode())


class World:
    """A site with stories by number, each ending in the same paragraph, and crawls of it."""

    def __init__(self, site: SiteServer, database: Path, forks: Forks) -> None:
        self.site, self.database, self.forks = site, database, forks
        site.routes["/robots.txt"] = always(status=404)

    def crawl(self, *stories: int) -> Crawl:
        paths = tuple(f"/story/{number}" for number in stories)
        for path in paths:
            body = page(f"About {path}")
            self.site.routes[path] = lambda _, body=body: Answer(body=body)  # type: ignore[misc]
        body = listing(self.site.url, paths)
        self.site.routes["/feed.xml"] = lambda _: Answer(body=body, kind="application/xml")
        done = self.forks.crawl("ft", self.site.feeds, database=self.database)
        assert done.code == 0, done.output
        assert done.errors == []
        return done


@pytest.fixture
def world(tmp_path: Path, forks: Forks) -> Iterator[World]:
    with SiteServer() as site:
        yield World(site, tmp_path / "news.sqlite", forks)


def texts(done: Crawl, *stories: int) -> list[str]:
    found = {
        row["title"]: row["text"]
        for row in done.rows("SELECT title, text FROM articles ORDER BY title")
    }
    return [found[f"About /story/{number}"] for number in stories]


def companies(done: Crawl, *stories: int) -> set[str]:
    """The companies of which these stories count a mention."""
    found = done.rows(
        "SELECT a.title, c.name FROM mentions m JOIN companies c ON c.id = m.company_id "
        "JOIN articles a ON a.id = m.article_id"
    )
    titles = {f"About /story/{number}" for number in stories}
    return {row["name"] for row in found if row["title"] in titles}


def test_second_crawl_removes_paragraphs_that_all_pages_repeat(world):
    first = world.crawl(1, 2, 3, 4)
    assert all(APPEAL in text for text in texts(first, 1, 2, 3, 4))
    second = world.crawl(5, 6, 7)
    for text in texts(second, 5, 6, 7):
        assert "Hafenwerk" in text
        assert APPEAL not in text
    # The pages of the first crawl were read before it was known what they repeat.
    assert companies(second, 1, 2, 3, 4) == companies(second, 5, 6, 7) == set()
    assert second.rows("SELECT pages FROM template_memories") == [{"pages": 7}]


@pytest.mark.thorough
def test_page_read_again_is_counted_once_in_template_memory(world):
    for _ in range(2):
        done = world.crawl(1)
    assert done.rows("SELECT pages FROM template_memories") == [{"pages": 1}]
    assert APPEAL in texts(done, 1)[0]
