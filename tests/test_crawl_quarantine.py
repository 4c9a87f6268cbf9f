"""Pages that go wrong after their first crawl: what was stored of them stays as good as it was."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Newscrawl
from tests.site.crawling import Crawl
from tests.site.faults import Answer, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer

REVISITS = "1s 1d 2d"
PATHS = tuple(f"/story/{number}" for number in range(12))
SHELL = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Financial Times</title>
<script src="/app.js"></script></head><body><div id="root"><p>You need to enable JavaScript to run
this app. If you have disabled it, please enable it in the settings of your browser and then load
the page again. Thank you for reading.</p></div></body></html>"""
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
            f"feeds={self.site.url}/feed.xml",
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

    def serve(self, path: str, body: Callable[[], bytes]) -> None:
        """Answer with the body, and its hash for an ETag."""

        def answer(_visit: int) -> Answer:
            tag = f'"{hashlib.sha256(body()).hexdigest()}"'
            return Answer(body=body(), headers=(("ETag", tag),))

        self.site.routes[path] = answer

    def serve_stories(self) -> None:
        """Have all stories as they are written first."""
        for path in self.paths:
            self.serve(path, lambda path=path: tale(path))  # type: ignore[misc]

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


@pytest.fixture
def world(tmp_path: Path, forks: Forks) -> World:
    site = SiteServer()
    world = World(site, tmp_path / "newscrawl.sqlite", forks)
    site.routes["/robots.txt"] = lambda _: Answer(status=404)
    site.routes["/feed.xml"] = lambda _: Answer(
        body=listing(site.url, world.paths), kind="application/xml"
    )
    world.serve_stories()
    return world


@pytest.mark.parametrize(
    "page", [SHELL, CONSENT, LOGIN, ERROR], ids=["shell", "consent", "login", "error"]
)
def test_a_page_in_place_of_every_article_is_quarantined(
    world: World, newscrawl: Newscrawl, page: str
) -> None:
    with world.site:
        before = world.contents(world.crawl())
        for path in world.paths:
            world.serve(path, page.encode)
        again = world.revisit()
    assert world.contents(again) == before
    assert len(before[0]) == len(PATHS)
    assert again.counts["newscrawl/revisions_quarantined"] == len(PATHS)
    assert f"{len(PATHS)} quarantined" in again.summary
    rows = again.rows("SELECT state, reason, note, title, characters FROM quarantine")
    print(rows[0])
    assert {row["state"] for row in rows} == {"pending"}
    assert len(rows) == len(PATHS)
