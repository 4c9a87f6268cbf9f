"""Companies in the same articles: the pairs give the same numbers as the articles themselves."""

from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from random import Random

import pytest
from sqlalchemy import delete, select

from newscrawl.items import Document
from newscrawl.storage import Database, QuestionError, queries, rollups
from newscrawl.storage.documents import LAST_MINUTE
from newscrawl.storage.models import Appearance, Company, DailyCompany
from newscrawl.storage.queries import Scope
from newscrawl.storage.saved_queries import add_query, count_history
from newscrawl.storage.scope import minutes_of
from tests.worlds import body, day, document, moment, register, save_document, save_documents

COMPANIES = ("Alphabet", "Bosch", "Google", "Meta", "Siemens", "YouTube")
SCOPES = [
    pytest.param(Scope(now=moment(6)), id="all"),
    pytest.param(Scope(since=day(-1), until=day(2), now=moment(6)), id="days"),
    pytest.param(Scope(since=day(-1), zone="Pacific/Auckland", now=moment(6)), id="zone"),
    pytest.param(Scope(section="Business", now=moment(6)), id="section"),
]


@dataclass(frozen=True)
class World:
    """A database, and the pages in it."""

    database: Database
    pages: list[Document]

    def count_beside(self, name: str, scope: Scope) -> dict[str, int]:
        """Count by the pages themselves."""
        found: Counter[str] = Counter()
        rows = queries.articles(self.database, scope=scope, limit=500)
        urls = {row.url for row in rows}
        for page in self.pages:
            named = {mention.company for mention in page.mentions}
            if page.article.text.startswith("Strike"):
                named.add("strikes")
            if page.article.url in urls and name in named:
                found.update(named - {name})
        return dict(found)


@pytest.fixture(scope="module")
def world(module_database: Database) -> World:
    random = Random(11)  # noqa: S311 - not for secrets
    run = register(module_database, "ft")
    pages = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollups, "MAX_PAIRED", 4)  # more companies in an article are not pairs
        for number in range(50):
            chosen = random.sample(COMPANIES, random.randint(0, 6))
            copied = " ".join(f"word{number // 5}x{place}" for place in range(40))
            page = document(
                f"a{number}",
                text=f"{random.choice(['Strike of pilots.', 'Rest.'])} {copied} {number}",
                mentions=[body(name, 10 * place) for place, name in enumerate(chosen)],
                published=moment(random.randint(-4, 4)),
                section=random.choice(["Business", "Culture"]),
            )
            pages.append(page)
        save_documents(module_database, pages, run)
    add_query(module_database, "strikes", "strike", "ann")
    count_history(module_database, "strikes")
    return World(module_database, pages)


@pytest.fixture(params=[0, 250], ids=["pairs", "articles"])
def read_from(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts from the pairs, or from the articles themselves."""
    module = import_module("newscrawl.storage.queries.comparisons")
    monkeypatch.setattr(module, "FEW_ARTICLES", request.param)


@pytest.mark.usefixtures("read_from")
@pytest.mark.parametrize("scope", SCOPES)
def test_articles_together_are_those_of_the_pages(world: World, scope: Scope) -> None:
    for name in (*COMPANIES, "strikes"):
        rows = queries.co_mentions(world.database, name, scope=scope)
        counted = world.count_beside(name, scope)
        assert {row.company: row.articles for row in rows} == counted
        assert [row.company for row in rows] == sorted(counted, key=lambda n: (-counted[n], n))
        # The other half of the pairs is asked for as the companies beside them.
        for other in (one for one in (*COMPANIES, "strikes", "Nobody") if one > name):
            both = queries.proof(world.database, company=name, beside=other, scope=scope, limit=500)
            assert both.number == both.total == len(both.articles) == counted.get(other, 0)
        whole = queries.proof(world.database, company=name, scope=scope).number
        assert [row.share for row in rows] == [row.articles / whole for row in rows]
        assert {row.kind for row in rows if row.company == "strikes"} <= {"saved query"}


@pytest.mark.usefixtures("read_from")
@pytest.mark.parametrize("scope", SCOPES)
def test_stories_together_are_those_of_the_articles(world: World, scope: Scope) -> None:
    since, until = minutes_of(scope)
    named: dict[str, set[tuple[int, int]]] = {name: set() for name in (*COMPANIES, "strikes")}
    with world.database.reading() as session:
        query = select(Company.name, Appearance).join(Company, Company.id == Appearance.company_id)
        for name, one in session.execute(query):
            is_within = (since or 0) <= one.minute < (until or LAST_MINUTE)
            if is_within and scope.section in {None, one.section}:
                named[name].add((one.article_id, one.story_id))
    for name, own in named.items():
        rows = queries.co_mentions(world.database, name, scope=scope, stories=True)
        assert {row.company: row.stories for row in rows} == {
            other: len({story for _, story in own & named[other]})
            for other in named.keys() - {name}
            if own & named[other]
        }
    assert any(row.stories and row.stories < row.articles for row in rows)


def test_stories_together_are_counted_of_the_companies_that_are_shown(world: World) -> None:
    rows = queries.co_mentions(world.database, "Siemens", stories=True)
    first = queries.co_mentions(world.database, "Siemens", stories=True, limit=2)
    assert first == rows[:2]
    assert {row.stories for row in queries.co_mentions(world.database, "Siemens")} == {None}
    assert queries.co_mentions(world.database, "Nobody") == []


def test_missing_daily_counts_are_an_error_that_says_what_to_do(database: Database) -> None:
    page = document(mentions=[body("Siemens"), body("Bosch", 10)])
    save_document(database, page, register(database))
    assert [row.share for row in queries.co_mentions(database, "Siemens")] == [1.0]
    database.write(lambda session: session.execute(delete(DailyCompany)))
    with pytest.raises(QuestionError, match=r"daily counts of Siemens .* newscrawl db rebuild"):
        queries.co_mentions(database, "Siemens")
    database.rebuild()
    assert [row.share for row in queries.co_mentions(database, "Siemens")] == [1.0]
