"""Pages that go wrong after their first crawl: what was stored of them stays as good as it was."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.site.crawling import Crawl
from tests.site.faults import Answer, always, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.thorough import first_is_quick

REVISITS = "1s 1d 2d"
PATHS = tuple(f"/story/{number}" for number in range(12))
SHELL = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Financial Times</title>
<script src="/app.js"></script></head><body><div id="root"><p>You need to enable JavaScript to run
this app. If you have disabled it, please enable it in the settings of your browser and then load
the page again. Thank you for reading.</p></div></body></html>"""
# With words of the headlines in the feed.
CONSENT = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Your privacy</title>
</head><body><h1>We value your privacy</h1><p>We and our 812 partners store and access cookies and
process personal data for personalised ads and content measurement. With your consent we and our
partners may use precise location data. You may withdraw your consent or manage your privacy
settings and cookies at any time on this page.</p><button>Accept all</button>
<button>Manage settings</button></body></html>"""
LOGIN = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head>
<body><h1>Sign in to continue</h1><form method="post" action="/login"><p>Enter the e-mail address
and the password of your account to go on reading. If you have no account yet, it takes a minute to
make one, and the first month is on us. Have you forgotten your password? We send you a new one.
</p><input name="user"><input type="password" name="pass"><button>Sign in</button></form></body>
</html>"""
ERROR = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Something went wrong
</title></head><body><h1>Something went wrong</h1><p>We are sorry, but this page can't be shown at
the moment. Our engineers have been told of it and will look into it as soon as they can. Please try
again in some minutes, or go back to our home page to read the latest news.</p></body></html>"""


@dataclass
class World:
    """A site of articles, and crawls of it into one database, each a second after the last."""

    site: SiteServer
    database: Path
    forks: Forks
    paths: tuple[str, ...] = PATHS

    def crawl(self) -> Crawl:
        """Crawl the site's feed, and look again at what is due."""
        done = self.forks.crawl(
            "ft",
            self.site.feeds,
            database=self.database,
            settings={"NEWSCRAWL_REVISITS": REVISITS},
        )
        assert done.code == 0, done.output
        assert done.errors == []
        return done

    def revisit(self) -> Crawl:
        """Crawl again, once all pages are due: the times of their next visits are put back."""
        Crawl(0, "", self.database).rows("UPDATE frontier SET due_at = visited_at")
        time.sleep(0.05)
        return self.crawl()

    def serve_stories(self) -> None:
        """Have all stories as they are written first."""
        for path in self.paths:
            self.site.serve(path, lambda path=path: tale(path))  # type: ignore[misc]

    def contents(self, done: Crawl) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
        """All articles with their texts, and all mentions."""
        articles = done.rows("SELECT url, title, text, revision FROM articles ORDER BY url")
        mentions = done.rows(
            "SELECT article_id, company_id, section, start_offset FROM mentions ORDER BY id"
        )
        return articles, mentions


def tale(path: str, company: str = "Siemens", *, correction: str = "") -> bytes:
    """A story whose every sentence is its own."""
    number = path.rpartition("/")[2]
    said = " ".join(f"Quay {number} of harbour {place} was closed." for place in range(40))
    page = story(f"Harbour report {number}{correction}", company)
    return page.replace(b"</article>", f"<p>{said}{correction}</p></article>".encode())


def shrunk(path: str) -> bytes:
    """A page of which only the headline and a line about all reports are left."""
    number = path.rpartition("/")[2]
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>Harbour report {number}</title></head><body>'
        "<p>All reports of the harbour and its ferries, of the council and the plant by the river "
        "are in the paper of each morning, in the order of the alphabet.</p></body></html>"
    ).encode()


@pytest.fixture
def world(tmp_path: Path, forks: Forks) -> Iterator[World]:
    with SiteServer() as site:
        world = World(site, tmp_path / "newscrawl.sqlite", forks)
        site.routes["/robots.txt"] = always(status=404)
        site.routes["/feed.xml"] = lambda _: Answer(
            body=listing(site.url, world.paths), kind="application/xml"
        )
        world.serve_stories()
        yield world


NAMED = tale("/story/x").replace(b"Harbour report x", b"Financial Times")
LOADING = (
    b"<!DOCTYPE html><html><head><title>FT</title></head><body><p>Loading ...</p></body></html>"
)


