"""Counts of companies with their subsidiaries, and of groups, on SQLite and on PostgreSQL."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from importlib import import_module
from random import Random
from typing import Any

import pytest

from newscrawl.items import CompanyStructure, Document, Mention, Section
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import Hits, Scope
from newscrawl.storage.rollups import MAX_PAIRED
from tests.worlds import body, day, document, moment, register, save_document, save_documents

STRUCTURE = CompanyStructure(
    parents={"Google": "Alphabet", "YouTube": "Google", "Instagram": "Meta", "WhatsApp": "Meta"},
    groups={"our competitors": ("Bosch", "Google", "YouTube")},
)
COMPANIES = ("Alphabet", "Google", "YouTube", "Instagram", "WhatsApp", "Siemens", "Bosch")
# A fixed moment: counts by hour depend on the hour in which they are asked for.
ALONE = Scope(since=day(-5), until=day(5), structure=STRUCTURE, now=moment(6))
TOGETHER = replace(ALONE, subsidiaries=True)
DATED = replace(STRUCTURE, owned={"Instagram": (day(-1), None), "YouTube": (None, day(1))})
SCOPES = [
    pytest.param({}, id="all"),
    pytest.param({"source": "faz"}, id="source", marks=pytest.mark.thorough),
    pytest.param({"language": "en", "until": day(1)}, id="language", marks=pytest.mark.thorough),
    pytest.param({"section": "Business"}, id="section", marks=pytest.mark.thorough),
    pytest.param(
        {"zone": "Pacific/Auckland", "since": day(-2)}, id="zone", marks=pytest.mark.thorough
    ),
]


def fill(
    database: Database, names: dict[str, str], days: dict[str, tuple[int, int]] | None = None
) -> None:
    """Store articles that mention companies, under these names on these days."""
    random = Random(7)  # noqa: S311 - not for secrets
    runs = {"ft": register(database, "ft"), "faz": register(database, "faz", "de")}
    pages: dict[str, list[Document]] = {source: [] for source in runs}
    for number in range(60):
        published = random.randint(-4, 4)
        used = {
            company: name
            for company, name in names.items()
            if published in range(*(days or {}).get(company, (-4, 5)))
        }
        chosen = random.sample(COMPANIES, random.randint(0, 4))
        mentions: list[Mention] = []
        for place, company in enumerate(chosen):
            section: Section = "title" if random.random() < 0.3 else "body"
            mention = body(used.get(company, company), 20 * place)
            mentions.append(replace(mention, section=section, end=mention.start + 5))
        text = f"Text of {number // 2}. " + " ".join(f"word{number // 2}x{n}" for n in range(40))
        page = document(
            f"a{number}",
            source=random.choice(["ft", "faz"]),
            title="A headline " * 10,
            text=f"{text} {number}",
            mentions=mentions,
            published=moment(published),
            language=random.choice(["en", "de"]),
            section=random.choice(["Business", "Culture"]),
            access=random.choice(["open", "paywalled"]),
        )
        beside = tuple((used.get(one, one), 2) for one in random.sample(COMPANIES, 2))
        merged = {name: 0 for name, _ in beside}
        for name, times in beside:
            merged[name] += times
        pages[page.page.source].append(replace(page, boilerplate=tuple(merged.items())))
    for source, run in runs.items():
        save_documents(database, pages[source], run)
        for number in range(-5, 6):
            database.record_coverage(source, day(number), "ok", 1, 1)


OWNERS = {"Google": "Alphabet", "YouTube": "Alphabet", "Instagram": "Meta", "WhatsApp": "Meta"}


_NAMES = ("Alphabet", "Meta", "Siemens")


@pytest.fixture(scope="module")
def stored(module_database: Database) -> Database:
    """The articles under the companies' own names, on each of the two kinds of databases."""
    fill(module_database, {})
    return module_database


