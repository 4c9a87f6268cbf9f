"""Pages of searches, and of the reasons why a mention is counted."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from markupsafe import Markup
from starlette.testclient import TestClient

from newscrawl.answers.proof import evidence_text
from newscrawl.dashboard import create_app
from newscrawl.dashboard.explanations import UnexplainedError
from newscrawl.extraction.explain_page import AskedSentence
from newscrawl.storage.saved_queries import add_query, count_history
from tests.dashboards import NOW, config_of, save_past as save
from tests.worlds import body, document, headline, register, save_document

# Those of the documented table.
DOCUMENT = Path(__file__).parents[3] / "docs" / "mentions.md"
TABLE = DOCUMENT.read_text("utf-8").partition("| rule | support |")[2].partition("\n\n")[0]
RULES = ["name", "inflection", *re.findall(r"^\| `([a-z ]+)` \|", TABLE, re.MULTILINE)]


def test_search_leads_to_companies_of_this_name(client, database):
    save(database, 0, headline("Siemens"), body("Siemens Energy", 8))
    save(database, 0, headline("Volkswagen"))
    for words in ("siemens", "Siem"):
        text = client.get("/search", params={"q": words}).text
        assert 'See also: <a href="/company/Siemens">Siemens</a>' in text
        assert '<a href="/company/Siemens%20Energy">Siemens Energy</a>' in text
    assert '"/company/Volkswagen">' in client.get("/search?q=VW").text
    for words in ("S", "Nobody", ""):
        assert 'id="companies"' not in client.get("/search", params={"q": words}).text


def test_search_says_that_words_are_found_as_they_are_written(client, database):
    save(database, 0, headline("Siemens"))
    hint = "No plurals or other endings"
    for words, says in (("council", True), ("councils", True), ("council*", False)):
        text = client.get("/search", params={"q": words}).text
        assert (hint in text) is says, words
        assert "<code>tram</code> does not find <i>trams</i>" in text
        assert ("is in no article of the period" in text) is (words == "councils")
    assert hint not in client.get("/search").text


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("days=abc", "days &#39;abc&#39;: write a number from 1 to"),
        ("until=2020-13-01", "until &#39;2020-13-01&#39; is not a day"),
        ("group=nonesuch", "nonesuch"),
        ("since=2026-11-20&until=2026-11-01", "2026-11-01"),
    ],
)
@pytest.mark.parametrize(
    "path", ["/", "/search", "/compare", "/sources", "/company/Siemens", "/queries"]
)
def test_fault_of_a_filter_keeps_the_others_in_their_form(client, database, path, fault, says):
    save(database, 0, headline("Siemens"))
    answer = client.get(f"{path}?source=ft&count=mentions&company=A%26B&{fault}&company=C")
    assert answer.status_code == 422
    assert says in answer.text
    assert f'<form class="filters" action="{path}"' in answer.text
    assert '<option value="ft" selected>' in answer.text
    for name, value in (("count", "mentions"), ("company", "A&amp;B"), ("company", "C")):
        assert f'<input type="hidden" name="{name}" value="{value}">' in answer.text
    (link,) = re.findall(r'href="([^"]+)">Show the page without it', answer.text)
    assert "company=A%26B" in link
    if path != "/compare":
        assert client.get(unescape(link)).status_code == 200


@pytest.mark.parametrize(
    ("path", "says", "button", "leads"),
    [
        (
            "/proof?counted=x&company=Siemens",
            "counted &#39;x&#39;",
            "To Siemens",
            "/company/Siemens?",
        ),
        ("/proof?company=Nobody", "Nobody", "To the overview", "/?"),
        ("/proof?company=Siemens&days=x", "days &#39;x&#39;", "without it", "/proof?"),
        ("/report?x=y", "company: ", "To the overview", "/?"),
        ("/report?company=Siemens&format=pdf", "format: ", "To Siemens", "/company/Siemens?"),
        (
            "/report?company=A%26B&company=Siemens&format=pdf",
            "format: ",
            "To the comparison",
            "/compare?source=ft&company=A%26B&company=Siemens",
        ),
        ("/report?company=Siemens&days=x", "days &#39;x&#39;", "without it", "/report?"),
    ],
)
def test_fault_leads_back_with_the_filters(client, database, path, says, button, leads):
    save(database, 0, headline("Siemens"))
    answer = client.get(f"{path}&source=ft")
    assert answer.status_code in {404, 422}
    assert says in answer.text
    (link,) = re.findall(rf'href="([^"]+)">[^<]*{button}</a>', answer.text)
    assert unescape(link).startswith(leads)
    assert "source=ft" in link
    assert 'aria-label="Pages"' in answer.text
    if "days=x" in path and "report" in path:
        assert 'class="filters" action="/company/Siemens"' in answer.text


def test_company_without_mentioned_subsidiaries_has_no_switch(client, database):
    save(database, 0, headline("Siemens"))
    for query in ("", "?subsidiaries=included"):
        page = client.get(f"/company/Siemens{query}").text
        assert "Companies alone" not in page
    # The choice is kept for the next page, whose company may have some.
    assert 'type="hidden" name="subsidiaries" value="included"' in page
    save(database, 0, headline("Alstom"))
    compared = "/compare?company=Siemens&company=Alstom"
    assert "Companies alone" not in client.get(compared).text


def test_every_copy_of_a_story_is_listed(client, database):
    run = register(database)
    text = " ".join(f"word{number}" for number in range(80))
    for number in range(15):
        save_document(database, document(f"copy-{number}", text=f"{text} end {number}"), run)
    page = client.get("/article?url=https://ft.example/copy-0").text
    copies = page.split('id="copies"')[1].split("</section>")[0]
    assert len(re.findall(r'href="/article\?url=[^"]+copy-\d+"', copies)) == 14
    assert "<summary>2 more</summary>" in copies


def test_only_pages_of_stored_articles_are_explained(file, database):
    asked: list[tuple[str, ...]] = []

    def explain(urls: list[str], fetch_anew: bool) -> None:
        asked.append(tuple(urls))
        raise AssertionError(fetch_anew)

    save(database, 0, headline("Siemens"))
    app = create_app(config_of(file, explain=explain))
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/article/explanation?url=http://10.0.0.1/admin").status_code == 404
        assert asked == []


def test_hit_in_a_teaser_leads_to_the_reason_why_it_is_not_counted(file, database):
    found: list[AskedSentence] = []

    def explain(_: list[str], fetch_anew: bool, asked: AskedSentence) -> Markup:
        found.append(asked)
        raise UnexplainedError("not in the archive")

    save(database, 0, headline("Siemens"), boilerplate=(("Yahoo", 2),))
    app = create_app(config_of(file, explain=explain))
    with TestClient(app, base_url="http://localhost") as client:
        page = client.get("/proof?counted=boilerplate&company=Yahoo").text
        link = re.search(r'href="(/article/explanation[^"]+left_out=Yahoo)&amp;proof=', page)
        assert link, page
        assert "Why is Yahoo not counted here?" in client.get(unescape(link[1])).text
        article = client.get(unescape(link[1]).replace("/explanation", "")).text
        assert unescape(link[1]) in unescape(article)
    (asked,) = found
    assert asked.left_out == "Yahoo"
    assert asked.finds is not None
    assert asked.finds("More news: Yahoo buys a mill")
    assert not asked.finds("More news: a mill is sold")


def test_without_an_archive_a_mention_is_explained_from_the_database(file, database):
    save(database, 0, replace(headline("Siemens"), score=0.98))
    app = create_app(config_of(file))
    with TestClient(app, base_url="http://localhost") as client:
        proof = client.get("/proof?counted=headline&company=Siemens").text
        link = re.search(r'href="(/article/explanation[^"]+)"', proof)
        assert link, proof
        answer = client.get(unescape(link[1]))
    assert answer.status_code == 200
    assert "Siemens on day 0" in answer.text
    assert "Siemens: unambiguous name of the registry; very likely right (0.98)" in answer.text
    assert "docs/archive.md" in answer.text
    assert "Back to the article" in answer.text


def test_every_count_has_a_reason_without_a_kept_page(client, database):
    save(database, 0, replace(headline("Siemens"), score=0.98))
    add_query(database, "days", "day", "ann")
    count_history(database, "days")
    url = "https://ft.example/0-1-Siemens"
    # In the headline alone, with a place and without; words of a query; and a place of the past.
    reasons = {
        "": "Siemens: unambiguous name of the registry",
        "&at=title:0": "Siemens: unambiguous name of the registry",
        "&at=title:11&proof=%3Fcompany%3Ddays": "words of the saved query",
        "&at=body:3": "not counted any more",
    }
    for place, reason in reasons.items():
        assert reason in client.get(f"/article/explanation?url={url}{place}").text, place
    save(database, 1)
    page = client.get("/article/explanation?url=https://ft.example/1-0-").text
    assert "No company is counted in this article." in page


def test_article_stored_without_versions_says_so(client, database):
    save(database, 0, headline("Siemens"))
    page = client.get("/article?url=https://ft.example/0-1-Siemens").text
    assert "a version of newscrawl that is not known" in page


def test_explanation_has_every_sentence_with_a_mention_once(file, database):
    text = "Siemens and Alstom bid. Nobody asked Bosch. It rained."
    mentions = [headline("Siemens"), body("Siemens"), body("Alstom", 12), body("Bosch", 37)]
    page = document(title="Siemens bids", text=text, mentions=mentions, published=NOW)
    save_document(database, page, register(database))
    app = create_app(config_of(file))
    with TestClient(app, base_url="http://localhost") as client:
        article = client.get(f"/article?url={page.article.url}").text
        head, _, rest = article.partition('<div class="prose">')
        assert "Why is this counted?" not in rest
        link = re.search(r'href="(/article/explanation[^"]+)">Why is this counted\?', head)
        assert link
        for at in ("", "body:0", "body:12", "body:37", "title:0"):
            shown = client.get(unescape(link[1]), params={"url": page.article.url, "at": at}).text
            sentences = re.findall(r'<p class="snippet" dir="auto">([^<]+)</p>', shown)
            asked = {"body:37": "Nobody asked Bosch.", "title:0": "Siemens bids"}
            assert sentences[0] == asked.get(at, "Siemens and Alstom bid."), at
            assert sorted(sentences) == [
                "Nobody asked Bosch.",
                "Siemens and Alstom bid.",
                "Siemens bids",
            ]
            assert "in 2 sentences</summary>" in shown
            assert shown.count("Alstom: unambiguous name of the registry") == 1


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_said_in_words(rule):
    words = evidence_text(replace(body("Siemens"), rule=rule, score=0.5))
    assert not words.startswith(f"{rule};")
    assert words.endswith("; uncertain (0.50)")
