"""newscrawl db delete --forbidden: what robots.txt forbids by now is listed and reduced."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from newscrawl.items import Hints, RobotsPolicy
from newscrawl.mentions import load_companies
from newscrawl.monitoring import robots_audit
from newscrawl.monitoring.robots_audit import Audit
from newscrawl.sources.robots import RobotsRules
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.batch import FinishedPage, write_batch
from newscrawl.storage.frontier.listings import Schedule
from newscrawl.storage.frontier.queue import FrontierEntry, open_frontier
from newscrawl.storage.models import (
    Article,
    Boilerplate,
    FrontierUrl,
    MentionChange,
    QuarantinedRevision,
    Revision,
)
from newscrawl.storage.saved_state import keep_robots_policy, robots_policy
from tests.conftest import Newscrawl
from tests.counted import counted
from tests.site.broken import instead, reset
from tests.site.faults import always
from tests.site.server import SiteServer
from tests.worlds import LONG, body, document, headline, register, save_document

COMPANIES = Path(__file__).parent.parent / "site" / "companies.toml"
SCHEDULE = Schedule(
    revisits=(timedelta(hours=1),),
    retries=(),
    poll_min=timedelta(minutes=10),
    poll_max=timedelta(hours=6),
)
CLOSED = b"User-agent: *\nDisallow: /closed\n"


def ignore(_done: int) -> None:
    pass


def policy(rules: bytes, host: str = "https://ft.example", status: int = 200) -> RobotsPolicy:
    return RobotsPolicy(origin=host, status=status, rules=rules, fetched_at=datetime.now(UTC))


def audited(database: Database, *policies: RobotsPolicy) -> Audit:
    for copy in policies:
        keep_robots_policy(database, copy)
    return robots_audit.audit(database, None, None, ignore)


def purge(database: Database, *policies: RobotsPolicy) -> None:
    forbidden = audited(database, *policies).forbidden
    robots_audit.purge(database, forbidden, load_companies(COMPANIES), ignore)


# --- What is forbidden ------------------------------------------------------------------------


def test_disallowed_article_is_listed_with_its_rule(database):
    run = register(database)
    save_document(database, document("closed/a"), run)
    save_document(database, document("open/b", text=f"Another text. {LONG}"), run)
    save_document(database, document("closed/c", text="Told.", access="paywalled"), run)
    result = audited(database, policy(b"User-agent: *\nDisallow: /\nAllow: /open\n"))
    (row,) = result.forbidden
    assert (row.source, row.url, row.rule) == ("ft", "https://ft.example/closed/a", "Disallow: /")
    assert (result.articles, result.unchecked) == (2, 0)


def test_article_is_allowed_if_one_of_its_urls_is(database):
    run = register(database)
    save_document(database, document("closed/a", fetched_from="https://m.ft.example/a"), run)
    closed = policy(CLOSED)
    assert len(audited(database, closed).forbidden) == 1
    assert audited(database, closed, policy(b"", "https://m.ft.example", 404)).forbidden == []


def test_article_without_a_known_robots_txt_is_not_checked(database):
    save_document(database, document("closed/a"), register(database))
    reason = "no copy of its robots.txt is stored"
    unknown = {"https://ft.example": reason}
    assert audited(database) == Audit(articles=1, unchecked=1, unknown=unknown)


RULES = """\
User-agent: other
Disallow: /
User-agent: *
Disallow: /every

User-agent: newscrawl # that's us
User-agent: another
Disallow: /a
Disallow: /*/deep$
Allow: /a/b
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/a", "Disallow: /a"),
        ("/x/deep", "Disallow: /*/deep$"),
        ("/a/x/deep", "Disallow: /*/deep$"),
        ("/a/b", None),
        ("/every", None),
    ],
)
def test_disallowing_line_is_found(path, line):
    rules = RobotsRules(policy(RULES.encode()), "newscrawl")
    assert rules.line_against(f"https://ft.example{path}") == line


