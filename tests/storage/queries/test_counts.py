"""What the queries answer, on SQLite and on PostgreSQL."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from newscrawl.items import CompanyStructure
from newscrawl.storage import CoverageState, Database, QuestionError, queries
from newscrawl.storage.documents import COUNTED_KINDS
from newscrawl.storage.queries import By, Completeness, Hits, MentionCount, Scope, left_out
from newscrawl.storage.queries.left_out import withheld_articles
from tests.worlds import body, day, document, headline, moment, register, save_document

WEEK = Scope(since=day(-3), until=day(3))


@pytest.fixture
def save(database: Database) -> Callable[..., None]:
    """Saves a document of `document`'s arguments; days count from NOON's."""
    runs: dict[str, int] = {}

    def save(path: str, on: int = 0, source: str = "ft", **rest: Any) -> None:
        if source not in runs:
            runs[source] = register(database, source, {"faz": "de"}.get(source, "en"))
        # Each with its own text: the same one would be one article.
        rest = {"text": f"Text of {path}.", "published": moment(on), **rest}
        save_document(database, document(path, source=source, **rest), runs[source])

    return save


@pytest.fixture
def covered(database: Database) -> Callable[..., None]:
    """Records the state of a source on days counted from NOON's."""

    def covered(state: CoverageState, *days: int, source: str = "ft") -> None:
        register(database, source, {"faz": "de"}.get(source, "en"))
        for number in days:
            database.record_coverage(source, day(number), state, 1, 1)

    return covered


def by(database: Database, grouping: By, **rest: Any) -> dict[str, MentionCount]:
    rows = queries.mention_counts(database, grouping, **{"scope": WEEK, **rest})
    return {row.key: row for row in rows}


def hits(row: MentionCount) -> tuple[int, ...] | None:
    """Articles, limited, in the title, in the body."""
    if row.hits is None:
        return None
    return row.hits.articles, row.hits.limited, row.hits.in_title, row.hits.in_body


# --- Counts ---


def test_articles_and_occurrences_are_counted(database, save):
    save("a", mentions=[headline("Siemens"), body("Siemens", 0), body("Siemens", 20)])
    save("b", mentions=[body("Siemens")])
    save("c", mentions=[body("Bosch")])
    row = by(database, "day", company="Siemens")[day(0).isoformat()]
    assert row.hits == Hits(articles=2, limited=0, in_title=1, in_body=3)
    assert row.completeness.read == 3


def test_count_without_a_company_counts_each_article_once(database, save):
    save("a", mentions=[body("Siemens"), body("Bosch")])
    assert hits(by(database, "day")[day(0).isoformat()]) == (1, 0, 0, 2)


@pytest.mark.parametrize("kind", ["front", "consent", "paywall", "error", "other"])
def test_pages_of_other_kinds_do_not_count(database, save, kind):
    save("a", kind=kind, mentions=[body("Siemens")])
    assert by(database, "source") == {}


def test_proof_says_how_many_mentions_are_on_pages_that_do_not_count(database, save):
    save("a", mentions=[body("Siemens")])
    save("b", kind="front", mentions=[headline("Siemens"), body("Siemens")], published=moment(-1))
    save("c", kind="other", mentions=[body("Bosch")])
    save("d", kind="other", mentions=[body("Siemens")], published=moment(-9))

    def left_out(**scope: Any) -> list[tuple[str, int, int | None]]:
        found = queries.proof(database, company="Siemens", scope=Scope(**scope))
        return [(one.reason, one.articles, one.mentions) for one in found.left_out]

    assert left_out() == [("kind", 2, 3)]
    assert left_out(since=day(-2), zone="Asia/Kolkata") == [("kind", 1, 2)]
    assert left_out(since=day(0)) == []


def test_texts_that_are_not_read_are_counted_by_source_whatever_their_headlines_name(
    database, save
):
    hidden = {"access": "paywalled", "kind": "paywall"}
    save("a", mentions=[headline("Siemens")], **hidden)
    save("b", **hidden)
    save("c", source="bbc", **hidden)
    save("d", source="bbc", access="disallowed", kind="paywall")
    save("e", source="faz")
    save("f", -5, **hidden)
    found = withheld_articles(database, scope=WEEK)
    assert [(one.reason, one.articles, one.mentions, one.sources) for one in found] == [
        ("disallowed", 1, None, (("bbc", 1),)),
        ("paywalled", 3, None, (("ft", 2), ("bbc", 1))),
    ]
    read = partial(queries.proof, database, counted="read", scope=WEEK)
    assert (read().number, read().left_out) == (5, found)
    assert [one.articles for one in read(split="source", without=["bbc"]).left_out] == [2]
    assert [one.articles for one in withheld_articles(database, "Siemens", scope=WEEK)] == [1, 2]


