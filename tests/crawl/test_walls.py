"""Consent pages, robot checks, paywalls and fronts are never stored as an article's body."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.site.crawling import Crawl
from tests.site.faults import always, listing
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.walls.pages import ARTICLES, WALLS


@dataclass(frozen=True)
class World:
    """A site of walls after a crawl of it: with a feed that tells of each page, and without."""

    url: str
    told: Crawl
    untold: Crawl


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
        told = forks.crawl("ft", site.feeds, database=folder / "told.sqlite")
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
def test_wall_is_never_stored_as_article_text(world, page):
    for row in stored(world, world.told, page.path):
        assert row["access"] in {"paywalled", "unreadable"}
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
def test_feed_headline_is_stored_for_a_page_behind_a_wall(world, page):
    (row,) = stored(world, world.told, page.path)
    assert row["title"] == f"Report from {page.path}"


@pytest.mark.parametrize("path", ARTICLES)
def test_article_about_walls_is_stored(world, path):
    for done in (world.told, world.untold):
        (row,) = stored(world, done, path)
        assert row["access"] == "open"
        assert len(str(row["text"])) > 800
        assert "Accept all" not in str(row["text"])


def test_dropped_walls_are_counted_by_reason(world):
    counts = world.untold.counts
    reasons = ("NotAnArticle", "ConsentOrPaywall", "Empty", "TooShort")
    dropped = {name: counts.get(f"item_dropped_reasons_count/{name}", 0) for name in reasons}
    walls = [page.wall for page in WALLS]
    assert dropped["NotAnArticle"] >= walls.count("front")
    assert dropped["ConsentOrPaywall"] >= walls.count("consent")
    assert sum(dropped.values()) + counts["newscrawl/pages_paywalled"] == len(WALLS)
    assert world.told.errors == world.untold.errors == []


def test_each_page_that_leads_to_the_same_login_has_the_text_of_its_feed(tmp_path, forks):
    wall = next(page for page in WALLS if page.wall == "paywall")
    paths = tuple(f"/story/{n}" for n in range(4))
    to_login = always(status=302, headers=(("Location", "/login"),))
    routes = {"/login": always(wall.html), **dict.fromkeys(paths, to_login)}
    with SiteServer(routes=routes) as site:
        site.routes["/feed.xml"] = always(listing(site.url, paths).decode(), kind="application/xml")
        done = forks.crawl("ft", site.feeds, database=tmp_path / "news.sqlite")
    rows = done.rows("SELECT title, access FROM articles ORDER BY title")
    assert rows == [{"title": f"Report from {path}", "access": "paywalled"} for path in paths]
    assert done.summary.endswith("state paywalled (headlines and introductions only)")


def test_crawl_fails_whose_pages_all_lead_to_another_site(tmp_path, forks):
    paths = tuple(f"/story/{n}" for n in range(4))
    away = always(status=302, headers=(("Location", "http://consent.example/"),))
    with SiteServer(routes=dict.fromkeys(paths, away)) as site:
        site.routes["/feed.xml"] = always(listing(site.url, paths).decode(), kind="application/xml")
        done = forks.crawl("ft", site.feeds, database=tmp_path / "news.sqlite")
    assert done.code == 1
    assert "4 failed (offsite 4)" in done.summary
    assert done.summary.endswith("state failed (offsite: no article page could be fetched)")


SHELL = (
    "<!DOCTYPE html><html lang='de'><head><meta charset='utf-8'><title>Hafenkurier</title></head>"
    "<body><div id='root'><p>Bitte aktivieren Sie JavaScript in den Einstellungen Ihres Browsers, "
    "um diese Seite anzuzeigen, und laden Sie sie dann neu. Danke!</p></div></body></html>"
)

EMPTY_SHELL = re.sub("<p>.*</p>", "", SHELL).replace("Hafenkurier", "Bauern erwarten Ernte")


def news(headline: str, text: str) -> str:
    return (
        f"<!DOCTYPE html><html lang='de'><head><meta charset='utf-8'><title>{headline}</title>"
        f"</head><body><article><h1>{headline}</h1><p>{text}</p></article></body></html>"
    )


def feed_of(site: SiteServer, headlines: dict[str, str]) -> str:
    items = "".join(
        f"<item><title>{headline}</title><link>{site.url}{path}</link>"
        f"<description>Siemens meldet: {headline}.</description></item>"
        for path, headline in headlines.items()
    )
    return f"<rss version='2.0'><channel><title>Hafenkurier</title>{items}</channel></rss>"


HEADLINES = {
    "/kran": "Kran stürzt um",
    "/linie": "Siemens baut neue Straßenbahnlinie",
    "/ernte": "Bauern erwarten schlechte Ernte",
}


def test_shell_has_the_text_of_its_feed_and_is_read_again(tmp_path, forks):
    with SiteServer(routes={"/robots.txt": always(status=404)}) as site:
        shells = (SHELL, SHELL.replace(", und laden Sie sie dann neu. Danke!", "."), EMPTY_SHELL)
        site.routes |= {path: always(shell) for path, shell in zip(HEADLINES, shells, strict=True)}
        site.routes["/feed.xml"] = always(feed_of(site, HEADLINES), kind="application/xml")
        feed, database = site.feeds, tmp_path / "news.sqlite"
        first = forks.crawl("ft", feed, database=database)
        rows = first.rows("SELECT title, text, access, kind FROM articles ORDER BY id")
        for path, headline in HEADLINES.items():
            site.routes[path] = always(news(headline, f"Was zu {headline} bekannt ist. " * 30))
        first.rows("UPDATE frontier SET due_at = visited_at")
        again = forks.crawl("ft", feed, database=database)
    assert [row["access"] for row in rows] == ["unreadable"] * 3
    assert {row["title"]: row["text"] for row in rows} == {
        headline: f"Siemens meldet: {headline}." for headline in HEADLINES.values()
    }
    assert first.counts["newscrawl/pages_unreadable"] == 3
    assert first.summary.endswith("state failed (no page shows its article)")
    assert again.counts["newscrawl/articles_revised"] == 3
    assert again.rows("SELECT DISTINCT access FROM articles") == [{"access": "open"}]
    assert again.errors == first.errors == []


TEXTLESS = {
    "/refresh": "<html><head><meta http-equiv='refresh' content='0;url=/a'></head></html>",
    "/script": "<p>Weiterleitung: Hafen wird gesperrt</p><script>location='/a'</script>",
    "/brief": "<html lang='de'><h1>Hafen wird gesperrt</h1><p>Der Hafen ist zu.</p></html>",
    "/error": "<html lang='de'><head><title>Fehler 404: Hafen wird gesperrt</title></head><body>"
    "<h1>Seite nicht gefunden</h1><p>Die Seite zum Hafen wurde nicht gefunden.</p></body></html>",
    "/consent": "<html lang='de'><body><h1>Hafenkurier</h1><p>Wir und unsere Partner verwenden "
    "Cookies. Mit Ihrer Einwilligung dürfen wir Daten verarbeiten. Cookie-Einstellungen. </p>"
    "<button>Alle akzeptieren</button></body></html>",
    "/pdf": "%PDF-1.7\n1 0 obj <</Type /Catalog>> endobj",
    "/json": "{}",
}


def test_each_page_without_text_has_that_of_its_feed(tmp_path, forks):
    headlines = dict.fromkeys(
        [*TEXTLESS, "/loop", "/front", "/hafen-gesperrt-1"], "Hafen wird gesperrt"
    )
    with SiteServer(routes={"/robots.txt": always(status=404)}) as site:
        site.routes |= {path: always(body) for path, body in TEXTLESS.items()}
        site.routes["/loop"] = always(status=302, headers=(("Location", "/loop?check=1"),))
        site.routes["/loop?check=1"] = always(status=302, headers=(("Location", "/loop"),))
        site.routes["/front"] = always(next(page.html for page in WALLS if page.wall == "front"))
        site.routes["/hafen-gesperrt-1"] = always(
            news(headlines["/hafen-gesperrt-1"], "Was zum Hafen bekannt ist. " * 30)
        )
        site.routes["/feed.xml"] = always(feed_of(site, headlines), kind="application/xml")
        done = forks.crawl("ft", site.feeds, database=tmp_path / "news.sqlite")
        rows = done.rows(
            "SELECT article_urls.url, access, text FROM articles "
            "JOIN article_urls ON article_id = articles.id"
        )
        access = {str(row["url"]).removeprefix(site.url): row["access"] for row in rows}
    assert access == dict.fromkeys([*TEXTLESS, "/loop"], "unreadable") | {
        "/hafen-gesperrt-1": "open"
    }
    texts = {row["text"] for row in rows if row["access"] == "unreadable"}
    assert texts == {"Siemens meldet: Hafen wird gesperrt."}
    assert done.counts["item_dropped_reasons_count/NotAnArticle"] == 1
    assert done.counts["newscrawl/pages_unreadable"] == len(TEXTLESS) + 1
    assert done.errors == []


SHORT = {
    "/kran": ("Kran stürzt um", "Unfall im Hafen"),
    "/bahn": ("Neue Straßenbahnen für Saltmere", "Kurz gemeldet"),
    "/javascript": ("JavaScript wird dreißig Jahre alt", "JavaScript wird dreißig Jahre alt"),
}
TEXTS = {
    "/kran": "Im Hafen von Saltmere sind am Montag zwei Krane umgestürzt. Verletzt wurde niemand, "
    "die Ursache ist noch nicht bekannt, teilte das Hafenamt mit.",
    "/bahn": "Ab Mai fährt auf der Linie 3 eine neue Straßenbahn. Sie hat Platz für 240 Fahrgäste, "
    "teilte der Betreiber am Montag in Saltmere mit.",
    "/javascript": "Vor dreißig Jahren erschien die Sprache JavaScript. Wer sie im Browser "
    "aktiviert hat, nutzt sie heute auf fast jeder Seite.",
}


@pytest.mark.thorough
def test_short_article_about_the_subject_of_its_headline_is_stored(tmp_path, forks):
    with SiteServer(routes={"/robots.txt": always(status=404)}) as site:
        site.routes |= {path: always(news(SHORT[path][1], text)) for path, text in TEXTS.items()}
        headlines = {path: page[0] for path, page in SHORT.items()}
        site.routes["/feed.xml"] = always(feed_of(site, headlines), kind="application/xml")
        done = forks.crawl("ft", site.feeds, database=tmp_path / "news.sqlite")
    rows = done.rows("SELECT title, text, access FROM articles ORDER BY id")
    assert {(row["title"], row["text"], row["access"]) for row in rows} == {
        (SHORT[path][1], text, "open") for path, text in TEXTS.items()
    }, done.output