# --- What is left -----------------------------------------------------------------------------


def stored(database: Database, *, waits: bool = True) -> int:
    """An article with a revision, mentions and boilerplate; `waits`: its feed's words are known."""
    frontier = open_frontier(database, "ft", register(database), SCHEDULE)
    hints = Hints(title="Siemens, as the feed has it", standfirst="Siemens told the feed.")
    url = "https://ft.example/closed/a"
    frontier.enqueue(None, [FrontierEntry(url=url, fetch_url=url, hints=hints)])
    (page,) = frontier.dequeue(1)
    read = document(
        "closed/a",
        text=f"Siemens and Bosch. {LONG}",
        mentions=[body("Siemens")],
        boilerplate=[("Zeiss", 2)],
    )
    read = replace(read, page=replace(read.page, attempt=replace(page.attempt, etag="x")))
    later = datetime.now(UTC) if waits else datetime.now(UTC) - timedelta(days=2)
    attempt = replace(page.attempt, born=later, etag='"x"')
    result = frontier.fetch_result(attempt, "read", "stored")
    write_batch(database, frontier.run_id, [FinishedPage(document=read, result=result)])
    revised = document(
        "closed/a",
        title="Siemens, as the page has it",
        text=f"Siemens, Bosch and more. {LONG}",
        mentions=[headline("Siemens"), body("Siemens"), body("Bosch", 9)],
    )
    save_document(database, revised, frontier.run_id)
    with database.reading() as session:
        number = session.scalar(select(Article.id))
    assert number is not None
    return number


def rows(database: Database, table: type[Any]) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_purged_article_has_the_text_of_its_feed(database):
    number = stored(database)
    save_document(database, document("closed/a", title="Siemens", text="Wait."), register(database))
    assert (rows(database, Revision), rows(database, QuarantinedRevision)) == (1, 1)
    purge(database, policy(CLOSED))
    with database.reading() as session:
        article = session.get(Article, number)
        assert article.title == "Siemens, as the feed has it"
        assert article.text == "Siemens told the feed."
        assert (article.access, article.kind, article.revision) == ("disallowed", "paywall", 1)
        assert session.scalars(select(FrontierUrl.etag)).all() == [None]
    for table in (Revision, QuarantinedRevision, MentionChange, Boilerplate):
        assert rows(database, table) == 0
    assert audited(database, policy(CLOSED)).articles == 0


def test_rollups_follow_a_purge(database):
    stored(database)
    bosch = document("open/b", text=f"Bosch. {LONG}", mentions=[body("Bosch")])
    save_document(database, bosch, register(database))
    purge(database, policy(CLOSED))
    ranking = {row.company: row.hits for row in queries.company_ranking(database)}
    assert (ranking["Siemens"].in_title, ranking["Siemens"].in_body) == (1, 1)
    assert (ranking["Bosch"].in_title, ranking["Bosch"].in_body) == (0, 1)
    assert [hit.article.url for hit in queries.search(database, "bosch")] == [
        "https://ft.example/open/b"
    ]
    assert len(queries.search(database, "feed")) == 1
    before = counted(database)
    database.rebuild()
    assert counted(database) == before


def test_purged_article_without_a_feed_text_keeps_its_headline(database):
    number = stored(database, waits=False)
    purge(database, policy(CLOSED))
    with database.reading() as session:
        article = session.get(Article, number)
        assert (article.title, article.text) == ("Siemens, as the page has it", "")


def test_purge_restores_an_earlier_text_of_the_feed(database):
    run = register(database)
    first = document("closed/a", title="Told", text="By the feed.", access="paywalled")
    save_document(database, first, run)
    save_document(database, document("closed/a", title="Read", text=LONG), run)
    purge(database, policy(CLOSED))
    with database.reading() as session:
        (article,) = session.scalars(select(Article)).all()
        assert (article.title, article.text) == ("Told", "By the feed.")