@pytest.mark.parametrize(
    ("page", "reason"),
    first_is_quick(
        [
            (SHELL.encode(), "no_article"),
            (CONSENT.encode(), "no_article"),
            (LOGIN.encode(), "no_article"),
            (ERROR.encode(), "no_article"),
            (LOADING, "no_article"),
            (b'{"error": "try again later"}', "no_article"),
            (NAMED, "headline_lost"),
        ],
        rows=True,
    ),
    ids=["shell", "consent", "login", "error", "loading", "json", "named"],
)
def test_page_that_replaces_every_article_is_quarantined(world, newscrawl, page, reason):
    before = world.contents(world.crawl())
    assert len(before[0]) == len(PATHS)
    assert before[1]
    for path in world.paths:
        world.site.serve(path, lambda: page)
    again = world.revisit()
    assert world.contents(again) == before
    assert again.counts["newscrawl/revisions_quarantined"] == len(PATHS)
    assert f" {len(PATHS)} quarantined" in again.summary
    listed = json.loads(newscrawl("articles", "--quarantined", "-f", "json").out)
    assert [one["reason"] for one in listed] == [reason] * len(PATHS)
    assert {one["url"] for one in listed} == {one["url"] for one in before[0]}
    status = newscrawl("status")
    assert f"{len(PATHS)} revisions are in the quarantine" in status.out
    # The page as it is now is asked for by its own validators, and what is known stays known.
    third = world.revisit()
    assert third.counts["newscrawl/revisits_unmodified"] == len(PATHS)
    assert world.contents(third) == before
    world.serve_stories()
    last = world.revisit()
    assert world.contents(last) == before
    assert newscrawl("articles", "--quarantined").code == 1
    assert "quarantine" not in newscrawl("status").out
    rows = last.rows("SELECT state, text FROM quarantine")
    assert rows == [{"state": "superseded", "text": ""}] * len(PATHS)


def test_correction_is_stored_beside_quarantined_revisions(world, newscrawl):
    world.crawl()
    for path in world.paths[:10]:
        world.site.serve(path, SHELL.encode)
    corrected = tale("/story/11", "Bosch", correction=", corrected")
    world.site.serve("/story/11", lambda: corrected)
    again = world.revisit()
    assert again.counts["newscrawl/articles_revised"] == 1
    assert again.counts["newscrawl/revisions_quarantined"] == 10
    assert again.counts["newscrawl/revisits_unmodified"] == 1
    (row,) = again.rows("SELECT title, revision FROM articles WHERE url LIKE '%/11'")
    assert row == {"title": "Harbour report 11, corrected", "revision": 2}
    discarded = newscrawl("revisions", "discard", "--all", "--source", "ft")
    assert (discarded.code, discarded.err) == (0, "10 discarded.\n")
    # Discarded shells come again, as a server without validators sends them.
    for path in world.paths[:10]:
        world.site.routes[path] = lambda _: Answer(body=SHELL.encode())
    third = world.revisit()
    assert "newscrawl/revisions_quarantined" not in third.counts
    assert newscrawl("articles", "--quarantined").code == 1
    assert third.rows("SELECT count(*) AS n FROM articles WHERE length(text) < 1000") == [{"n": 0}]


def test_revision_applied_by_mistake_can_be_restored(world, newscrawl):
    world.paths = PATHS[:2]
    first = world.crawl()
    before = world.contents(first)
    for path in world.paths:
        world.site.serve(path, lambda path=path: shrunk(path))  # type: ignore[misc]
    again = world.revisit()
    numbers = [row["id"] for row in again.rows("SELECT id FROM quarantine ORDER BY article_id")]
    applied = newscrawl("revisions", "apply", *numbers)
    assert (applied.code, applied.err) == (0, "2 applied.\n")
    texts = [str(row["text"]) for row in again.rows("SELECT text FROM articles")]
    assert all("All reports of the harbour" in text for text in texts)
    assert again.rows("SELECT count(*) AS n FROM mentions") == [{"n": 0}]
    url = before[0][0]["url"]
    versions = json.loads(newscrawl("revisions", "list", url, "-f", "json").out)
    assert [one["number"] for one in versions] == [1, 2]
    companies = Path(__file__).parents[1] / "site" / "companies.toml"
    restored = newscrawl("revisions", "restore", url, 1, "--companies", companies)
    assert restored.code == 0
    assert "version 3 has the text of 1" in restored.err
    (row,) = again.rows("SELECT title, text FROM articles WHERE url = ?", url)
    assert row == {key: before[0][0][key] for key in ("title", "text")}
    number = sum(one["article_id"] == before[1][0]["article_id"] for one in before[1])
    assert again.rows("SELECT count(*) AS n FROM mentions") == [{"n": number}]
    wrong = newscrawl("revisions", "restore", url, 9)
    assert wrong.code == 2
    assert "no version 9" in wrong.err
    assert newscrawl("revisions", "apply").code == 2
    assert newscrawl("revisions", "apply", numbers[0]).code == 1


