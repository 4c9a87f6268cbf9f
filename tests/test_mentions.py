"""Mentions: what counts as naming a company, and what does not."""

import unicodedata

import pytest

from newscrawl.mentions import Companies, load_companies


@pytest.fixture(scope="module")
def companies() -> Companies:
    return load_companies()


def named(companies: Companies, text: str, **more) -> list[tuple[str, str]]:
    return [(m.company, m.surface) for m in companies.find(text, **more)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        pytest.param("Siemens wins.", "en", [("Siemens", "Siemens")], id="name"),
        pytest.param("SIEMENS ZIEHT UM", "de", [("Siemens", "SIEMENS")], id="capital headline"),
        pytest.param("siemens zieht um", "de", [], id="small letters"),
        pytest.param("Siemens’ Plan", "de", [("Siemens", "Siemens")], id="typographic apostrophe"),
        pytest.param("Microsoft's plan", "en", [("Microsoft", "Microsoft")], id="possessive"),
        pytest.param("Boeings Vorstand", "de", [("Boeing", "Boeings")], id="German genitive"),
        pytest.param("der Siemens-Chef", "de", [("Siemens", "Siemens")], id="compound"),
        pytest.param("ein VW-Konzern", "de", [("Volkswagen", "VW")], id="acronym compound"),
        pytest.param("Google-owned maps", "en", [("Alphabet", "Google")], id="English compound"),
        pytest.param("im Deutsche Bank Park", "de", [], id="stadium"),
        pytest.param(
            "Bank of America fell", "en", [("Bank of America", "Bank of America")], id="longest"
        ),
        pytest.param("see www.Siemens.com/a", "en", [], id="address"),
        pytest.param("Boeingen", "de", [], id="inside a word"),
        pytest.param("微软发布新产品", "zh", [("Microsoft", "微软")], id="Chinese without blanks"),
        pytest.param("米マイクロソフトは", "ja", [("Microsoft", "マイクロソフト")], id="Japanese"),
    ],
)
def test_a_name_counts_as_a_word_of_its_own(companies, text, language, expected):
    assert named(companies, text, language=language) == expected


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        pytest.param("She ate an Apple on the train.", False, id="alone"),
        pytest.param("Apple pie was served by Apple Martin.", False, id="excluded"),
        pytest.param("Apple Inc. is based there.", True, id="legal form"),
        pytest.param("Apple sold more of its iPhone models.", True, id="context"),
        pytest.param("Apple shares fell.", True, id="cue"),
        pytest.param("Apple (AAPL.O) fell.", True, id="ticker"),
    ],
)
def test_an_ambiguous_name_needs_support(companies, text, counts):
    assert bool(companies.find(text, language="en")) is counts


def test_context_in_the_title_supports_the_body(companies):
    found = companies.find("Apple grew.", title="A new iPhone", language="en")
    assert [(m.section, m.surface) for m in found] == [("body", "Apple")]


def test_one_supported_occurrence_supports_the_others(companies):
    text = "Apple shares fell. " + "Nothing else was said. " * 30 + "Later Apple rose."
    assert [m.rule for m in companies.find(text)] == ["context", "repetition"]


@pytest.mark.parametrize(
    "text",
    ["Tickers: NYSE: MSFT rose", "It (MSFT.O) rose", "It (NASDAQ: MSFT) rose", "It ($MSFT) rose"],
)
def test_a_ticker_counts_in_ticker_form(companies, text):
    assert named(companies, text) == [("Microsoft", "MSFT")]


def test_offsets_refer_to_the_original_text(companies):
    text = unicodedata.normalize(
        "NFD", "Dé\u00adjà vu: Nest\u00adlé und Siemens\u00a0Energy, Télé\u200bfónica"
    )
    for mention in companies.find(text, title="Sie\u00admens"):
        whole = "Sie\u00admens" if mention.section == "title" else text
        assert whole[mention.start : mention.end] == mention.surface
    assert len(companies.find(text, title="Sie\u00admens")) >= 2
