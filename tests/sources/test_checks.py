"""newscrawl sources check: what of a site can be crawled, and what is kept of it."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Barrier

import pytest

from newscrawl.sources import Source
from newscrawl.storage import StorageError, open_database
from newscrawl.storage.source_stats import Checkup, last_checkups, record_checkups
from tests.conftest import Newscrawl
from tests.site.crawling import own_source
from tests.site.faults import Answer, always
from tests.site.server import SiteServer
from tests.worlds import moment, register

XML = "application/xml"
pytestmark = pytest.mark.usefixtures("shared_helper")


def feed(site: str, days_old: float = 0) -> Callable[[int], Answer]:
    published = format_datetime(datetime.now(UTC) - timedelta(days=days_old))
    return always(
        f"<rss><channel><item><title>A</title><link>{site}/a</link>"
        f"<pubDate>{published}</pubDate></item></channel></rss>",
        kind=XML,
    )


def away(target: str, status: int = 301) -> Callable[[int], Answer]:
    return always(status=status, headers=(("Location", target),))


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A site whose home page is there and whose feed has an article of today."""
    routes = {"/": always("<title>Home</title>"), "/robots.txt": always(status=404)}
    with SiteServer(routes=routes) as server:
        server.routes["/feed.xml"] = feed(server.url)
        yield server


def registered(site: SiteServer, slug: str = "pier", **more: object) -> Path:
    """The file of a person's own sources, with this site in it."""
    return own_source(Path("own.csv"), site.url, slug, **more)


def checked(newscrawl: Newscrawl, file: Path, code: int = 0) -> dict[str, object]:
    """What `sources check` says of the one source."""
    ran = newscrawl("sources", "check", "pier", "--sources", file, "-f", "json")
    assert ran.code == code, ran.err
    (health,) = json.loads(ran.out)
    return dict(health)


# --- States -------------------------------------------------------------------------------------


def test_working_site_is_reachable(newscrawl, site):
    health = checked(newscrawl, registered(site))
    assert (health["state"], health["listings"], health["working"]) == ("reachable", 1, 1)
    newest = datetime.fromisoformat(str(health["newest"]))
    assert timedelta(0) <= datetime.now(UTC) - newest < timedelta(hours=1)


def test_feed_without_new_entries_is_stale(newscrawl, site):
    site.routes["/feed.xml"] = feed(site.url, days_old=30)
    health = checked(newscrawl, registered(site), code=1)
    assert health["state"] == "stale"
    assert "nothing newer than" in str(health["note"])


def test_permanently_moved_home_page_is_reported(newscrawl, site):
    site.routes["/"] = away(f"{site.url}/new/")
    site.routes["/new/"] = always("<title>Home</title>")
    health = checked(newscrawl, registered(site))
    assert (health["state"], health["moved_to"]) == ("moved", f"{site.url}/new/")


def test_permanently_moved_feed_is_reported(newscrawl, site):
    site.routes["/rss.xml"] = site.routes["/feed.xml"]
    site.routes["/feed.xml"] = away(f"{site.url}/rss.xml", status=308)
    health = checked(newscrawl, registered(site))
    assert health["state"] == "moved"
    assert f"{site.url}/rss.xml" in str(health["note"])


def test_temporary_redirect_is_not_a_move(newscrawl, site):
    site.routes["/"] = away(f"{site.url}/today/", status=302)
    site.routes["/today/"] = always("<title>Home</title>")
    assert checked(newscrawl, registered(site))["state"] == "reachable"


@pytest.mark.parametrize("status", [401, 403, 429, 451])
def test_refusing_server_is_reported_as_blocking(newscrawl, site, status):
    site.routes |= {"/": always(status=status), "/feed.xml": always(status=status)}
    health = checked(newscrawl, registered(site), code=1)
    assert health["state"] == "blocked"
    assert f"answered {status}" in str(health["note"])


def test_site_closed_by_robots_txt_is_reported_as_blocking(newscrawl, site):
    site.routes["/robots.txt"] = always("User-agent: *\nDisallow: /\n")
    health = checked(newscrawl, registered(site), code=1)
    assert health["state"] == "blocked"
    assert site.paths() == ["/robots.txt"]


@pytest.mark.parametrize(
    "broken",
    [always(status=404), always("<html>no feed</html>"), always("<urlset></urlset>", kind=XML)],
    ids=["404", "HTML", "empty"],
)
def test_site_without_a_readable_feed_is_reported(newscrawl, site, broken):
    site.routes["/feed.xml"] = broken
    assert checked(newscrawl, registered(site), code=1)["state"] == "no feed"


def test_site_without_a_response_is_unreachable(newscrawl, site):
    columns = {"home": "http://127.0.0.1:1/", "feeds": ("http://127.0.0.1:1/feed.xml",)}
    health = checked(newscrawl, registered(site, **columns), code=1)
    assert (health["state"], health["working"]) == ("unreachable", 0)
    assert "connection refused" in str(health["note"])


def test_one_working_feed_of_two_is_enough(newscrawl, site):
    file = registered(site, feeds=(f"{site.url}/gone.xml", f"{site.url}/feed.xml"))
    health = checked(newscrawl, file)
    assert (health["state"], health["listings"], health["working"]) == ("reachable", 2, 1)
    assert "gone.xml" in str(health["note"])