@pytest.fixture(scope="module")
def owners(new_sqlite: Callable[[], Database]) -> Iterator["Answers"]:
    """Answers of the same articles, as if subsidiaries had been found under their owners' names."""
    with new_sqlite() as opened:
        fill(opened, OWNERS)
        yield Answers(opened)


@pytest.fixture(scope="module")
def owners_of_the_day(new_sqlite: Callable[[], Database]) -> Iterator["Answers"]:
    """The same for companies that changed hands."""
    with new_sqlite() as opened:
        fill(opened, OWNERS, {"Instagram": (-1, 5), "YouTube": (-4, 2)})
        yield Answers(opened)


@pytest.fixture(scope="module")
def group_as_company(new_sqlite: Callable[[], Database]) -> Iterator[Database]:
    """The same articles, as if the companies of the group had been found under its name."""
    with new_sqlite() as opened:
        fill(opened, dict.fromkeys(STRUCTURE.groups["our competitors"], "our competitors"))
        yield opened


@dataclass
class Answers:
    """The answers of a database that stays as it is, each asked for once."""

    database: Database
    known: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, narrowed: dict[str, Any]) -> dict[str, Any]:
        key = str(narrowed)
        if key not in self.known:
            scope = replace(ALONE, structure=UNGROUPED, **narrowed)
            self.known[key] = answers(self.database, scope, _NAMES)
        return self.known[key]