ORCHARDS = CompanyStructure(
    parents={"Pearls": "Apple"},
    groups={"fruit": ("Apple", "Pear")},
    spellings={
        "Apple": ("Apple", "Apple Inc", "AAPL"),
        "Apple Bank": ("Apple Bank",),
        "Pear": ("Pear",),
        "Pearls": ("Pearls", "東京真珠", "Café Perle"),
    },
)


def doubtful(database: Database, company: str, **scope: Any) -> list[str]:
    """The paths of the articles with doubtful words, the newest first; their number is equal to
    that of the proof of the company's articles."""
    asked = Scope(structure=ORCHARDS, **scope)
    found = queries.proof(database, counted="doubtful", company=company, scope=asked, limit=500)
    listed = [one.article.url[-1] for one in found.articles]
    assert found.number == found.total == len(listed)
    of_company = queries.proof(database, company=company, scope=asked)
    assert [one.articles for one in of_company.left_out if one.reason == "doubtful"] == (
        [len(listed)] if listed else []
    )
    for one in found.articles:
        marks = {mention.surface for each in one.sentences for mention in each.mentions}
        assert one.number == 1
        assert marks
    return listed


def test_doubtful_words_of_a_company_are_left_out_of_its_number(database, save):
    save("a", text="The harvest of Apple and pear was poor.")
    save("b", text="The apple fell.", on=1)
    save("c", text="Apple shows a telephone. AAPL rose.", mentions=[body("Apple")], on=2)
    save("d", text="Apple Bank lends. It is sound.", mentions=[body("Apple Bank")], on=3)
    save("e", text="APPLE'S HARVEST, and the Apple-Inc. of farmers", on=4)
    save("f", title="Apple", text="A page.", access="paywalled", kind="paywall", on=5)
    save("g", text="Pineapple, Applebee, apples.", on=6)
    save("h", text="A list with Apple.", kind="front", on=7)
    save("i", title="Pear and Apple", text="A tart.", mentions=[headline("Pear")], on=8)
    assert doubtful(database, "Apple") == ["i", "e", "a"]
    assert doubtful(database, "fruit") == ["e", "a"]
    assert doubtful(database, "Apple", until=day(0)) == ["a"]
    assert doubtful(database, "Apple", language="de") == []
    assert doubtful(database, "a query") == []
    found = queries.proof(database, company="Apple", scope=Scope(structure=ORCHARDS))
    (left,) = [one for one in found.left_out if one.reason == "doubtful"]
    assert (left.words, left.mentions, left.since) == (("Apple", "Apple Inc"), None, None)


def test_doubtful_words_are_found_in_any_script_and_with_subsidiaries(database, save):
    save("a", text="今日、東京真珠は発表した。")
    save("b", text="CAFE PERLE opens; the café perle does not.", on=1)
    save("c", text="Pearls of wisdom.", on=2)
    assert doubtful(database, "Pearls") == ["c", "b", "a"]
    assert doubtful(database, "Apple") == []
    assert doubtful(database, "Apple", subsidiaries=True) == ["c", "b", "a"]


def test_search_for_doubtful_words_says_how_far_it_went(database, save, monkeypatch):
    for number in range(6):
        save(str(number), text=f"Apple tart {number}.", on=number)
    for number in (2, 4, 7):
        text = "Apple shows a telephone."
        save(f"of it {number}", text=text, mentions=[body("Apple")], on=number)
    since = {}
    for name, limit, few in (("MAX_COUNTED", 1, 4), ("MAX_COUNTED", 1, 0), ("MAX_TEXTS", 4, 4)):
        with monkeypatch.context() as limited:
            limited.setattr(left_out, name, limit)
            limited.setattr(left_out, "_FEW", few)
            found = queries.proof(database, company="Apple", scope=Scope(structure=ORCHARDS))
            scope = Scope(structure=ORCHARDS, since=day(4))
            short = queries.proof(database, company="Apple", scope=scope)
        (left,) = [one for one in found.left_out if one.reason == "doubtful"]
        since[name, few] = left.articles, left.since
        assert [one.since for one in short.left_out] == [None]
    assert since == {
        ("MAX_COUNTED", 4): (2, day(4)),
        ("MAX_COUNTED", 0): (2, day(4)),
        ("MAX_TEXTS", 4): (4, day(2)),
    }


