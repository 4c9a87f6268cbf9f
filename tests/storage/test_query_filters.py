"""Sources, countries and languages in queries: how they are written, and which are unknown."""

import pytest

from newscrawl.storage import Database, QuestionError, queries
from newscrawl.storage.queries import Scope
from newscrawl.storage.queries.left_out import withheld_articles
from newscrawl.storage.saved_queries import (
    add_query,
    count_history,
    edit_query,
    find_query,
    own_scope,
)
from tests.worlds import day, document, moment, register, save_documents

SOURCES = {
    "harbour-courier": "Harbour Courier",
    "herald": "The Herald, Leith",
    "metro-se": "Metro",
    "metro-fi": "Metro",
    "times": "Evening Post",
    "sunday-times": "Times",
}


@pytest.fixture
def news(database: Database) -> Database:
    """Return a database with an article of each source about a strike; its path is the slug."""
    for slug, name in SOURCES.items():
        database.register_source(slug, name, slug[-2:], "en", f"https://{slug}.example/")
        run = database.start_run(slug)
        language = "fi" if slug == "metro-fi" else "en"
        page = document(slug, source=slug, text=f"A strike at {slug}.", language=language)
        save_documents(database, [page], run)
    return database


def found(news: Database, query: str) -> set[str]:
    return {hit.article.source for hit in queries.search(news, query)}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("source:harbour-courier", {"harbour-courier"}),
        ('source:"Harbour Courier"', {"harbour-courier"}),
        ("source:“HARBOUR courier”", {"harbour-courier"}),
        ('source: "harbour courier"a', {"harbour-courier"}),
        ('source:"Harbour Courier,times"', {"harbour-courier", "times"}),
        ('source:"The Herald, Leith"', {"herald"}),
        ("source:metro", {"metro-se", "metro-fi"}),
        ("source:Times", {"times"}),  # a slug comes before a name
        ('(source:Metro OR source:"Harbour Courier")', {"metro-se", "metro-fi", "harbour-courier"}),
        ('-source:"Harbour Courier" NOT source:metro,times', {"herald", "sunday-times"}),
        ('"source:metro"', set()),
    ],
)
def test_source_is_written_by_name_or_slug(news, written, expected):
    query = f"strike {written}"
    assert found(news, query) == expected
    assert queries.preview_query(news, query).articles == len(expected)
    add_query(news, "strikes", query, "ann")
    count_history(news, "strikes")
    counted = queries.company_articles(news, "strikes")
    assert {one.article.source for one in counted} == expected


def test_saved_query_keeps_the_slug_of_a_source_that_gets_another_name(news):
    add_query(news, "strikes", 'title:headline source:"Harbour Courier"', "ann")
    assert find_query(news, "strikes").pending_text == "title:headline source:harbour-courier"
    edit_query(news, "strikes", 'strike -source:metro -source:"Evening Post"', "ann")
    saved = "strike -source:metro-fi,metro-se -source:times"
    assert find_query(news, "strikes").pending_text == saved


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        (
            "strike source:harbour",
            "unknown source 'harbour': did you mean Harbour Courier (harbour-courier)?",
        ),
        ("strike source:metro-no", "unknown source 'metro-no': did you mean Metro (metro-"),
        ('strike source:"Leith"', "did you mean The Herald, Leith (herald)?"),
        ('strike source:"metro, xyz"', "unknown source 'xyz': this database holds harbour-"),
        ("strike NOT country:xx", "unknown country 'xx': this database holds er, es, fi, ld, se"),
        ("strike language:en,fr", "unknown language 'fr': this database holds en, fi, unknown"),
    ],
)
def test_what_nothing_is_stored_of_is_refused(news, query, fault):
    add_query(news, "strikes", "strike", "ann")
    for ask in (
        lambda: queries.search(news, query),
        lambda: queries.preview_query(news, query),
        lambda: add_query(news, "others", query, "ann"),
        lambda: edit_query(news, "strikes", query, "ann"),
    ):
        with pytest.raises(QuestionError) as refused:
            ask()
        assert fault in str(refused.value)
        place = query.rindex(" ", 0, query.index(":")) + 1
        assert str(refused.value).endswith(f"(character {place + 1} of the query)")
    assert find_query(news, "strikes").pending_text == "strike"


def test_query_may_be_saved_before_there_are_sources(database):
    add_query(database, "Rail strike", "strike source:ft country:gb language:en", "ann")
    assert find_query(database, "Rail strike").text == "strike source:ft country:gb language:en"


def test_language_of_a_source_without_articles_in_it_is_known(news):
    register(news, "faz", "de")
    assert found(news, "strike language:de") == set()
    assert found(news, "strike language:fi,unknown") == {"metro-fi"}


# --- What a saved query can match ---