def test_article_allowed_again_is_read_again(database):
    number = stored(database)
    purge(database, policy(CLOSED))
    again = document("closed/a", title="Back", text=LONG)
    assert save_document(database, again, register(database)).outcome == "revised"
    with database.reading() as session:
        article = session.get(Article, number)
        assert (article.access, article.text, article.revision) == ("open", LONG, 2)


# --- The command ------------------------------------------------------------------------------


@pytest.fixture
def site(newscrawl: Newscrawl) -> Iterator[SiteServer]:
    """A site of which two articles are stored in newscrawl.sqlite; one is forbidden."""
    served = SiteServer(routes={"/robots.txt": always(CLOSED)})
    with open_database("sqlite:///newscrawl.sqlite") as database:
        run = register(database)
        for path in ("closed/a", "open/b"):
            page = document(path, text=f"Siemens at {path}. {LONG}", mentions=[body("Siemens")])
            url = f"{served.url}/{path}"
            page = replace(
                page, page=replace(page.page, url=url), article=replace(page.article, url=url)
            )
            save_document(database, page, run)
    with served:
        yield served


pytestmark = pytest.mark.usefixtures("shared_helper")
AUDIT = ("db", "delete", "--forbidden", "--allow-private")
DRY = (*AUDIT, "--dry-run")


def test_command_requests_only_robots_txt(newscrawl, site):
    ran = newscrawl(*DRY, "--format", "json")
    assert site.paths() == ["/robots.txt"]
    assert ran.code == 1
    (row,) = json.loads(ran.out)
    assert (row["source"], row["host"], row["rule"]) == ("ft", site.url, "Disallow: /closed")
    assert (row["url"], row["day"]) == (f"{site.url}/closed/a", "2026-11-20")
    with open_database("sqlite:///newscrawl.sqlite") as database:
        copy = robots_policy(database, site.url)
    assert copy.rules == CLOSED


def test_stored_robots_txt_is_used_on_request_or_as_a_fallback(newscrawl, site):
    with open_database("sqlite:///newscrawl.sqlite") as database:
        keep_robots_policy(database, policy(CLOSED, site.url))
    ran = newscrawl(*DRY, "--stored", "--format", "csv")
    assert site.paths() == []
    assert ran.code == 1
    assert len(list(csv.DictReader(io.StringIO(ran.out)))) == 1
    site.routes["/robots.txt"] = instead(reset)
    assert newscrawl(*DRY).code == 1
    assert set(site.paths()) == {"/robots.txt"}


def test_unchecked_articles_are_reported(newscrawl, site):
    site.routes["/robots.txt"] = instead(reset)
    ran = newscrawl(*AUDIT)
    assert ran.code == 1
    assert f"Not checked: 2 articles, since the robots.txt of {site.url} can't be read" in ran.err


def test_no_disallowed_article_is_exit_code_0(newscrawl, site):
    site.routes["/robots.txt"] = always(status=404)
    ran = newscrawl(*AUDIT, "--source", "ft")
    assert (ran.code, "0 of 2 articles forbidden" in ran.out) == (0, True)


def test_forbidden_texts_are_deleted_once(newscrawl, site):
    purged = newscrawl(*AUDIT, "--companies", COMPANIES)
    assert purged.code == 0, purged.err
    assert "Reduced to headline and introduction: 1 article." in purged.err
    assert newscrawl(*DRY).code == 0
    with open_database("sqlite:///newscrawl.sqlite") as database:
        (row,) = queries.company_ranking(database)
        assert (row.company, row.hits.articles) == ("Siemens", 1)


def test_addresses_and_days_are_refused_beside_the_forbidden(newscrawl):
    for further in (["https://ft.example/a"], ["--before", "30d"]):
        ran = newscrawl(*AUDIT, *further)
        assert (ran.code, "--forbidden takes --source" in ran.err) == (2, True)