@pytest.mark.parametrize(
    ("company", "beside"), [(None, None), ("Apple", "Pear")], ids=["no company", "beside"]
)
def test_doubtful_words_are_those_of_one_company(database, company, beside):
    with pytest.raises(QuestionError):
        queries.proof(database, counted="doubtful", company=company, beside=beside)


@pytest.mark.parametrize("kind", COUNTED_KINDS)
def test_all_kinds_of_articles_count(database, save, kind):
    save("a", kind=kind, mentions=[body("Siemens")])
    assert hits(by(database, "source")["ft"]) == (1, 0, 0, 1)


@pytest.mark.parametrize("access", ["paywalled", "disallowed"])
def test_mentions_in_headline_and_standfirst_are_counted_separately(database, save, access):
    shut = {"access": access, "kind": "paywall"}
    save("a", mentions=[headline("Siemens"), body("Siemens")], **shut)
    save("b", mentions=[body("Siemens")])
    assert hits(by(database, "day")[day(0).isoformat()]) == (2, 1, 1, 2)


def test_only_the_newest_version_counts(database, save):
    save("a", text="First.", mentions=[body("Siemens"), body("Bosch")])
    save("a", text="Second.", mentions=[body("Bosch")])
    assert [row.company for row in queries.company_ranking(database)] == ["Bosch"]


# --- Periods ---


def test_days_without_a_crawl_are_gaps_not_zeros(database, save, covered):
    covered("ok", 0, 2)
    save("a", 0, mentions=[body("Siemens")])
    rows = by(database, "day", company="Siemens", scope=Scope(since=day(-1), until=day(2)))
    assert [hits(row) for row in rows.values()] == [None, (1, 0, 0, 1), None, (0, 0, 0, 0)]
    assert [row.completeness.level for row in rows.values()] == ["none", "full", "none", "full"]


@pytest.mark.parametrize(
    ("state", "level"),
    [
        ("ok", "full"),
        ("paywalled", "full"),
        ("stale_feed", "none"),
        ("incomplete", "none"),
        ("blocked_by_robots", "none"),
        ("failed", "none"),
    ],
)
def test_only_a_source_that_was_read_is_covered(database, covered, state, level):
    covered(state, 0)
    assert by(database, "day")[day(0).isoformat()].completeness.level == level


def test_day_without_one_source_is_partly_covered(database, covered):
    covered("ok", 0, 1, 2)
    covered("ok", 1, source="bbc")
    covered("failed", 2, source="bbc")
    rows = by(database, "day", scope=Scope(since=day(0), until=day(2)))
    assert [row.completeness.level for row in rows.values()] == ["full", "full", "partial"]
    assert [(row.completeness.covered, row.completeness.expected) for row in rows.values()] == [
        (1, 1),
        (2, 2),
        (1, 2),
    ]


def test_late_articles_make_an_uncovered_day_partial(database, save, covered):
    covered("ok", 2)
    save("a", 0)
    rows = by(database, "day", scope=Scope(since=day(0), until=day(2)))
    assert [row.completeness.level for row in rows.values()] == ["partial", "none", "full"]


def test_weeks_begin_on_monday_and_sum_their_days(database, save):
    save("friday", 0, mentions=[body("Siemens")])
    save("sunday", 2, mentions=[body("Siemens")])
    save("monday", 3, mentions=[body("Siemens")])
    rows = by(database, "week")
    assert {key: hits(row) for key, row in rows.items()} == {
        "2026-11-16": (2, 0, 0, 2),
        "2026-11-23": (1, 0, 0, 1),
    }


def test_week_with_uncovered_days_is_partial(database, covered):
    covered("ok", 0, 1, 2)
    assert by(database, "week")["2026-11-16"].completeness.level == "partial"