@pytest.fixture
def withheld(news: Database) -> Database:
    """Return the database with an article behind a paywall of each source, in two of the sources
    in German; one day of Herald and Metro was not read."""
    for slug in SOURCES:
        run = news.start_run(slug)
        language = "de" if slug in {"herald", "times"} else "en"
        page = document(f"{slug}-paid", source=slug, text="", access="paywalled", language=language)
        save_documents(news, [page], run)
        for number in range(3):
            if number != 1 or slug not in {"herald", "metro-fi"}:
                news.record_coverage(slug, day(number - 2), "ok", 1, 1)
    return news


# A query; the sources with an article behind a paywall that its filters let through; all sources
# that it can match, where these are others; and the articles that its filters let through.
QUERIES = [
    ("strike", {*SOURCES}, None, 12),
    ("strike source:metro", {"metro-se", "metro-fi"}, None, 4),
    ("strike country:er source:metro,harbour-courier", {"harbour-courier"}, None, 2),
    ("strike language:de", {"herald", "times"}, None, 2),
    ("strike language:de source:herald", {"herald"}, None, 1),
    ("strike NOT language:de", {*SOURCES} - {"herald", "times"}, {*SOURCES}, 10),
    ("strike -source:metro NOT country:er", {"herald", "times", "sunday-times"}, None, 6),
    ("strike NOT (football source:metro)", {*SOURCES}, None, 12),
    ("(strike source:herald) OR (walkout source:times)", {"herald", "times"}, None, 4),
    ("(strike source:herald) OR walkout", {*SOURCES}, None, 12),
    ("strike NOT (source:metro NOT walkout)", {*SOURCES}, None, 12),
]


@pytest.mark.parametrize(("query", "articles", "sources", "read"), QUERIES)
def test_what_is_left_out_of_a_saved_query_is_limited_by_its_filters(
    withheld, query, articles, sources, read
):
    add_query(withheld, "strikes", query, "ann")
    proof = queries.proof(withheld, counted="paywalled", company="strikes")
    assert {row.article.source for row in proof.articles} == articles
    more = withheld_articles(withheld, "strikes")
    assert [(row.reason, row.articles) for row in more] == [("paywalled", len(articles))]
    proof_of_all = queries.proof(withheld, company="strikes")
    assert [row.articles for row in proof_of_all.left_out] == [len(articles)]
    slugs = sources or articles
    assert {row.source for row in proof_of_all.coverage} == slugs
    scope = Scope(until=day(0), now=moment(0))
    completeness = queries.completeness(withheld, company="strikes", scope=scope)
    missing = len(slugs & {"herald", "metro-fi"})
    assert (completeness.expected, completeness.covered) == (
        3 * len(slugs),
        3 * len(slugs) - missing,
    )
    assert completeness.read == read
    assert completeness == queries.completeness(
        withheld, scope=own_scope(withheld, "strikes", scope)
    )


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize(("query", "articles", "sources", "read"), QUERIES)
def test_share_of_a_saved_query_is_of_the_articles_that_its_filters_let_through(
    withheld, query, articles, sources, read, zone
):
    add_query(withheld, "strikes", query, "ann")
    count_history(withheld, "strikes")
    scope = Scope(until=day(0), now=moment(0), zone=zone)
    (year,) = queries.mention_counts(withheld, "year", company="strikes", scope=scope)
    assert year.completeness.read == read
    assert year.share == year.hits.articles / read
    for by in ("source", "language", "country", "section"):
        rows = queries.mention_counts(withheld, by, company="strikes", scope=scope)
        assert sum(row.completeness.read for row in rows) == read, by
        assert sum(row.hits.articles for row in rows if row.hits) == year.hits.articles, by
        if by == "source":
            assert {row.key for row in rows} == (sources or articles)


def test_query_has_no_number_where_none_of_its_sources_was_read(withheld):
    add_query(withheld, "strikes", "strike source:herald", "ann")
    count_history(withheld, "strikes")
    scope = Scope(since=day(-2), until=day(0), now=moment(0))
    names = ["strikes", "Siemens"]
    shares = queries.share_of_voice(withheld, names, by="day", scope=scope)
    numbers = [[share.number for share in shares if share.company == name] for name in names]
    assert [number is None for number in numbers[0]] == [False, True, False]
    assert None not in numbers[1]
    rows = queries.overview(withheld, scope=scope).companies
    (spark,) = (row.spark for row in rows if row.company == "strikes")
    assert list(spark) == numbers[0]


def test_company_depends_on_all_sources(withheld):
    scope = Scope(until=day(0), now=moment(0))
    assert own_scope(withheld, "Siemens", scope) == scope
    completeness = queries.completeness(withheld, company="Siemens", scope=scope)
    assert completeness == queries.completeness(withheld, scope=scope)
