"""Full-text search: what can be typed, and what it finds on both databases."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, strategies as st
from sqlalchemy import text

from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.queries import Scope, text_search
from newscrawl.storage.queries.article_lists import MAX_SNIPPET, snippet_of
from newscrawl.storage.words import folded_words, places_of_words
from tests.worlds import day, document, moment, register, save_document, save_documents

Save = Callable[..., None]


@pytest.fixture
def save(database: Database) -> Save:
    run = register(database)

    def save(path: str, text: str, title: str = "A headline", on: int = 0) -> None:
        save_document(database, document(path, title=title, text=text, published=moment(on)), run)

    return save


def found(database: Database, query: str, **rest: int) -> list[str]:
    return [one.article.url[-1] for one in queries.search(database, query, **rest)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("interest", "ba"),
        ("interest rates", "ba"),
        ('"interest rates"', "a"),
        ("INTEREST Raté", ""),
        ("intérest", "ba"),
        ("rate", ""),
        ("rate*", "ba"),
        ('"interest ra*"', ""),
        ("interest -fed", "b"),
        ('interest -"the fed"', "b"),
        ("fed OR growth", "ba"),
        ("interest fed OR growth", "ba"),
        ("headline interest", "ba"),
        ('"headline the"', ""),
        ("coca-cola", "c"),
        ("coca cola", "c"),
        ('"cola coca"', ""),
        ("' 1=1 --", ""),
        ('fed " OR "', ""),
        ("title:fed", ""),
        ("title:headline text:fed", "a"),
        ("the NEAR/3 rates", "a"),
        ("the NEAR/2 rates", ""),
        ("fed NEAR/1 rates", ""),
        ("rates NEAR/2 fed", "a"),
        ("headline NEAR the", ""),
        ("(fed OR growth) NOT rates", ""),
        ("interest NOT (fed NEAR/2 rates)", "b"),
        ("interest NOT (fed NEAR/1 rates)", "ba"),
        ("interest NOT title:fed", "ba"),
        ("interest country:gb", "ba"),
        ("interest NOT country:gb", ""),
        ("interest language:en,unknown", "ba"),
    ],
)
def test_query_finds_the_expected_articles(database, save, query, expected):
    save("a", "The Fed leaves interest rates where they are.")
    save("b", "Rates of growth were of no interest.", on=1)
    save("c", "Coca-Cola sells more.", on=2)
    assert "".join(found(database, query)) == expected


@pytest.mark.parametrize(
    ("query", "parts", "sentence"),
    [
        ("rates", {}, ""),
        ("loann* rates", {"loann*": 0, "rates": 1}, "'loann*' is in no article"),
        ("Loann NEAR/3 Crédits", {"Loann": 0, "Crédits": 0}, "'Loann' and 'Crédits' are in no"),
        ("fed title:growth", {"fed": 2, "title:growth": 0}, "'title:growth' is in no article"),
        ("(loann OR credit) fed", {"(loann OR credit)": 0, "fed": 2}, "'(loann OR credit)' is"),
        ('rates NEAR/1 "the fed"', {"rates": 1, '"the fed"': 1}, "'rates' in 1 article, "),
        ("fed NOT headline", {"fed": 2}, "matches the whole query; each part alone: 'fed' in 2 "),
        ("fed language:unknown", {"fed": 2}, "'fed' in 2 articles."),
        ("東京 fed", {"東京": 0, "fed": 2}, "'東京' is in no article"),
    ],
)
def test_query_without_hits_says_what_its_parts_find(database, save, query, parts, sentence):
    save("a", "The Fed leaves interest rates where they are.")
    save("b", "Growth is of no interest to a fed bird.", on=1)
    asked = queries.preview_query(database, query)
    assert {part.text: part.articles for part in asked.parts} == parts
    assert bool(asked.articles) is not bool(parts)
    if parts:
        assert sentence in asked.why_none


@pytest.mark.parametrize(
    ("query", "articles", "wider"),
    [
        ("fed NEAR rates", 1, 2),
        ("(fed OR growth) NEAR/3 rates NOT (fed NEAR/11 rates)", 1, 2),
        ("fed NEAR/5 rates headline", 1, 2),
        ("fed NEAR/30 rates", 3, None),
        ("fed rates", 3, None),
        ("fed title:headline", 3, None),
    ],
)
def test_preview_counts_with_a_wider_near(database, save, query, articles, wider):
    for path, between in (("a", 3), ("b", 12), ("c", 25)):
        save(path, f"fed {'word ' * between}rates")
    save("d", "growth of rates")
    preview = queries.preview_query(database, query)
    assert (preview.articles, preview.wider) == (articles, wider)
    assert preview.sources == ("ft",)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("苹果公司周二在北京发布了新手机。", "苹果"),
        ("トヨタ自動車は二十日に発表した。", "トヨタ"),
        ("日立製作所が発表した。", "日立"),
        ("삼성전자가 발표했다.", "삼성전자*"),
        ("บริษัทประกาศเมื่อวันอังคาร", "ประกาศ"),
        ("Το ΠΡΟΪΟΝ της εταιρείας", "προιον"),
        ("Nestle\u0301 und Müller", "nestlé muller"),
        ("ﬁnance ＡＢＣ", "finance abc"),
        ("शेयर बाज़ार में तेज़ी", "बाज़ार"),
    ],
    ids=["zh", "ja kana", "ja kanji", "ko", "th", "el", "NFD", "forms", "hi"],
)
def test_words_of_all_scripts_are_found(database, save, text, query):
    save("a", text)
    save("b", "Something else.")
    assert found(database, query) == ["a"]


def test_results_are_newest_first_on_every_page(database, save):
    for number in range(5):
        save(str(number), f"Word number {number}.", on=number)
    assert found(database, "word", limit=2) == ["4", "3"]
    assert found(database, "word", limit=2, offset=2) == ["2", "1"]
    assert found(database, "word", limit=2, offset=4) == ["0"]


@pytest.mark.parametrize("newest", [1, 2, 5, 50])
def test_result_does_not_depend_on_the_search_window(database, save, monkeypatch, newest):
    monkeypatch.setattr(text_search, "NEWEST", newest)
    for number in range(9):
        save(str(number), f"Word {'odd' if number % 2 else 'even'} {number}.", on=number)
    assert found(database, "word", limit=3) == ["8", "7", "6"]
    assert found(database, "odd", limit=3) == ["7", "5", "3"]
    assert found(database, "odd", limit=2, offset=2) == ["3", "1"]
    until = Scope(until=day(4))
    assert [
        one.article.url[-1] for one in queries.search(database, "word", scope=until, limit=2)
    ] == ["4", "3"]


@pytest.mark.parametrize("newest", [1, 3, 50])
def test_result_of_a_source_does_not_depend_on_its_newest_articles(
    database, save, monkeypatch, newest
):
    monkeypatch.setattr(text_search, "NEWEST_OF_SOURCES", newest)
    for number in range(9):
        save(str(number), f"Word {'odd' if number % 2 else 'even'} {number}.", on=number // 2)
    for scope, expected in (
        (Scope(source="ft"), ["7", "5", "3", "1"]),
        (Scope(source="ft", until=day(2)), ["5", "3", "1"]),
        (Scope(source="ft", since=day(2), zone="Europe/Berlin"), ["7", "5"]),
    ):
        results = [
            one.article.url[-1]
            for offset in range(0, 4, 2)
            for one in queries.search(database, "odd", scope=scope, limit=2, offset=offset)
        ]
        assert results == expected


def test_replaced_text_is_not_found(database, save):
    save("a", "The first version.")
    save("a", "The second version.")
    assert found(database, "first") == []
    assert found(database, "second version") == ["a"]


def test_snippets_mark_the_matches(database, save):
    save("a", "Nothing here. The Fed leaves rates alone! Rates fall.", title="Rates of the Fed")
    (one,) = queries.search(database, "rates fed")
    assert [
        [snippet.text[start:end] for start, end in snippet.marks] for snippet in one.snippets
    ] == [["Rates", "Fed"], ["Fed", "rates"], ["Rates"]]


def test_long_sentence_is_shortened_around_its_match(database, save):
    save("a", f"{'word ' * 300}needle {'word ' * 300}")
    (one,) = queries.search(database, "needle")
    (snippet,) = one.snippets
    assert len(snippet.text) < 300
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    ((start, end),) = snippet.marks
    assert snippet.text[start:end] == "needle"


@pytest.mark.parametrize("most", [120, MAX_SNIPPET, 500])
def test_snippet_is_as_long_as_asked(most):
    text = "The council met. " * 20 + "Siemens builds trams. " + "The council met again. " * 40
    mark = text.index("Siemens"), text.index("Siemens") + len("Siemens")
    snippet = snippet_of("body", text, (0, len(text)), [mark], most)
    assert len(snippet.text.strip("…")) == most
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["Siemens"]


def test_search_that_the_index_cannot_decide_has_pages_too(database, save, monkeypatch):
    monkeypatch.setattr(text_search, "_AT_ONCE", 2)
    for number in range(9):
        save(str(number), f"Rail {'' if number % 2 else 'or road or sea or '}strike.", on=number)
    assert found(database, "rail NEAR/3 strike", limit=2) == ["7", "5"]
    assert found(database, "rail NEAR/3 strike", limit=9, offset=2) == ["3", "1"]
    monkeypatch.setattr(text_search, "MAX_EXAMINED", 4)
    assert found(database, "rail NEAR/3 strike") == ["7", "5"]


LETTERS = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("aZ ß éÉñ \u2019\u201c™½İıſĿŉ\u0301\u00ad_’…€\ufdfa Ως Привет 苹果カ"),
    )
)


@given(text=LETTERS)
@example(text="Zürich’s café, “naïve” — 50 € für Łódź")
@example(text="x" * 150 + " " + "é" * 150)
def test_folding_a_text_equals_folding_its_words(text):
    each = [folded_words(text[start:end]) for start, end in places_of_words(text)]
    assert [[word] for word in folded_words(text)] == each


def test_words_have_their_offsets():
    text = "Zu\u0308rich: 苹果 A-B"
    assert folded_words(text) == ["zurich", "苹", "果", "a", "b"]
    assert [text[start:end] for start, end in places_of_words(text)] == [
        "Zu\u0308rich",
        "苹",
        "果",
        "A",
        "B",
    ]


def test_merged_index_does_not_depend_on_the_order_of_articles(tmp_path):
    with open_database(f"sqlite:///{tmp_path / 'news.sqlite'}") as database:
        run = register(database)
        documents = [
            document(f"a{on}", title=f"Headline {on}", text=f"Text {on}.", published=moment(on))
            for on in (3, -2, 1, -4, 0)
        ]
        save_documents(database, documents, run)
        with database.reading() as session:
            (segments,) = session.execute(
                text("SELECT count(DISTINCT segid) FROM article_search_idx")
            ).one()
        assert segments == 1
        assert found(database, "text") == ["3", "1", "0", "2", "4"]