@pytest.mark.parametrize(
    ("grouping", "left_out"),
    [
        ("day", {0}),
        ("week", {"2026-11-16": 4, "2026-11-23": 0, "2026-11-30": 5}),
        ("month", {"2026-11": 19, "2026-12": 30}),
        ("quarter", {"2026-Q4": 80}),
        ("source", {None}),
    ],
)
def test_periods_at_the_edges_say_how_many_of_their_days_are_left_out(
    database, covered, grouping, left_out
):
    covered("ok", 0, 1, 2)
    # Asked on a Tuesday, from a Friday on: days to come are left out, too.
    asked = Scope(since=day(0), until=day(20), now=moment(11))
    rows = by(database, grouping, scope=asked)
    shares = queries.share_of_voice(database, ["Siemens", "Bosch"], by=grouping, scope=asked)
    counts = {key: row.days_left_out for key, row in rows.items()}
    assert counts == {one.key: one.days_left_out for one in shares}
    assert counts == left_out if isinstance(left_out, dict) else {*counts.values()} == left_out


def test_series_without_since_begins_with_the_first_data(database, save, covered):
    covered("ok", 0)
    save("a", -2)
    assert list(by(database, "day", scope=Scope(until=day(0)))) == [
        day(number).isoformat() for number in (-2, -1, 0)
    ]


def test_empty_database_has_no_series(database):
    assert by(database, "day", scope=Scope()) == {}


def test_empty_database_with_a_range_is_one_gap(database):
    rows = by(database, "day", scope=Scope(since=day(0), until=day(1)))
    assert [hits(row) for row in rows.values()] == [None, None]


# --- Sources and languages ---


@pytest.mark.parametrize("subsidiaries", [False, True])
def test_ranking_counts_the_sources_of_its_days(database, subsidiaries):
    runs = {slug: register(database, slug) for slug in ("ft", "faz", "zeit")}
    for slug, published in (("ft", -3), ("ft", 3), ("faz", 0), ("faz", 2), ("zeit", -1)):
        page = document(
            f"{slug}{published}",
            source=slug,
            text=f"On day {published} in {slug}.",
            mentions=[body("YouTube")],
            published=moment(published),
        )
        save_document(database, page, runs[slug])
    structure = CompanyStructure(parents={"YouTube": "Google"})
    whole = Scope(since=day(-5), until=day(5), structure=structure, subsidiaries=subsidiaries)
    for since, until, sources in ((-5, 5, 3), (-2, 1, 2), (0, 5, 2), (-5, -2, 1), (1, 1, 0)):
        scope = replace(whole, since=day(since), until=day(until))
        ranking = queries.company_ranking(database, scope=scope)
        assert [row.sources for row in ranking] == ([sources] if sources else [])
    (row,) = queries.company_ranking(database, scope=replace(whole, source="faz"))
    assert row.sources == 1


def test_sources_without_mentions_are_listed(database, save, covered):
    covered("ok", 0, source="bbc")
    covered("failed", 0, source="faz")
    save("a", mentions=[body("Siemens")])
    rows = by(database, "source", scope=Scope(since=day(0), until=day(0)))
    assert {key: hits(row) for key, row in rows.items()} == {
        "ft": (1, 0, 0, 1),
        "bbc": (0, 0, 0, 0),
        "faz": None,
    }


def test_watched_languages_without_mentions_are_listed(database, save, covered):
    covered("failed", 0, source="faz")
    save("a", mentions=[body("Siemens")])
    save("b", language=None, mentions=[body("Siemens")])
    rows = by(database, "language", scope=Scope(since=day(0), until=day(0)))
    assert {key: hits(row) for key, row in rows.items()} == {
        "en": (1, 0, 0, 1),
        "unknown": (1, 0, 0, 1),
        "de": None,
    }


def test_source_covers_each_of_its_languages(database, save, covered):
    covered("ok", 0)
    covered("ok", 0, source="bbc")
    save("a", language="cy", mentions=[body("Siemens")])
    rows = by(database, "language", scope=Scope(since=day(0), until=day(0)))
    assert {
        key: (row.completeness.covered, row.completeness.expected) for key, row in rows.items()
    } == {"cy": (1, 1), "en": (2, 2)}
    alone = by(database, "day", scope=Scope(since=day(0), until=day(0), language="cy"))
    assert alone[day(0).isoformat()].completeness == Completeness(read=1, covered=1, expected=1)


def test_week_of_a_source_added_yesterday_is_partial(database, covered):
    covered("ok", -1, 0)
    row = by(database, "source", scope=Scope(since=day(-6), until=day(0)))["ft"]
    assert row.completeness == Completeness(read=0, covered=2, expected=2, unwatched=5)
    assert row.completeness.level == "partial"


# --- Scope ---