def answers(database: Database, scope: Scope, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the answers to each question about companies."""
    found: dict[str, Any] = {
        "ranking": queries.company_ranking(database, scope=scope, stories=True),
        "limited": queries.company_ranking(database, scope=scope, limit=1),
        "overview": queries.overview(database, scope=scope),
        "unmentioned": queries.unmentioned_companies(
            database, ["Alphabet", "Meta", "Nobody"], scope=scope
        ),
    }
    for measure in ("articles", "mentions", "stories"):
        for by in (None, "week", "source"):
            found[f"share of {measure} by {by}"] = queries.share_of_voice(
                database, names, by=by, measure=measure, scope=scope
            )
    for name in names:
        for by in ("hour", "day", "month", "source", "language", "section"):
            found[f"{name} by {by}"] = queries.mention_counts(
                database, by, company=name, scope=scope, stories=True
            )
        found[f"beside {name}"] = queries.co_mentions(database, name, scope=scope, stories=True)
        found[f"not counted of {name}"] = queries.boilerplate(database, company=name, scope=scope)
        stories = queries.stories(database, company=name, scope=scope)
        found[f"stories of {name}"] = {replace(story, story=0) for story in stories}
        rows = queries.articles(database, company=name, scope=scope, every_kind=True)
        rows += queries.articles(database, company=name, scope=scope)
        found[f"articles of {name}"] = [(row.url, row.in_title, row.in_body) for row in rows]
        found[f"sentences of {name}"] = [
            (one.article.url, one.snippets)
            for one in queries.company_articles(database, name, scope=scope)
        ]
    return found


# The databases with which this one is compared know the companies of the group by other names.
UNGROUPED = replace(STRUCTURE, groups={})


@pytest.mark.parametrize("narrowed", SCOPES)
def test_subsidiaries_count_as_if_their_owner_was_mentioned(stored, owners, narrowed):
    counted = answers(stored, replace(TOGETHER, structure=UNGROUPED, **narrowed), _NAMES)
    assert counted == owners.of(narrowed)
    assert counted["ranking"]


@pytest.mark.parametrize("narrowed", SCOPES)
def test_subsidiaries_count_on_the_days_on_which_they_belonged_to_their_owner(
    stored, owners_of_the_day, narrowed
):
    structure = replace(DATED, groups={})
    counted = answers(stored, replace(TOGETHER, structure=structure, **narrowed), _NAMES)
    assert counted == owners_of_the_day.of(narrowed)
    assert {row.company for row in counted["ranking"]} >= {"Meta", "Instagram"}


def test_company_that_changed_hands_counts_for_its_owner_of_the_day(database):
    run = register(database, "ft")
    for number in (-1, 0, 1):
        page = document(
            f"a{number}", text="One.", mentions=[body("Slack")], published=moment(number)
        )
        save_document(database, page, run)
        database.record_coverage("ft", day(number), "ok", 1, 1)
    structure = CompanyStructure(parents={"Slack": "Salesforce"}, owned={"Slack": (day(0), day(0))})
    scope = replace(ALONE, subsidiaries=True, structure=structure)
    ranked = {
        row.company: row.hits.articles for row in queries.company_ranking(database, scope=scope)
    }
    assert ranked == {"Slack": 2, "Salesforce": 1}
    sparks = {
        row.company: row.spark
        for row in queries.overview(
            database, scope=replace(scope, since=day(-1), until=day(1))
        ).companies
    }
    assert sparks == {"Slack": (1, 0, 1), "Salesforce": (0, 1, 0)}
    rows = queries.company_articles(database, "Salesforce", scope=scope)
    assert [row.article.day for row in rows] == [day(0)]
    assert scope.owner("Slack", day(0)) == "Salesforce"
    assert scope.members("Salesforce") == ("Salesforce", "Slack")
    assert replace(scope, since=day(1)).members("Salesforce") == ("Salesforce",)


def test_article_with_two_subsidiaries_counts_once(database):
    run = register(database, "ft")
    both = [body("Google"), body("YouTube", 10)]
    save_document(database, document("a", text="Both.", mentions=both), run)
    save_document(database, document("b", text="One.", mentions=[body("Google")]), run)
    database.record_coverage("ft", day(0), "ok", 2, 2)
    (row,) = queries.company_ranking(database, scope=replace(TOGETHER, structure=UNGROUPED))
    assert (row.company, row.hits) == ("Alphabet", Hits(articles=2, in_body=3))
    apart = queries.company_ranking(database, scope=replace(ALONE, structure=UNGROUPED))
    assert [(row.company, row.hits.articles) for row in apart] == [("Google", 2), ("YouTube", 1)]
    assert (
        queries.mention_counts(database, "year", company="Alphabet", scope=ALONE)[0].hits == Hits()
    )


@pytest.mark.parametrize("others", [0, MAX_PAIRED - 3, MAX_PAIRED])
def test_article_with_three_companies_of_an_owner_counts_once_beside_any_number_of_others(
    database, others
):
    run = register(database, "ft")
    family = [body(name, 10 * place) for place, name in enumerate(("Alphabet", "Google"))]
    listed = [body(f"Company {number}", 40) for number in range(others)]
    three = [*family, body("YouTube", 20), *listed]
    save_document(database, document("a", text="All.", mentions=three, access="paywalled"), run)
    save_document(database, document("b", text="Two.", mentions=family), run)
    database.record_coverage("ft", day(0), "ok", 2, 2)
    scope = replace(TOGETHER, structure=UNGROUPED)
    rows = {row.company: row.hits for row in queries.company_ranking(database, scope=scope)}
    assert rows["Alphabet"] == Hits(articles=2, limited=1, in_body=5)
    by_day = queries.mention_counts(database, "day", company="Alphabet", scope=scope)
    assert [row.hits for row in by_day if row.key == str(day(0))] == [rows["Alphabet"]]
    database.rebuild()
    assert {row.company: row.hits for row in queries.company_ranking(database, scope=scope)} == rows


def test_group_counts_each_article_of_its_companies_once(stored, group_as_company):
    for by in ("day", "week", "source"):
        asked: dict[str, Any] = {"company": "our competitors", "stories": True, "scope": ALONE}
        group = queries.mention_counts(stored, by, **asked)
        plain = replace(ALONE, structure=CompanyStructure())
        assert group == queries.mention_counts(group_as_company, by, **asked | {"scope": plain})
        assert any(row.hits and row.hits.articles for row in group)
    names = ["our competitors", "Siemens"]
    shares = queries.share_of_voice(stored, names, scope=ALONE)
    assert [share.company for share in shares] == names


@pytest.mark.parametrize("counted", ["articles", "mentions", "headline", "stories"])
@pytest.mark.parametrize("narrowed", SCOPES)
def test_proof_of_a_group_lists_all_articles_page_by_page(stored, monkeypatch, counted, narrowed):
    asked: dict[str, Any] = {"counted": counted, "company": "our competitors"}
    asked["scope"] = replace(ALONE, **narrowed)
    whole = queries.proof(stored, limit=100, **asked)
    assert sum(one.number for one in whole.articles) == whole.number
    assert len(whole.articles) == whole.total
    monkeypatch.setattr(
        import_module("newscrawl.storage.queries.proof"), "RECENT", timedelta(days=1)
    )
    size = max(3, whole.total // 4)
    pages = [
        queries.proof(stored, limit=size, offset=offset, **asked)
        for offset in range(0, whole.total + 1, size)
    ]
    assert [one for page in pages for one in page.articles] == [*whole.articles]
    assert {(page.number, page.total) for page in pages} == {(whole.number, whole.total)}


@pytest.mark.parametrize("narrowed", SCOPES)
def test_group_has_a_row_beside_its_companies(stored, group_as_company, narrowed):
    grouped, plain = (
        replace(ALONE, structure=structure, **narrowed) for structure in (STRUCTURE, UNGROUPED)
    )
    for stories in (False, True):
        rows = queries.company_ranking(stored, scope=grouped, stories=stories)
        one, same = (
            [row for row in ranked if row.company == "our competitors"]
            for ranked in (
                rows,
                queries.company_ranking(group_as_company, scope=plain, stories=stories),
            )
        )
        assert one == same
        assert len(one) == 1
        others = [row for row in rows if row not in one]
        assert others == queries.company_ranking(stored, scope=plain, stories=stories)
        limited = queries.company_ranking(stored, scope=grouped, stories=stories, limit=2)
        assert limited == rows[:2]
    one, same = (
        [row for row in found.companies if row.company == "our competitors"]
        for found in (
            queries.overview(stored, scope=replace(grouped, since=day(0))),
            queries.overview(group_as_company, scope=replace(plain, since=day(0))),
        )
    )
    assert one == same
    assert one[0].before.articles


def test_group_without_an_article_has_the_last_day_of_its_companies(database):
    run = register(database, "ft")
    for name, number in (("Google", -3), ("YouTube", -4), ("Siemens", 0)):
        page = document(name, text=name, mentions=[body(name)], published=moment(number))
        save_document(database, page, run)
        database.record_coverage("ft", day(number), "ok", 1, 1)
    scope = replace(ALONE, since=day(-1))
    rows = queries.unmentioned_companies(database, ["Siemens"], scope=scope)
    assert [(row.company, row.last_mentioned) for row in rows] == [("our competitors", day(-3))]
    named = queries.unmentioned_companies(database, ["Siemens"], scope=ALONE)
    assert named == []


def test_group_counts_with_the_subsidiaries_of_its_companies(database):
    run = register(database, "ft")
    save_document(database, document("a", text="One.", mentions=[body("Instagram")]), run)
    database.record_coverage("ft", day(0), "ok", 1, 1)
    networks = CompanyStructure(parents=STRUCTURE.parents, groups={"networks": ("Meta",)})
    scope = replace(TOGETHER, structure=networks)
    numbers = [
        sum(
            row.hits.articles
            for row in queries.mention_counts(database, "year", company="networks", scope=one)
            if row.hits
        )
        for one in (scope, replace(scope, subsidiaries=False))
    ]
    assert numbers == [1, 0]


def test_owners_in_a_circle_end():
    circle = CompanyStructure(parents={"A": "B", "B": "A"})
    scope = Scope(structure=circle, subsidiaries=True)
    assert set(scope.members("A")) == {"A", "B"}
    assert scope.owner("A") in {"A", "B"}