def test_site_of_sections_requires_its_home_page(newscrawl, site):
    file = registered(site, feeds=(), sections=(f"{site.url}/politics/",))
    assert checked(newscrawl, file)["state"] == "reachable"


def test_dated_sitemaps_are_requested_for_today(newscrawl, site):
    today = datetime.now(UTC).date()
    for day in (today, today + timedelta(days=1)):  # midnight may pass before the check
        site.routes[f"/{day}.xml"] = always(
            f"<urlset><url><loc>{site.url}/a</loc><lastmod>{day}</lastmod></url></urlset>", kind=XML
        )
    file = registered(site, feeds=(), sitemaps=(f"{site.url}/{{yyyy}}-{{mm}}-{{dd}}.xml",))
    assert checked(newscrawl, file)["state"] == "reachable"


# --- The command --------------------------------------------------------------------------------


@pytest.mark.usefixtures("own_helper")
def test_private_addresses_of_the_bundled_registry_are_not_requested(newscrawl, site, monkeypatch):
    bundled = (Source(slug="pier", name="P", country="gb", languages=("en",), home=f"{site.url}/"),)
    monkeypatch.setattr("newscrawl.sources.registry.load_sources", lambda *_: bundled)
    ran = newscrawl("sources", "check", "pier", "-f", "json")
    assert json.loads(ran.out)[0]["state"] == "unreachable"
    assert site.visits == []


def test_table_fits_the_terminal_and_exit_code_shows_failures(newscrawl, site):
    registered(site)
    site.routes["/gone.xml"] = always(status=404)
    file = registered(site, "quay", home=f"{site.url}/q", feeds=(f"{site.url}/gone.xml",))
    ran = newscrawl("sources", "check", "pier", "quay", "--sources", file)
    assert ran.code == 1
    assert ran.fits
    assert "1 of 2 sites can't be crawled as they are." in ran.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["piers"], "did you mean pier"), (["pier", "--country", "xx"], "no site matches")],
)
def test_unknown_source_is_invalid_usage(newscrawl, site, arguments, says):
    file = registered(site)
    ran = newscrawl("sources", "check", *arguments, "--sources", file)
    assert ran.code == 2
    assert says in ran.err
    assert site.visits == []


NONE_OF_OWN = "Sites of your own: none. newscrawl sources add URL adds one."


def test_own_sources_are_listed_alone(newscrawl, site):
    file = registered(site)
    listed = json.loads(newscrawl("sources", "list", "--own", "--sources", file, "-f", "json").out)
    assert [row["slug"] for row in listed] == ["pier"]
    ran = newscrawl("sources", "list", "--own")
    assert (ran.code, ran.err) == (1, f"{NONE_OF_OWN}\n")
    file.write_text(file.read_text().splitlines()[0] + "\n")
    ran = newscrawl("sources", "list", "--own", "--sources", file)
    assert (ran.code, ran.err) == (1, f"{NONE_OF_OWN}\n")
    ran = newscrawl("sources", "list", "--country", "aq")
    assert (ran.code, ran.err) == (1, "Sites: none.\n")


def test_list_and_show_include_the_last_check(newscrawl, site):
    file = registered(site)
    checked(newscrawl, file)
    site.routes["/feed.xml"] = always(status=404)
    checked(newscrawl, file, code=1)
    shown = json.loads(newscrawl("sources", "show", "pier", "--sources", file, "-f", "json").out)
    assert shown["state"] == "no feed"
    assert shown["last_ok"] < shown["checked_at"]
    ran = newscrawl("sources", "list", "--sources", file, "--country", "gb")
    (row,) = (line for line in ran.out.splitlines() if line.split()[:1] == ["pier"])
    assert "no feed" in row
    assert shown["last_ok"][:10] in row
    assert ran.fits


def test_sites_are_checked_concurrently(newscrawl):
    all_visited = Barrier(6, timeout=60)

    def home(_visit: int) -> Answer:
        all_visited.wait()  # raises, and so breaks the connection, where one site is left waiting
        return Answer(body=b"<title>Home</title>")

    routes = {"/": home, "/robots.txt": always(status=404)}
    sites = [SiteServer(routes=dict(routes), host=f"127.0.0.{n + 1}") for n in range(6)]
    for number, one in enumerate(sites):
        one.__enter__()
        one.routes["/feed.xml"] = feed(one.url)
        file = registered(one, f"pier-{number}")
    ran = newscrawl("sources", "check", *(f"pier-{n}" for n in range(6)), "--sources", file)
    for one in sites:
        one.__exit__(None, None, None)
    assert ran.code == 0
    assert not all_visited.broken


# --- What is kept -------------------------------------------------------------------------------


def test_last_successful_check_is_stored(database):
    register(database, "pier")
    good = Checkup(slug="pier", state="reachable", listings=2, working=2)
    record_checkups(database, [good], at=moment(0))
    bad = Checkup(slug="pier", state="blocked", note="403", listings=2)
    record_checkups(database, [bad], at=moment(1))
    last = last_checkups(database)["pier"]
    assert (last.state, last.note, last.working) == ("blocked", "403", 0)
    assert (last.checked_at, last.last_ok) == (moment(1), moment(0))


def test_unregistered_source_is_refused(tmp_path):
    with open_database(f"sqlite:///{tmp_path}/n.sqlite") as database:
        with pytest.raises(StorageError, match="no source 'pier'"):
            record_checkups(database, [Checkup(slug="pier", state="reachable")])
        assert last_checkups(database) == {}