# --- Ranking ---


def test_ranking_is_sorted_by_articles_occurrences_and_name(database, save):
    save("a", mentions=[body("Zeiss"), body("Bosch"), body("Bosch", 9), body("adidas")])
    save("b", source="faz", mentions=[body("Zeiss")])
    ranking = queries.company_ranking(database)
    assert [(row.company, row.hits.articles, row.sources) for row in ranking] == [
        ("Zeiss", 2, 2),
        ("Bosch", 1, 1),
        ("adidas", 1, 1),
    ]


@pytest.mark.parametrize("measure", ["articles", "mentions", "stories"])
def test_shares_by_source_are_sorted_by_name(database, covered, measure):
    for source in ("faz", "bbc"):
        covered("ok", 0, source=source)
    scope = Scope(since=day(0), until=day(0))
    shares = queries.share_of_voice(
        database, ["Siemens", "Bosch"], by="source", measure=measure, scope=scope
    )
    assert [share.key for share in shares] == ["bbc", "bbc", "faz", "faz"]


@pytest.mark.parametrize("field", ["source", "country", "language"])
def test_empty_name_in_a_scope_matches_nothing(database, save, field):
    save("a", mentions=[body("Siemens")])
    scope = Scope(**{field: ""})
    assert queries.overview(database, scope=scope).companies == ()
    assert queries.company_ranking(database, scope=scope) == []


def test_ranking_can_be_limited(database, save):
    save("a", mentions=[body("Zeiss"), body("Bosch")])
    assert [row.company for row in queries.company_ranking(database, limit=1)] == ["Bosch"]


# --- Lists ---


def test_articles_are_newest_first_up_to_the_limit(database, save):
    for number in (1, 3, 2):
        save(str(number), number)
    assert [row.url[-1] for row in queries.articles(database, limit=2)] == ["3", "2"]


def test_article_lists_its_companies_and_counts_the_requested_one(database, save):
    save("a", mentions=[headline("Siemens"), body("Bosch"), body("Siemens", 9)])
    save("b", mentions=[body("Bosch")])
    (row,) = queries.articles(database, company="Siemens")
    assert (row.companies, row.in_title, row.in_body) == (("Bosch", "Siemens"), 1, 1)


def test_other_kinds_of_pages_are_listed_on_request_only(database, save):
    save("a", kind="front")
    assert queries.articles(database) == []
    assert [row.kind for row in queries.articles(database, every_kind=True)] == ["front"]


def test_coverage_lists_days_without_a_crawl(database, covered):
    covered("ok", 0, 2)
    covered("failed", 2, source="bbc")
    listed = queries.coverage(database, scope=Scope(until=day(2)))
    assert [(row.source, row.day, row.state) for row in listed] == [
        ("bbc", day(2), "failed"),
        ("ft", day(0), "ok"),
        ("ft", day(1), None),
        ("ft", day(2), "ok"),
    ]


def test_database_info_counts_its_rows(database, save):
    save("a", 0, mentions=[body("Siemens")])
    save("b", 4)
    facts = queries.facts(database)
    assert facts.rows == {
        "sources": 1,
        "runs": 1,
        "articles": 2,
        "revisions": 0,
        "companies": 1,
        "mentions": 1,
    }
    assert (facts.first_day, facts.last_day) == (day(0), day(4))


def test_names_are_sorted(database, save):
    save("a", source="ft", mentions=[body("Zeiss"), body("adidas"), body("Bosch")])
    save("b", source="bbc")
    assert queries.company_names(database) == ["Bosch", "Zeiss", "adidas"]
    assert [*queries.source_names(database)] == ["bbc", "ft"]


# --- Companies without a mention ---


def test_unmentioned_companies_have_their_last_mention(database, save, covered):
    save("a", on=-3, mentions=[body("Siemens")])
    save("b", on=0, mentions=[body("Bosch")])
    covered("ok", -3, -2, -1, 0)
    rows = queries.unmentioned_companies(
        database, ["Siemens", "Bosch", "Zeiss"], scope=Scope(since=day(-1), until=day(0))
    )
    assert [(row.company, row.last_mentioned) for row in rows] == [
        ("Siemens", day(-3)),
        ("Zeiss", None),
    ]


def test_companies_are_not_unmentioned_without_coverage(database):
    week = Scope(since=day(-1), until=day(0))
    assert queries.unmentioned_companies(database, ["Siemens"], scope=week) == []
