"""Which pages hold an article, and how texts are weighed."""

from datetime import UTC, datetime

import pytest

from newscrawl.items import Hints, Page
from newscrawl.reading import NoArticleError, PageReader
from newscrawl.text import weight_of

BRIEFS = {
    "zh": "市议会周二批准了通往机场的新电车线路。"
    "西门子将制造十二辆电车，首批电车将于后年春季运行。",
    "ja": "市議会は火曜日、空港への新しい路面電車を承認した。最初の車両は再来年の春に走る予定だ。",
    "ko": "시의회는 화요일 공항으로 가는 새 전차 노선을 승인했다. "
    "지멘스는 이 노선을 위해 열두 대의 전차를 만들고 첫 차는 내후년 봄에 운행한다.",
    "en": "The council approved a new tram line to the airport on Tuesday.",
}
READER = PageReader(method="combined")


def page(text: str, language: str, hints: Hints | None = None) -> Page:
    html = f"<html lang='{language}'><article><h1>{text[:12]}</h1><p>{text}</p></article></html>"
    return Page(
        url="https://saltmere.example/news/tram-to-the-airport-1",
        source="saltmere",
        html=html.encode(),
        fetched_at=datetime(2026, 11, 28, tzinfo=UTC),
        hints=hints or Hints(),
    )


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("", 0),
        ("tram", 4),
        ("Zürich", 6),
        ("電車", 6),
        ("ぽこ", 6),
        ("전차", 4),
        ("トA전", 6),
        ("𠮷", 3),
    ],
)
def test_characters_are_weighed_by_script(text, weight):
    assert weight_of(text) == weight


@pytest.mark.parametrize("language", ["zh", "ja", "ko"])
def test_brief_of_another_script_is_an_article(language):
    assert READER.read(page(BRIEFS[language], language)).article.text == BRIEFS[language]


def test_brief_is_too_short_or_unreadable():
    with pytest.raises(NoArticleError) as error:
        READER.read(page(BRIEFS["en"], "en"))
    assert error.value.reason == "TooShort"
    hints = Hints(title="Council approves tram line", standfirst="Siemens builds the trams.")
    document = READER.read(page(BRIEFS["en"], "en", hints))
    assert (document.page.access, document.article.text) == ("unreadable", hints.standfirst)
    assert document.article.title == hints.title
