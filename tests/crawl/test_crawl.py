"""The whole line on the bundled site: from its feed to what the database holds."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import pytest

from tests.site import content
from tests.site.crawling import Crawl, crawl
from tests.site.demo import SOURCE, demo_settings
from tests.site.server import FetchAttempt, SiteServer

FACTS = content.facts()
ARTICLES = [page for page in FACTS if page.outcome == "article"]
TOLD = [page for page in FACTS if page.outcome in {"paywall", "disallowed"}]
STORED = [*ARTICLES, *TOLD]


@dataclass(frozen=True)
class World:
    """The site after two crawls of it, and who asked it for what in each."""

    url: str
    first: Crawl
    second: Crawl
    first_visits: list[FetchAttempt]
    second_visits: list[FetchAttempt]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("crawl")
    database = folder / "news.sqlite"
    with SiteServer() as site:
        environment = demo_settings(site.url, folder, f"sqlite:///{database}")
        environment["NEWSCRAWL_COMPANIES"] = ""  # the bundled ones
        # Midnight between the two crawls makes no page due.
        environment["NEWSCRAWL_REVISITS"] = "30d"
        since = f"since={min(page.moment for page in FACTS):%Y-%m-%d}"
        first = crawl(SOURCE, since, database=database, environment=environment)
        seen = len(site.visits)
        second = crawl(SOURCE, since, database=database, environment=environment)
        yield World(site.url, first, second, site.visits[:seen], site.visits[seen:])


def stored(world: World, page: content.Facts) -> dict[str, object]:
    (row,) = world.first.rows("SELECT * FROM articles WHERE url = ?", world.url + page.path)
    return row


def ids(pages: list[content.Facts]) -> list[str]:
    return [page.path for page in pages]


def test_crawl_succeeds_without_an_error_in_its_log(world):
    assert world.first.code == 0, world.first.output
    assert world.first.errors == []
    assert "Warning" not in world.first.output


@pytest.mark.parametrize("page", STORED, ids=ids(STORED))
def test_article_is_stored_with_its_text_and_metadata(world, page):
    row = stored(world, page)
    assert row["title"] == page.title
    assert row["language"] == page.language
    assert row["day"] == f"{page.moment:%Y-%m-%d}"


@pytest.mark.parametrize("page", STORED, ids=ids(STORED))
def test_companies_in_the_article_count_and_those_in_boilerplate_do_not(world, page):
    found = world.first.rows(
        "SELECT DISTINCT name FROM mentions JOIN companies ON companies.id = company_id "
        "JOIN articles ON articles.id = article_id WHERE url = ?",
        world.url + page.path,
    )
    assert {row["name"] for row in found} == set(page.companies)


@pytest.mark.parametrize("page", TOLD, ids=ids(TOLD))
def test_text_of_the_feed_is_stored_for_an_inaccessible_page(world, page):
    row = stored(world, page)
    assert row["text"] == page.standfirst
    assert row["kind"] == "paywall"
    assert row["access"] == ("disallowed" if page.outcome == "disallowed" else "paywalled")


@pytest.mark.parametrize(
    ("path", "phrase"),
    [
        ("/ru/portovye-krany.html", "Начальник порта Тимофей Волнов рассказал"),
        ("/de/filiale-am-markt.html", "Für die Bücherei ist der Umzug ein Glück"),
    ],
)
def test_legacy_charsets_are_read(world, path, phrase):
    (row,) = world.first.rows("SELECT text FROM articles WHERE url = ?", world.url + path)
    assert phrase in row["text"]


def test_only_expected_articles_are_stored(world):
    urls = {
        row["url"].removeprefix(world.url) for row in world.first.rows("SELECT url FROM articles")
    }
    assert urls == {page.path for page in STORED}


def test_print_view_is_an_alias_of_its_article(world):
    rows = world.first.rows(
        "SELECT article_urls.url FROM article_urls JOIN articles ON articles.id = article_id "
        "WHERE articles.url = ?",
        f"{world.url}/en/harbour-software.html",
    )
    assert {row["url"].removeprefix(world.url) for row in rows} == {
        "/en/harbour-software.html",
        "/en/print/harbour-software.html",
    }
    assert world.first.rows("SELECT * FROM revisions") == []


def test_page_without_an_article_is_dropped_and_counted(world):
    assert world.first.counts["item_dropped_reasons_count/NotAnArticle"] == 1
    assert "Dropped (NotAnArticle)" in world.first.output


def test_page_disallowed_by_robots_txt_is_never_requested(world):
    paths = [attempt.path for attempt in (*world.first_visits, *world.second_visits)]
    assert paths[0] == "/robots.txt"
    assert not any(path.startswith("/members/") for path in paths)


def test_crawl_delay_of_robots_txt_is_obeyed(world):
    moments = [attempt.moment for attempt in world.first_visits]
    # From the second request on: robots.txt itself comes before the delay is known.
    gaps = [later - earlier for earlier, later in pairwise(moments[1:])]
    assert len(gaps) > 10
    # A busy machine may note a visit late, which makes one gap longer and the next one shorter,
    # but not the one in the middle.
    assert median(gaps) > 0.15


def test_requests_have_our_user_agent(world):
    agents = {attempt.user_agent for attempt in world.first_visits}
    assert agents == {"newscrawl/0.1.0 (+https://newscrawl.example/demo)"}


def test_summary_is_one_line_with_the_counts(world):
    mentions = world.first.rows("SELECT count(*) AS n FROM mentions")[0]["n"]
    assert world.first.summary == (
        f"{SOURCE}: {len(FACTS)} found, 0 known before, {len(FACTS) - 1} fetched, "
        f"{len(STORED)} new, 0 revised, 1 unchanged, {len(TOLD)} from the feed only, "
        f"1 dropped (NotAnArticle 1), {mentions} mentions; state ok"
    )


def test_coverage_and_run_are_recorded(world):
    days = world.first.rows("SELECT state, found, stored FROM coverage ORDER BY day")
    assert days[0] == {"state": "ok", "found": len(FACTS), "stored": len(FACTS) - 1}
    runs = world.first.rows("SELECT reason, finished_at, versions FROM runs")
    assert [run["reason"] for run in runs] == ["finished", "finished"]
    assert all(run["finished_at"] for run in runs)
    assert all(
        re.fullmatch(r"[0-9a-f]{12}", json.loads(run["versions"])["companies"]) for run in runs
    )


def test_second_crawl_adds_nothing_and_reports_it(world):
    assert world.second.code == 0
    assert (
        "0 fetched, 0 new, 0 revised, 0 unchanged, 4 feeds and sitemaps unchanged"
        in world.second.summary
    )
    assert world.second.summary.endswith("0 mentions; state ok")


def test_second_crawl_requests_no_page_again(world):
    paths = [attempt.path for attempt in world.second_visits]
    assert [path for path in paths if not path.endswith((".xml", ".txt"))] == []


def test_article_listed_under_two_urls_is_stored_once(world):
    paths = [attempt.path.partition("?")[0] for attempt in world.first_visits]
    assert paths.count("/en/harbour-software.html") == 1
