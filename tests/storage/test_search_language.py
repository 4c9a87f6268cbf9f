"""The language of searches: what is read, where a fault is, and equal answers everywhere."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import newscrawl
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.queries.text_search import MAX_EXAMINED
from newscrawl.storage.search_language import (
    FIELDS,
    FILTERS,
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_NEAR_WORDS,
    MAX_WORDS,
    NEAR_WORDS,
    And,
    Facts,
    Filter,
    Near,
    Node,
    Or,
    QuerySyntaxError,
    SearchedArticle,
    Term,
    Without,
    evaluate,
    needed_words,
    parse_query,
    spans,
)
from newscrawl.storage.words import MAX_INDEXED, folded_words
from tests.worlds import document, empty, register, save_documents

A, B, C, D = (Term((letter,)) for letter in "abcd")
FACTS = Facts("en", "daily", "gb")


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a b", And((A, B))),
        ("a AND b", And((A, B))),
        ("a OR b OR c", Or((A, B, C))),
        ("a b OR c", And((A, Or((B, C))))),
        ("a NOT b", Without((A, B))),
        ("a AND NOT b", Without((A, B))),
        ("a -b", Without((A, B))),
        ("-b a", Without((A, B))),
        ("a -(b OR c)", Without((A, Or((B, C))))),
        ("a NOT b NOT c", Without((A, Or((B, C))))),
        ("a NEAR b", Near((A, B), 10)),
        ("(a OR b) NEAR/3 (c OR d) NOT a", Without((Near((Or((A, B)), Or((C, D))), 3), A))),
        ("a NEAR/2 b NEAR/3 c", Near((Near((A, B), 2), C), 3)),
        ("(a AND b) OR c", Or((And((A, B)), C))),
        ('"a b"', Term(("a", "b"))),
        ("“a b”", Term(("a", "b"))),
        ("a-b", Term(("a", "b"))),
        ("苹果", Term(("苹", "果"))),
        ("a*", Term(("a",), prefix=True)),
        ('"a b"*', Term(("a", "b"), prefix=True)),
        ("title:a", Term(("a",), section="title")),
        ("title:(a OR text:b)", Or((Term(("a",), section="title"), Term(("b",), section="body")))),
        ("a language:DE,fr", And((A, Or((Filter("language", "de"), Filter("language", "fr")))))),
        ("a source:ft", And((A, Filter("source", "ft")))),
        ("a NOT country:gb", Without((A, Filter("country", "gb")))),
        ("a & b", And((A, B))),
        ('a "OR" b', And((A, Term(("or",)), B))),
        ("a\u3000(b\t\n c)", And((A, And((B, C))))),
    ],
)
def test_query_means_what_it_says(text, meaning):
    assert parse_query(text) == meaning


@pytest.mark.parametrize(
    ("text", "place", "fault"),
    [
        ("rail AND strike OR bus", 16, "is ambiguous"),
        ("rail OR bus NEAR strike", 5, "is ambiguous"),
        ("rail OR", 7, "must follow OR"),
        ("rail NEAR/3 ", 11, "must follow NEAR/3"),
        ("OR rail", 0, "missing before OR"),
        ("rail (NOT bus)", 6, "missing before NOT"),
        ("rail ()", 6, "must follow ("),
        ("rail (bus", 5, "never closed"),
        ("rail) bus", 4, "never opened"),
        ('rail "bus', 5, "never closed"),
        ("rail titel:bus", 5, "unknown field titel:"),
        ("rail OR &", 8, "no word in &"),
        ("title:& rail", 6, "no word in &"),
        ("rail NEAR/0 bus", 5, "from 1 to 100"),
        ("rail NEAR/101 bus", 5, "from 1 to 100"),
        (f"rail NEAR/{'9' * 500} bus", 5, "from 1 to 100"),
        ("(rail bus) NEAR/3 strike", 1, "words joined by OR"),
        ("rail NEAR/3 language:de", 12, "words joined by OR"),
        ("language:(de OR fr) rail", 9, "language:de,fr"),
        ("rail language:german", 5, "language:german is not a code"),
        ("rail country:de,germany", 5, "country:germany is not a code"),
        ("language:, rail", 0, "takes one name"),
        ("rail OR language:de", 0, "without a word"),
        ("rail \0bus", 5, "control character"),
        ("", 0, "nothing to search for"),
        ("  ", 0, "nothing to search for"),
        ("!?", 0, "nothing to search for"),
        ("-unwanted", 0, "nothing to search for"),
        ('""', 0, "nothing to search for"),
        ("a " * MAX_LENGTH, MAX_LENGTH, "characters"),
        ("(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1), MAX_DEPTH, "parentheses"),
        ("ab " * (MAX_WORDS + 1), 3 * (MAX_WORDS + 1), f"more than {MAX_WORDS} words"),
    ],
)
def test_fault_is_named_with_its_place(text, place, fault):
    with pytest.raises(QuerySyntaxError) as caught:
        parse_query(text)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.place == place
    shown, caret = caught.value.pointer.split("\n")
    assert len(shown) <= 76
    assert caret.index("^") <= 76


def test_deepest_query_is_read():
    deepest = "title:(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH
    assert parse_query(deepest) == Term(("a",), section="title")


@given(st.text(st.sampled_from('ab ()"-*:/ANDORNEAR123title&苹\u0301\n'), max_size=60) | st.text())
def test_any_text_is_read_or_refused(text):
    try:
        node = parse_query(text)
    except QuerySyntaxError as error:
        place = error.place
    else:
        place = 0
        assert evaluate(node, SearchedArticle((), (), FACTS)) is None
    assert 0 <= place <= len(text)


@pytest.mark.parametrize(
    ("text", "words", "matched"),
    [
        ("a NEAR/1 b", "a x b", ["a", "b"]),
        ("a NEAR/1 b", "b x a", ["b", "a"]),
        ("a NEAR/1 b", "a x x b", []),
        ("a NEAR/1 b", "a b x x x a", ["a", "b"]),
        ("a NEAR/1 a", "a x x a", []),
        ("a NEAR/1 a", "a x a", ["a", "a"]),
        ('"a b" NEAR/1 c', "c x a b", ["c", "a b"]),
        ('"a b" NEAR/1 "b c"', "a b c", []),
        ("a OR b", "b x", ["b"]),
        ("a b", "b x a x a", ["b", "a", "a"]),
        ("a NOT b", "a x", ["a"]),
        ("a NOT b", "a b", []),
        ("ab* c", "abc c", ["abc", "c"]),
    ],
)
def test_words_for_which_an_article_matches_are_marked(text, words, matched):
    marks = spans(parse_query(text), "", words, FACTS)
    assert [words[start:end] for start, end in marks["body"]] == matched


# --- Equal answers ---

LANGUAGES = ("en", "de")
WORDS = [
    *("rail", "strike", "strikes", "coca-cola", "cola", "Straße", "STRASSE", "crédit", "credit"),
    *("e\u0301t\u00e9", "ete", "São", "sao", "Ωμέγα", "ωμεγα", "банк", "苹果", "果", "بنك", "한국"),
]
_WORD = st.sampled_from(
    [*WORDS, "rai*", "str*", "苹*", '"crédit rail"', '"rail strike"', '"苹果 rail"']
)


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(parts, min_size=2, max_size=3)
    words = st.lists(_WORD, min_size=1, max_size=2).map(lambda some: f"({' OR '.join(some)})")
    filters = st.sampled_from(["language:de", "country:gb", "source:ft", "source:bbc"])
    fields = st.sampled_from(["title", "text"])
    return st.one_of(
        several.map(lambda some: f"({' AND '.join(some)})"),
        several.map(lambda some: f"({' OR '.join(some)})"),
        st.tuples(parts, parts).map(lambda pair: f"({pair[0]} NOT {pair[1]})"),
        st.tuples(words, st.integers(1, 5), words).map(lambda n: f"({n[0]} NEAR/{n[1]} {n[2]})"),
        st.tuples(fields, parts).map(lambda one: f"{one[0]}:({one[1]})"),
        st.tuples(parts, filters).map(lambda one: f"({one[0]} {one[1]})"),
    )


QUERIES = st.recursive(_WORD, _joined, max_leaves=6)


def _articles(number: int = 80) -> list[tuple[str, str]]:
    """Return headlines and texts of random words; each text has a number of its own."""
    chance = random.Random(17)  # noqa: S311 - the same texts each time
    words = [*WORDS, "and", "the", "—", ".", "\n"]

    def text(longest: int) -> str:
        return " ".join(chance.choices(words, k=chance.randrange(1, longest)))

    return [(text(5), f"{text(14)} {place}") for place in range(number)]


ARTICLES = _articles()


@pytest.fixture(scope="module")
def databases(
    tmp_path_factory: pytest.TempPathFactory, postgres_tables: str
) -> Iterator[list[Database]]:
    file = tmp_path_factory.mktemp("equal") / "news.sqlite"
    with open_database(f"sqlite:///{file}") as sqlite, open_database(postgres_tables) as postgres:
        for database in (sqlite, postgres):
            register(database, "bbc")
            run = register(database)
            documents = [
                document(str(place), title=title, text=text, language=LANGUAGES[place % 2])
                for place, (title, text) in enumerate(ARTICLES)
            ]
            save_documents(database, documents, run)
        yield [sqlite, postgres]
    empty(postgres_tables)


@settings(max_examples=settings().max_examples * 2)
@given(text=QUERIES)
def test_both_databases_answer_as_the_evaluator(databases, text):
    node = parse_query(text)
    expected = {
        str(place)
        for place, (title, body) in enumerate(ARTICLES)
        if evaluate(node, _searched(title, body, LANGUAGES[place % 2])) is not None
    }
    assert expected <= {
        str(place)
        for place, (title, body) in enumerate(ARTICLES)
        if _searched(title, body, "").may_match(needed_words(node))
    }
    for database in databases:
        hits = queries.search(database, text, limit=500)
        assert {hit.article.url.rpartition("/")[2] for hit in hits} == expected
        assert all(hit.snippets for hit in hits)


def _searched(title: str, body: str, language: str) -> SearchedArticle:
    return SearchedArticle(folded_words(title), folded_words(body), Facts(language, "ft", "gb"))


# --- The document ---

DOCUMENT = (Path(newscrawl.__file__).parent.parent / "docs" / "queries.md").read_text("utf-8")


def test_document_lists_all_that_can_be_written():
    table = DOCUMENT.partition("## Search")[2].partition("\n\n| Write |")[2].partition("\n\n")[0]
    examples = [one for row in table.splitlines()[2:] for one in row.split("|")[1].split("`")[1::2]]
    nodes = {example: parse_query(f"word {example}") for example in examples}
    assert len(nodes) > 12
    for name in (*FIELDS, *FILTERS):
        assert any(example.startswith(f"{name}:") for example in examples), name
    kinds = {type(part) for node in nodes.values() for part in _parts(node)}
    assert kinds == {Term, Near, And, Or, Without, Filter}


def _parts(node: Node) -> list[Node]:
    inside = () if isinstance(node, Term | Filter) else node.parts
    return [node, *(part for node_inside in inside for part in _parts(node_inside))]


def test_document_names_the_limits():
    text = " ".join(DOCUMENT.split())
    for limit in (
        f"at most {MAX_LENGTH:,} characters, {MAX_WORDS} words and {MAX_DEPTH} parentheses",
        f"NEAR at most {MAX_NEAR_WORDS} words",
        f"`NEAR` alone is `NEAR/{NEAR_WORDS}`",
        f"at most {MAX_EXAMINED:,} of them",
        f"a text over {MAX_INDEXED:,} words",
    ):
        assert limit in text
