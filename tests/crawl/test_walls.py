"""Consent pages, robot checks, paywalls and fronts are never stored as an article's body."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.site.crawling import Crawl
from tests.site.faults import Answer, listing
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.walls.pages import ARTICLES, WALLS, Page


@dataclass(frozen=True)
class World:
    """A site of walls after a crawl of it: with a feed that tells of each page, and without."""

    url: str
    told: Crawl
    untold: Crawl


def always(body: str = "", **facts: object) -> Callable[[int], Answer]:
    fixed = Answer(body=body.encode(), **facts)  # type: ignore[arg-type]
    return lambda _visit: fixed


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("walls")
    routes = {"/robots.txt": always(status=404)}
    for page in WALLS:
        if page.final:
            routes[page.path] = always(status=302, headers=(("Location", page.final),))
        routes[(page.final or page.path).partition("?")[0]] = always(page.html)
    routes |= {path: always(html) for path, html in ARTICLES.items()}
    paths = (*(page.path for page in WALLS), *ARTICLES)
    with SiteServer(routes=routes) as site:
        site.routes["/feed.xml"] = always(listing(site.url, paths).decode(), kind="application/xml")
        locations = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths)
        site.routes["/map.xml"] = always(f"<urlset>{locations}</urlset>", kind="application/xml")
        told = forks.crawl("ft", f"feeds={site.url}/feed.xml", database=folder / "told.sqlite")
        untold = forks.crawl(
            "ft", f"sitemaps={site.url}/map.xml", database=folder / "untold.sqlite"
        )
        yield World(site.url, told, untold)


def stored(world: World, done: Crawl, path: str) -> list[dict[str, object]]:
    """The article that is stored for a page: one or none."""
    return done.rows(
        "SELECT articles.* FROM articles JOIN article_urls ON article_id = articles.id "
        "WHERE article_urls.url = ?",
        world.url + path,
    )


@pytest.mark.parametrize("page", WALLS, ids=[page.path for page in WALLS])
def test_wall_is_never_stored_as_article_text(world: World, page: Page) -> None:
    for row in stored(world, world.told, page.path):
        assert row["access"] == "paywalled"
        assert row["kind"] == "paywall"
        assert row["text"] == f"What the feed says about {page.path}."
    for row in stored(world, world.untold, page.path):
        assert row["access"] == "paywalled"
        assert row["text"] == ""


@pytest.mark.parametrize(
    "page",
    [page for page in WALLS if page.wall in {"paywall", "consent"}],
    ids=[page.path for page in WALLS if page.wall in {"paywall", "consent"}],
)
def test_feed_headline_is_stored_for_a_page_behind_a_wall(world: World, page: Page) -> None:
    (row,) = stored(world, world.told, page.path)
    assert row["title"] == f"Report from {page.path}"


@pytest.mark.parametrize("path", ARTICLES)
def test_article_about_walls_is_stored(world: World, path: str) -> None:
    for done in (world.told, world.untold):
        (row,) = stored(world, done, path)
        assert row["access"] == "open"
        assert len(str(row["text"])) > 800
        assert "Accept all" not in str(row["text"])


def test_dropped_walls_are_counted_by_reason(world: World) -> None:
    counts = world.untold.counts
    reasons = ("NotAnArticle", "ConsentOrPaywall", "Empty", "TooShort")
    dropped = {name: counts.get(f"item_dropped_reasons_count/{name}", 0) for name in reasons}
    walls = [page.wall for page in WALLS]
    assert dropped["NotAnArticle"] >= walls.count("front")
    assert dropped["ConsentOrPaywall"] >= walls.count("consent")
    assert sum(dropped.values()) + counts["newscrawl/pages_paywalled"] == len(WALLS)
    assert world.told.errors == world.untold.errors == []


def test_each_page_that_leads_to_the_same_login_has_the_text_of_its_feed(
    tmp_path: Path, forks: Forks
) -> None:
    wall = next(page for page in WALLS if page.wall == "paywall")
    paths = tuple(f"/story/{n}" for n in range(4))
    to_login = always(status=302, headers=(("Location", "/login"),))
    routes = {"/login": always(wall.html), **dict.fromkeys(paths, to_login)}
    with SiteServer(routes=routes) as site:
        site.routes["/feed.xml"] = always(listing(site.url, paths).decode(), kind="application/xml")
        done = forks.crawl("ft", f"feeds={site.url}/feed.xml", database=tmp_path / "news.sqlite")
    rows = done.rows("SELECT title, access FROM articles ORDER BY title")
    assert rows == [{"title": f"Report from {path}", "access": "paywalled"} for path in paths]
    assert done.summary.endswith("state paywalled (headlines and introductions only)")


def test_crawl_fails_whose_pages_all_lead_to_another_site(tmp_path: Path, forks: Forks) -> None:
    paths = tuple(f"/story/{n}" for n in range(4))
    away = always(status=302, headers=(("Location", "http://consent.example/"),))
    with SiteServer(routes=dict.fromkeys(paths, away)) as site:
        site.routes["/feed.xml"] = always(listing(site.url, paths).decode(), kind="application/xml")
        feed = f"feeds={site.url}/feed.xml"
        done = forks.crawl("ft", feed, database=tmp_path / "news.sqlite")
    assert done.code == 1
    assert "4 failed (offsite 4)" in done.summary
    assert done.summary.endswith("state failed (offsite: no article page could be fetched)")
