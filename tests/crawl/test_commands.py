"""Scrapy's commands in this project: they print, they check, and they store nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.site.crawling import HASTE, PROJECT, crawl_environment
from tests.site.demo import demo_settings
from tests.site.faults import Answer, always
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.thorough import first_is_quick

PAGE = "/en/harbour-software.html"
TITLE = "Microsoft and Siemens to run the locks of Saltmere from one screen"


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


@dataclass
class Commands:
    """Runs Scrapy's commands where nothing is stored yet: in an environment of their own in a
    process of their own, else as forks."""

    site: SiteServer
    folder: Path
    forks: Forks

    def __call__(self, *command: str, **environment: str) -> Ran:
        places = {**HASTE, "NEWSCRAWL_DATABASE_URL": f"sqlite:///{self.folder}/news.sqlite"}
        settings = [part for pair in places.items() for part in ("-s", "=".join(pair))]
        if environment:
            done = subprocess.run(
                [sys.executable, "-m", "scrapy", *command, *settings],
                cwd=PROJECT,
                env=crawl_environment(self.folder / "news.sqlite") | environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
        else:
            done = self.forks.run([*command, *settings])
        assert "Traceback" not in done.stderr or "FAILED" in done.stderr, done.stderr
        assert os.listdir(self.folder) == []  # noqa: PTH208 - no database, no file
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def scrapy(tmp_path: Path, forks: Forks) -> Iterator[Commands]:
    with SiteServer() as site:
        yield Commands(site, tmp_path, forks)


# --- scrapy parse ---------------------------------------------------------------------------------


@pytest.mark.parametrize("options", first_is_quick([(), ("--pipelines",), ("-c", "parse_article")]))
def test_parse_prints_the_article_with_its_mentions(scrapy, options):
    ran = scrapy("parse", "--spider=ft", scrapy.site.url + PAGE, "--nocolour", *options)
    assert ran.code == 0, ran.err
    assert f"'title': '{TITLE}'" in ran.out
    assert "'authors': ('Ada Fenwick',)" in ran.out
    assert "'company': 'Siemens'" in ran.out
    assert "'run': None" in ran.out
    assert "'html'" not in ran.out
    assert scrapy.site.paths() == ["/robots.txt", PAGE]


def test_parse_prints_the_pages_of_a_feed(scrapy):
    ran = scrapy("parse", "--spider=ft", f"{scrapy.site.url}/feed.xml", "--nocolour")
    assert ran.code == 0, ran.err
    assert ran.out.count("<GET ") == 11
    assert f"<GET {scrapy.site.url}{PAGE}?utm_source=rss" in ran.out
    assert scrapy.site.paths() == ["/robots.txt", "/feed.xml"]


def test_parse_follows_a_feed_to_its_articles(scrapy):
    feed = f"{scrapy.site.url}/feed.xml"
    ran = scrapy("parse", "--spider=ft", feed, "-d", "2", "-a", "limit=2", "--nocolour")
    assert ran.code == 0, ran.err
    assert ran.out.count("'title': ") == 2


@pytest.mark.thorough
def test_parse_prints_the_newest_article_of_a_feed(scrapy):
    feed = f"{scrapy.site.url}/feed.xml"
    ran = scrapy("parse", "--spider=ft", "-c", "parse_newest", feed, "--nocolour")
    assert ran.code == 0, ran.err
    assert ran.out.count("'title': ") == 1


@pytest.mark.parametrize(
    ("path", "told"),
    first_is_quick(
        [
            ("/members/quay-lease.html", "robots.txt doesn't allow it"),
            ("/nowhere", "the server answered 404"),
        ],
        rows=True,
    ),
)
def test_parse_reports_why_a_page_could_not_be_fetched(scrapy, path, told):
    ran = scrapy("parse", "--spider=ft", scrapy.site.url + path)
    assert ran.code == 1
    assert f"newscrawl: can't fetch {scrapy.site.url}{path}: {told}" in ran.err
    assert ran.out == ""


def test_parse_reports_why_a_page_is_not_an_article(scrapy):
    scrapy.site.routes["/nothing"] = lambda _: Answer(body=b"<html><p>No.</html>")
    scrapy.site.routes["/closed"] = lambda _: Answer(status=403, body=b"<html>No</html>")
    ran = scrapy("parse", "--spider=ft", f"{scrapy.site.url}/nothing")
    assert ran.code == 1
    assert "/nothing is dropped (" in ran.err
    ran = scrapy("parse", "--spider=ft", f"{scrapy.site.url}/closed")
    assert ran.code == 1
    assert "/closed is refused, and no feed has its headline" in ran.err


@pytest.mark.thorough
def test_parse_exports_its_articles(scrapy):
    ran = scrapy("parse", "--spider=ft", scrapy.site.url + PAGE, "--noitems", "-O", "-:jsonl")
    assert ran.code == 0, ran.err
    assert f'"title": "{TITLE}"' in ran.out


@pytest.mark.thorough
def test_parse_chooses_the_spider_by_the_url(scrapy, tmp_path_factory):
    url = scrapy.site.url + PAGE
    ran = scrapy("parse", url)
    assert ran.code == 2
    assert f"no source of the registry covers {url}: name one, as in --spider=ft" in ran.err
    own = demo_settings(scrapy.site.url, tmp_path_factory.mktemp("own"), "sqlite://")
    ran = scrapy("parse", "--nocolour", url, NEWSCRAWL_SOURCES=own["NEWSCRAWL_SOURCES"])
    assert ran.code == 0, ran.err
    assert "'source': 'harbour-courier'" in ran.out


# --- scrapy check ---------------------------------------------------------------------------------


def test_check_runs_the_contracts_of_the_ft_spider(scrapy):
    ran = scrapy("check", "ft", "-a", scrapy.site.feeds)
    assert ran.code == 0, ran.err
    assert "Ran 4 contracts" in ran.err
    assert scrapy.site.paths().count("/feed.xml") == 2
    assert len(scrapy.site.paths()) == 4  # robots.txt, and the newest article
    assert scrapy("check", "--list", "ft").out == "ft\n  * parse\n  * parse_newest\n"


def test_check_fails_on_an_empty_feed(scrapy):
    scrapy.site.routes["/feed.xml"] = lambda _: Answer(
        body=b"<rss><channel><title>Empty</title></channel></rss>", kind="application/xml"
    )
    ran = scrapy("check", "ft", "-a", scrapy.site.feeds)
    assert ran.code == 1
    assert "Returned 0 requests, expected 1..inf" in ran.err
    assert "FAILED (failures=2)" in ran.err


@pytest.mark.thorough
def test_check_fails_on_an_article_without_a_headline(scrapy):
    text = b"<p>" + b"A sentence about nothing much, which goes on for a while. " * 20 + b"</p>"
    page = b"<html lang=en><body><article>" + text + b"</article></body></html>"
    link = f"{scrapy.site.url}/content/1"
    feed = f"<rss><channel><item><link>{link}</link></item></channel></rss>".encode()
    scrapy.site.routes["/content/1"] = lambda _: Answer(body=page)
    scrapy.site.routes["/feed.xml"] = lambda _: Answer(body=feed, kind="application/xml")
    ran = scrapy("check", "ft", "-a", scrapy.site.feeds)
    assert ran.code == 1
    assert "Empty fields: title, published" in ran.err


@pytest.mark.thorough
def test_check_of_an_unreachable_site_is_an_error(scrapy):
    scrapy.site.routes["/feed.xml"] = always(status=404)
    ran = scrapy("check", "ft", "-a", scrapy.site.feeds)
    assert ran.code == 1
    assert "FAILED (errors=2)" in ran.err


@pytest.mark.parametrize("command", first_is_quick(["check", "parse", "fetch", "shell", "view"]))
def test_unknown_source_is_named(scrapy, command):
    url = scrapy.site.url + PAGE
    ran = scrapy(command, "ftt") if command == "check" else scrapy(command, "--spider=ftt", url)
    assert ran.code == 2
    assert ran.err.splitlines()[-1] == "newscrawl: no source 'ftt'; did you mean ft?"
    assert scrapy.site.visits == []


def test_invalid_argument_is_named(scrapy):
    ran = scrapy("check", "ft", "-a", "limit=many")
    assert ran.code == 2
    assert "newscrawl: -a limit=many: not a whole number above 0" in ran.err


# --- The others -----------------------------------------------------------------------------------


@pytest.mark.parametrize("spider", first_is_quick([(), ("--spider=ft",)]), ids=["any", "ft"])
def test_fetch_prints_only_the_page(scrapy, spider):
    ran = scrapy("fetch", *spider, scrapy.site.url + PAGE)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("<!DOCTYPE html>")
    assert scrapy.site.paths() == ["/robots.txt", PAGE]


def test_fetch_obeys_robots_txt(scrapy):
    ran = scrapy("fetch", f"{scrapy.site.url}/members/quay-lease.html")
    assert ran.out == ""
    assert scrapy.site.paths() == ["/robots.txt"]


@pytest.mark.parametrize("spider", first_is_quick([(), ("--spider=ft",)]), ids=["any", "ft"])
def test_shell_requests_only_the_page(scrapy, spider):
    code = "response.status, spider.name"
    ran = scrapy("shell", *spider, scrapy.site.url + PAGE, "-c", code)
    assert ran.code == 0, ran.err
    assert ran.out.strip() == f"(200, '{'ft' if spider else 'default'}')"
    assert scrapy.site.paths() == ["/robots.txt", PAGE]
