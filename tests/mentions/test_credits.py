"""Newspapers and agencies: named for their work they do not count, as companies they do."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from newscrawl.items import Article, Document, Page
from newscrawl.mentions import Companies, Company, with_mentions
from tests.worlds import bundled_companies

WIRE = Company(name="Thomson Wire", aliases=("Wire News",), outlets=("wire.example", "Wire News"))
PAPER = Company(name="Daily Paper Company", outlets=("paper.example", "The Daily Paper"))
REGISTRY = Companies([WIRE, PAPER, Company(name="Siemens")])


def named(text: str, **more: str | None) -> list[str]:
    return [mention.company for mention in REGISTRY.find(text, **more)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("BERLIN (Wire News) - Siemens grows.", id="dateline"),
        pytest.param("Siemens grows. Reporting by Ada Lo for Wire News", id="reporting"),
        pytest.param("Siemens grows. Photo: Ada Lo/Wire News", id="photo"),
        pytest.param("Siemens grows. © Wire News", id="rights"),
        pytest.param("Siemens grows, a person told Wire News.", id="told"),
        pytest.param("Siemens wächst, laut Wire News.", id="laut"),
        pytest.param("Siemens grows, Wire News reported.", id="reported"),
    ],
)
def test_photo_or_agency_credit_is_not_a_mention(text):
    assert named(text) == ["Siemens"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Thomson Wire reported a loss.", id="its own figures"),
        pytest.param("Wire News will cut 300 jobs.", id="as an employer"),
        pytest.param("Siemens buys Wire News.", id="as a target"),
    ],
)
def test_publisher_as_a_company_is_mentioned(text):
    assert "Thomson Wire" in named(text)


OWN = "Siemens grew. Subscribe now: 2026 Daily Paper Company. All rights reserved."


@pytest.mark.parametrize(
    "source",
    [
        "https://www.paper.example/a/b.html",
        "paper.example",
        "news.paper.example",
        "The Daily Paper",
    ],
)
def test_newspaper_is_not_counted_in_its_own_boilerplate(source):
    assert named(OWN, source=source) == ["Siemens"]


@pytest.mark.parametrize(
    "source", [None, "", "https://other.example/", "notpaper.example", "http://["]
)
def test_newspaper_is_counted_in_another_newspaper(source):
    assert named(OWN, source=source) == ["Siemens", "Daily Paper Company"]


def test_newspaper_is_counted_in_news_about_it_on_its_own_site():
    text = "The Daily Paper Company lost readers. Subscribe to read more."
    assert named(text, source="paper.example") == ["Daily Paper Company"]


def test_matcher_receives_the_source_of_a_document():
    article = Article(title="Growth", text=OWN, language="en")
    page = Page(
        url="https://www.paper.example/a", source="paper", html=b"", fetched_at=datetime.now(UTC)
    )
    for url, companies in (
        ("https://www.paper.example/a", {"Siemens"}),
        ("https://other.example/a", {"Siemens", "Daily Paper Company"}),
    ):
        document = Document(page=replace(page, url=url), article=article)
        found = with_mentions(document, REGISTRY).mentions
        assert {mention.company for mention in found} == companies


@pytest.mark.parametrize(
    ("company", "source", "text"),
    [
        pytest.param(
            "New York Times Company",
            "https://www.nytimes.com/2026/11/01/x.html",
            "Subscribe to The New York Times Company's newsletter.",
            id="NYT",
        ),
        pytest.param("Sky", None, "Er sprach bei Sky. Photo: Sky News", id="Sky News"),
        pytest.param("TF1", None, "Le ministre l'a dit sur TF1 jeudi.", id="TF1"),
    ],
)
def test_bundled_registry_has_publishers(company, source, text):
    found = bundled_companies().find(text, source=source)
    assert company not in {mention.company for mention in found}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Siemens wins order for crane - PR Newswire", {"Siemens"}),
        ("Siemens wins order for crane (Business Wire)", {"Siemens"}),
        ("Siemens wins order for crane | Google News", {"Siemens"}),
        ("Siemens wins order for crane | Business Wire", {"Siemens"}),
        ("Court stops the sale of Business Wire", {"Business Wire"}),
    ],
)
def test_wire_behind_a_headline_is_a_credit(title, expected):
    found = bundled_companies().find("The council agreed.", title=title, language="en")
    assert {mention.company for mention in found} == expected


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("Netflix is worth more, Yahoo Finance reported.", "en", ["Netflix"]),
        ("Em resposta ao GLOBO, o ministro negou.", "pt", []),
        ("Minister powiedział dla Onet, że odejdzie.", "pl", []),
        ("Onet podał, że minister odejdzie.", "pl", []),
        ("Onet zwalnia 50 osób.", "pl", ["Onet"]),
        ("Google skriver att tjänsten läggs ner.", "sv", ["Google"]),
        ("Podle ČEZ ceny porostou.", "cs", ["ČEZ"]),
        ("テレビ朝日の番組で市長が語った。", "ja", []),
        ("読売新聞の取材に社長が答えた。", "ja", []),
        ("テレビ朝日が番組の制作会社を買収した。", "ja", ["テレビ朝日"]),
        ("朝日新聞社は希望退職を募る。", "ja", ["朝日新聞社"]),
        ("写真提供=トヨタ自動車", "ja", []),
        ("トヨタ自動車提供の車に乗る。", "ja", ["Toyota"]),
        ("[사진=LG전자 제공] 새 냉장고.", "ko", []),
        ("LG전자는 사진 기능을 공개했다.", "ko", ["LG"]),
        ("图片来源：索尼", "zh", []),
        ("索尼的图片传感器业务增长。", "zh", ["Sony"]),
        ("国家电网记者会今天举行。", "zh", ["State Grid"]),
    ],
)
def test_outlet_quoted_as_a_source_is_none_in_any_language(text, language, names):
    mentions = bundled_companies().find(text, language=language)
    assert [mention.company for mention in mentions] == names