def welcome() -> bytes:
    """A relaunch's page: about as long as a story, with a word of its headline and a company."""
    title = "Welcome to the new harbour portal"
    text = " ".join(
        f"Under tab {number} our readers find pictures, maps and {number * 7} forms by Bosch."
        for number in range(50)
    )
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{title}</title></head>"
        f"<body><article><h1>{title}</h1><p>{text}</p></article></body></html>"
    ).encode()


def show_everywhere(world: World, body: bytes, *, by_redirect: bool) -> None:
    """Show the same page at the address of every story."""
    page = Answer(body=body)
    elsewhere = Answer(status=302, headers=(("Location", "/welcome"),))
    world.site.routes["/welcome"] = lambda _: page
    for path in world.paths:
        world.site.routes[path] = lambda _: elsewhere if by_redirect else page


@pytest.mark.parametrize(
    ("page", "by_redirect", "first_alone"),
    [
        (welcome, False, 1),
        (welcome, True, 0),
        (ERROR.encode, True, 1),
        pytest.param(welcome, False, 2, marks=pytest.mark.thorough),
        pytest.param(welcome, True, 2, marks=pytest.mark.thorough),
    ],
)
def test_page_that_all_addresses_show_replaces_no_article(
    world, newscrawl, page, by_redirect, first_alone
):
    world.paths = PATHS[:9]
    first = world.crawl()
    before = world.contents(first)
    addresses = first.rows("SELECT * FROM article_urls ORDER BY url")
    assert len(before[0]) == len(addresses) == len(world.paths)
    shortest = min(len(str(row["text"])) for row in before[0])
    assert shortest / 2 < len(welcome()) < 2 * shortest
    show_everywhere(world, page(), by_redirect=by_redirect)
    for _ in range(first_alone):
        # Only one of the articles is due, before it is known what the others show.
        first.rows("UPDATE frontier SET due_at = visited_at WHERE url LIKE '%/story/0'")
        time.sleep(0.05)
        alone = world.crawl()
        assert world.contents(alone) == before
    for _ in range(2):
        again = world.revisit()
        assert world.contents(again) == before
        assert again.rows("SELECT * FROM article_urls ORDER BY url") == addresses
    # Nobody has to say what becomes of them: their pages are gone.
    assert newscrawl("articles", "--quarantined").code == 1
    assert again.counts["newscrawl/articles_gone"] == len(world.paths)
    assert "in the quarantine" not in newscrawl("status").out
    world.serve_stories()
    last = world.revisit()
    assert world.contents(last) == before
    assert newscrawl("articles", "--quarantined").code == 1


@pytest.mark.thorough
def test_article_that_was_written_anew_is_stored_when_it_is_read_again(world):
    world.paths = PATHS[:3]
    anew = welcome().replace(b"Welcome to the new harbour portal", b"Harbour report 0, closed")
    before = world.contents(world.crawl())
    world.site.serve("/story/0", lambda: anew)
    again = world.revisit()
    assert world.contents(again) == before
    assert again.counts["newscrawl/revisions_quarantined"] == 1
    third = world.revisit()
    assert third.counts["newscrawl/articles_revised"] == 1
    (row,) = third.rows("SELECT title, text, revision FROM articles WHERE url LIKE '%/0'")
    assert (row["title"], row["revision"]) == ("Harbour report 0, closed", 2)
    assert third.rows("SELECT DISTINCT state FROM quarantine") == [{"state": "superseded"}]
