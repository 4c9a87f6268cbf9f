"""The bench of whole crawls, on a world small enough for a test."""

import http.client
import json
import subprocess
import sys

import pytest

from benchmarks.crawl import WARM_PAGES, Result, Run, Sample, show
from benchmarks.crawl.world import World
from tests.site.crawling import PROJECT


def test_benchmark_crawls_twice_and_downloads_once() -> None:
    command = [sys.executable, "-m", "benchmarks.crawl", "--sites", "5", "--articles", "60"]
    done = subprocess.run(
        [*command, "--json"], cwd=PROJECT, capture_output=True, text=True, check=False, timeout=250
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    first, second, bare = figures["first"], figures["second"], figures["bare"]
    assert first["pages"] >= 60
    assert bare["pages"] >= 60
    assert figures["stored"] >= 30  # some pages of tests/pages hold no article
    # An unchanged world costs next to nothing the second time.
    assert second["pages"] == 0
    assert figures["again"] < 0.05  # the small world's robots.txt weigh more than a large one's
    assert figures["share"] > 0


def test_each_article_has_one_url_and_one_page() -> None:
    world = World(sites=3, articles=10, port=80)
    urls = list(world.urls())
    assert len(set(urls)) == 10
    assert urls[4].startswith("http://127.0.1.2:80/news/")
    pages = [world.page(number) for number in range(10)]
    assert len(set(pages)) == 10
    assert b"harbour-report-number-4.html" in world.feed(1)
    assert b"harbour-report-number-5.html" not in world.feed(1)


@pytest.mark.parametrize(
    ("path", "temper"),
    [
        ("/news/2026/harbour-report-number-1.html", "fine"),
        ("/news/2026/harbour-report-number-17.html", "missing"),
        ("/news/2026/harbour-report-number-34.html", "broken"),
        ("/news/2026/harbour-report-number-51.html", "moved"),
        ("/news/moved/2026/harbour-report-number-51.html", "fine"),
        ("/news/2026/harbour-report-number-68.html", "slow"),
        ("/news/2026/harbour-report-number-85.html", "cut"),
    ],
)
def test_benchmark_site_has_missing_broken_moved_and_slow_articles(path: str, temper: str) -> None:
    place = World(sites=3, articles=100, port=80).place(path)
    assert place is not None
    assert place.temper == temper


@pytest.mark.parametrize("path", ["/", "/news/x", "/news/2026/harbour-report-number-100.html"])
def test_other_paths_are_missing(path: str) -> None:
    assert World(sites=3, articles=100, port=80).place(path) is None


def test_server_answers_conditional_requests() -> None:
    command = [sys.executable, "-m", "benchmarks.crawl.server", "2", "10"]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        world = World(2, 10, int(server.stdout.readline()))
        connection = http.client.HTTPConnection(world.host(1), world.port)
        connection.request("GET", "/feed.xml")
        first = connection.getresponse()
        assert len(first.read()) > 0
        connection.request("GET", "/feed.xml", headers={"If-None-Match": first.headers["ETag"]})
        second = connection.getresponse()
        assert (first.status, second.status, second.read()) == (200, 304, b"")
        connection.close()
        server.terminate()


def test_figures_are_shown() -> None:
    memory = tuple(Sample(pages, 100 + pages / 1000) for pages in range(0, 4001, 500))
    run = Run(seconds=10, processor=8, pages=1000, sent=10**8, code=0, memory=memory)
    bare = Run(seconds=5, processor=3, pages=1000, sent=10**8, code=0)
    again = Run(seconds=2, processor=2, pages=0, sent=10**5, code=0)
    result = Result(first=run, second=again, bare=bare, stored=900)
    told = show(result)
    assert "whole line against bare download: 50% of its pages per second" in told
    assert "bytes of the second run: 0.10% of the first one's" in told
    assert f"memory after {WARM_PAGES} pages: +2.0%" in told
    assert all(len(line) <= 100 for line in told.splitlines())
