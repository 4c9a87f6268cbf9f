"""Comparisons: the chances of a change are exact, and chance alone is rarely taken for one; the
pairs of companies in the same articles give the numbers of the articles themselves."""

import random
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from random import Random

import pytest
from hypothesis import given, strategies as st
from sqlalchemy import delete, select

from benchmarks.changes import share_named
from newscrawl.answers.words import change_text, verdict_text
from newscrawl.items import Document
from newscrawl.storage import Database, QuestionError, queries, rollups
from newscrawl.storage.documents import LAST_MINUTE
from newscrawl.storage.models import Appearance, Company, DailyCompany
from newscrawl.storage.queries import Scope
from newscrawl.storage.queries.comparisons import ALPHA, Change, Day, compare, two_sided
from newscrawl.storage.saved_queries import add_query, count_history
from newscrawl.storage.scope import minutes_of
from tests.worlds import body, day, document, moment, register, save_document, save_documents


@given(now=st.integers(0, 3000), before=st.integers(0, 3000), share=st.floats(0.01, 0.99))
def test_chance_is_twice_the_smaller_tail_of_the_binomial(now, before, share):
    from scipy.stats import binom  # noqa: PLC0415 - takes a second of all processes of pytest

    total = now + before
    tails = binom.cdf(now, total, share), binom.sf(now - 1, total, share)
    expected = min(1.0, 2 * min(tails))
    assert two_sided(now, before, share) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def steady(articles: int, read: int, days: int = 30) -> list[Day]:
    return [Day(articles, read)] * days


def test_clear_rise_and_fall_are_named():
    low, high = steady(2, 100), steady(4, 100)
    assert compare(high, low).verdict == "more"
    assert compare(low, high).verdict == "fewer"
    assert compare(low, low).verdict == "unclear"


def test_half_of_the_sources_failing_is_no_fall():
    change = compare(steady(2, 50), steady(4, 100))
    assert (change.verdict, change.growth) == ("unclear", 0.0)


def test_more_papers_read_are_no_growth():
    change = compare([Day(131, 658)], [Day(36, 219)])
    assert change_text(change) == "+21%"


def test_one_to_three_is_told_in_counts():
    change = compare([Day(3, 100)], [Day(1, 100)])
    assert change_text(change) == "1 → 3"
    assert change.growth is None
    assert verdict_text(change).startswith("no clear change")


def test_new_company_has_no_percentage():
    assert change_text(compare(steady(1, 100), steady(0, 100))) == "0 → 30"


def test_no_article_in_both_periods_is_not_compared():
    change = compare(steady(0, 100), steady(0, 100))
    assert (change.before, change.chance, verdict_text(change)) == (0, None, "too few to compare")


def test_nothing_read_before_is_not_compared():
    change = compare(steady(2, 100), [])
    assert (change.verdict, change.before, verdict_text(change)) == (
        "unknown",
        None,
        "no previous period yet",
    )
    assert change_text(change) == "no data before"


def test_percentage_stands_beside_the_chance():
    change = Change(now=150, before=100, chance=0.0004, rises=True, growth=0.5)
    assert change_text(change) == "+50%"
    assert verdict_text(change) == "a larger share than before (p\u00a0<\u00a00.001)"


@pytest.mark.parametrize("scatter", [0.0, 0.5])
@pytest.mark.parametrize("mean", [0.3, 3.0])
def test_chance_alone_is_rarely_called_a_change(mean, scatter):
    false = share_named(random.Random(7), mean, scatter, 1.0, 400)  # noqa: S311 - no secret
    # More than the limit promises, for the luck of the draw.
    assert false <= 2.5 * ALPHA


def test_twice_as_many_articles_are_called_more():
    rng = random.Random(7)  # noqa: S311 - no secret
    assert share_named(rng, 3.0, 0.1, 2.0, 100) > 0.85


COMPANIES = ("Alphabet", "Bosch", "Google", "Meta", "Siemens", "YouTube")
SCOPES = [
    pytest.param(Scope(now=moment(6)), id="all"),
    pytest.param(
        Scope(since=day(-1), until=day(2), now=moment(6)), id="days", marks=pytest.mark.thorough
    ),
    pytest.param(
        Scope(since=day(-1), zone="Pacific/Auckland", now=moment(6)),
        id="zone",
        marks=pytest.mark.thorough,
    ),
    pytest.param(
        Scope(section="Business", now=moment(6)), id="section", marks=pytest.mark.thorough
    ),
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
def test_articles_together_are_those_of_the_pages(world, scope):
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
def test_stories_together_are_those_of_the_articles(world, scope):
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


def test_stories_together_are_counted_of_the_companies_that_are_shown(world):
    rows = queries.co_mentions(world.database, "Siemens", stories=True)
    first = queries.co_mentions(world.database, "Siemens", stories=True, limit=2)
    assert first == rows[:2]
    assert {row.stories for row in queries.co_mentions(world.database, "Siemens")} == {None}
    assert queries.co_mentions(world.database, "Nobody") == []


def test_missing_daily_counts_are_an_error_that_says_what_to_do(database):
    page = document(mentions=[body("Siemens"), body("Bosch", 10)])
    save_document(database, page, register(database))
    assert [row.share for row in queries.co_mentions(database, "Siemens")] == [1.0]
    database.write(lambda session: session.execute(delete(DailyCompany)))
    with pytest.raises(QuestionError, match=r"daily counts of Siemens .* newscrawl db rebuild"):
        queries.co_mentions(database, "Siemens")
    database.rebuild()
    assert [row.share for row in queries.co_mentions(database, "Siemens")] == [1.0]
