"""Sources, countries and languages in queries: how they are written, and which are unknown."""

import pytest

from newscrawl.storage import Database, queries
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.saved_queries import add_query, count_history, edit_query, find_query
from tests.worlds import document, register, save_documents

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
        one = document(slug, source=slug, text=f"A strike at {slug}.", language=language)
        save_documents(database, [one], run)
    return database


def found(news: Database, query: str) -> set[str]:
    return {one.article.source for one in queries.search(news, query)}


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
def test_source_is_written_by_name_or_slug(
    news: Database, written: str, expected: set[str]
) -> None:
    query = f"strike {written}"
    assert found(news, query) == expected
    assert queries.preview_query(news, query).articles == len(expected)
    add_query(news, "strikes", query, "ann")
    count_history(news, "strikes")
    counted = queries.company_articles(news, "strikes")
    assert {one.article.source for one in counted} == expected


def test_saved_query_keeps_the_slug_of_a_source_that_gets_another_name(news: Database) -> None:
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
def test_what_nothing_is_stored_of_is_refused(news: Database, query: str, fault: str) -> None:
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


def test_language_of_a_source_without_articles_in_it_is_known(news: Database) -> None:
    register(news, "faz", "de")
    assert found(news, "strike language:de") == set()
    assert found(news, "strike language:fi,unknown") == {"metro-fi"}
