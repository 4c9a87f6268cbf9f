"""Mentions are corrected on an article's page: by form on both databases, and in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.testclient import TestClient

from newscrawl.dashboard import Config, create_app
from newscrawl.storage import Database, open_database, queries
from tests.browsers import Watched
from tests.dashboards import (
    ARTICLE_PAGE,
    ARTICLE_TEXT,
    ARTICLE_URL,
    EVIL,
    NOW,
    SCRIPT,
    fill_article,
    serving,
)

TOKEN = "correct horse battery"  # noqa: S105


@pytest.fixture
def database(database_url: str, companies: Path) -> Iterator[Database]:
    with open_database(database_url) as opened:
        fill_article(opened, companies)
        yield opened


def config(database_url: str, companies: Path, token: str | None = None) -> Config:
    return Config(database_url=database_url, companies=companies, token=token, clock=lambda: NOW)


@pytest.fixture
def client(database_url: str, database: Database, companies: Path) -> Iterator[TestClient]:
    assert database.name
    app = create_app(config(database_url, companies))
    with TestClient(app, base_url="http://127.0.0.1:8300", follow_redirects=False) as opened:
        yield opened


def form_of(client: TestClient, **values: str) -> dict[str, str]:
    seal = client.get(ARTICLE_PAGE).text.split('name="seal" value="')[1].split('"')[0]
    return {"seal": seal, "url": ARTICLE_URL, **values}


def send(client: TestClient, **values: str) -> Any:
    return client.post("/article/corrections", data=form_of(client, **values))


def counts(client: TestClient) -> dict[str, int]:
    """Mentions by company: on the page, in the list of articles and in the ranking."""
    page = client.get(f"/api{ARTICLE_PAGE}").json()
    by_company: dict[str, int] = {}
    for mention in page["mentions"]:
        by_company[mention["company"]] = by_company.get(mention["company"], 0) + 1
    ranking = client.get("/api/ranking").json()
    assert by_company == {
        row["company"]: row["hits"]["in_title"] + row["hits"]["in_body"] for row in ranking
    }
    for company, number in by_company.items():
        (row,) = client.get("/api/articles", params={"company": company}).json()
        assert row["in_title"] + row["in_body"] == number
    return by_company


BEFORE = {"Siemens": 3, "Alstom": 1}


def test_one_wrong_mention_is_corrected_and_undone(client):
    assert counts(client) == BEFORE
    answer = send(client, wrong="body:56:Siemens")
    assert (answer.status_code, answer.headers["Location"]) == (303, ARTICLE_PAGE)
    assert counts(client) == {"Siemens": 2, "Alstom": 1}
    (row,) = client.get("/api/corrections").json()
    assert (row["sentence"], row["kind"]) == ("Siemens asks for less.", "wrong")
    assert '<del class="wrong"' in client.get(ARTICLE_PAGE).text
    assert send(client, undo=str(row["id"])).status_code == 303
    assert counts(client) == BEFORE
    assert client.get("/api/corrections").json() == []


@pytest.mark.parametrize(
    "values",
    [
        {"missed": "carmaker", "company": "bmw", "place": f"body:{ARTICLE_TEXT.index('carmaker')}"},
        {"missed": " carmaker ", "company": "carmaker BMW"},
    ],
    ids=["at a place", "by words"],
)
def test_missed_mention_is_added(client, values):
    assert send(client, **values).status_code == 303
    assert counts(client) == {**BEFORE, "BMW": 1}
    assert '<mark class="missed"' in client.get(ARTICLE_PAGE).text


@pytest.mark.parametrize(
    ("values", "code", "reason"),
    [
        ({"wrong": "body:1:Siemens"}, 409, "no longer found there"),
        ({"everywhere": "Bosch"}, 409, "no longer found there"),
        ({}, 409, "no longer found there"),
        ({"missed": "carmaker"}, 409, "no one company is named"),
        ({"missed": "Simens"}, 409, "is it Siemens?"),
        ({"missed": "carmaker", "company": "BMW", "place": "body:3"}, 409, "has changed"),
        ({"missed": "shipyard", "company": "BMW"}, 409, "no such words"),
        ({"wrong": "feet:1:Siemens"}, 422, "wrong"),
        ({"undo": "9"}, 409, "no correction 9"),
        ({"undo": "x"}, 422, "undo"),
        ({"everywhere": "Siemens", "seal": ""}, 403, "Reload the page"),
        ({"everywhere": "Siemens", "seal": "0" * 64}, 403, "Reload the page"),
        ({"everywhere": "Siemens", "url": "https://ft.example/none"}, 404, "No article"),
    ],
)
def test_senseless_or_foreign_form_changes_nothing(client, values, code, reason):
    answer = send(client, **values)
    assert (answer.status_code, reason in answer.text) == (code, True)
    assert client.get("/api/corrections").json() == []


def test_form_from_another_site_changes_nothing(client):
    form = form_of(client, everywhere="Siemens", name="eve")
    for path in ("/article/corrections", "/article/name"):
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            assert client.post(path, data=form, headers=headers).status_code == 403
    assert counts(client) == BEFORE


def test_corrections_are_signed_with_the_name_that_was_given(client):
    given = client.post("/article/name", data=form_of(client, name=f"Ada Łuczak {EVIL[:40]}"))
    assert given.status_code == 303
    send(client, everywhere="Alstom")
    (row,) = client.get("/api/corrections").json()
    assert row["made_by"].startswith("Ada Łuczak <script>")
    text = client.get(ARTICLE_PAGE).text
    assert "Ada Łuczak &lt;script&gt;" in text
    assert SCRIPT not in text


def test_shared_dashboard_asks_who_corrects(database, database_url, companies):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    app = create_app(config(database_url, companies, TOKEN))
    with TestClient(
        app, base_url="http://127.0.0.1:8300", follow_redirects=False, headers=headers
    ) as client:
        assert 'name="everywhere"' not in client.get(ARTICLE_PAGE).text
        assert "Who are you?" in client.get(ARTICLE_PAGE).text
        refused = send(client, everywhere="Siemens")
        assert (refused.status_code, "a name is missing" in refused.text) == (409, True)
        client.post("/article/name", data=form_of(client, name="ben"))
        assert send(client, everywhere="Siemens").status_code == 303
    assert {row.made_by for row in queries.corrections(database)} == {"ben"}


# In a browser ------------------------------------------------------------------------------------


@pytest.fixture
def base(tmp_path: Path, companies: Path) -> Iterator[str]:
    url = f"sqlite:///{tmp_path}/news.sqlite"
    with open_database(url) as database:
        fill_article(database, companies)
    with serving(config(url, companies)) as address:
        yield address


@pytest.fixture
def watched(browser: Browser, base: str) -> Iterator[Watched]:
    opened = Watched(browser.new_page(), base)
    opened.open(ARTICLE_PAGE)
    yield opened
    assert opened.said == []
    assert opened.elsewhere == []
    opened.page.close()


def in_aside(page: Page) -> list[str]:
    return [
        " ".join(text.replace("Wrong in this article", "").split())
        for text in page.locator("section[aria-labelledby=named] li").all_inner_texts()
    ]


def test_one_click_corrects_a_wrong_mention_and_another_undoes_it(watched):
    page = watched.page
    expect(page.locator(".prose mark")).to_have_count(3)
    page.locator(".prose").get_by_label("Not this company: Siemens").last.click()
    expect(page.locator(".prose del.wrong")).to_have_text("Siemens")
    assert in_aside(page) == ["Siemens 2", "Alstom 1"]
    expect(page.get_by_role("status")).to_contain_text("still counts for Siemens: 2 mentions.")
    expect(page.locator(".corrections")).to_contain_text("Siemens is not the company Siemens")
    expect(page.locator(".corrections")).to_contain_text("Siemens asks for less.")
    expect(page.locator("summary", has_text="Saved as")).to_be_visible()
    watched.open("/company/Siemens?count=mentions")
    body = page.locator(".tile", has_text="times in the body").locator("dd")
    expect(body).to_have_text("1")
    watched.open(ARTICLE_PAGE)
    page.locator(".prose").get_by_label("Undo: not Siemens").click()
    expect(page.locator(".prose mark")).to_have_count(3)
    assert in_aside(page) == ["Siemens 3", "Alstom 1"]
    expect(page.locator(".corrections")).to_have_count(0)


@pytest.mark.parametrize("of_list", ["corrected", "articles"])
def test_one_click_in_a_proof_undoes_what_one_click_did(browser, base, of_list):
    page = browser.new_page(java_script_enabled=False)
    page.goto(base + ARTICLE_PAGE)
    page.get_by_label("Wrong in this article: Siemens").click()
    page.get_by_label("Wrong in this article: Alstom").click()
    page.goto(f"{base}/proof?company=Siemens&counted={of_list}")
    page.get_by_role("button", name="Undo all 3").click()
    expect(page.get_by_role("status")).to_contain_text("and 2 more mentions count again as Siemens")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    page.goto(base + ARTICLE_PAGE)
    assert in_aside(page) == ["Siemens 3"]
    page.close()


def test_selected_words_become_a_mention_at_their_place(watched):
    page = watched.page
    words = page.locator("[data-at^=body]", has_text="carmaker")
    place = words.evaluate(
        """element => { const node = element.firstChild, range = document.createRange();
        range.setStart(node, node.data.indexOf('carmaker'));
        range.setEnd(node, range.startOffset + 8);
        const box = range.getBoundingClientRect(); return [box.x + box.width / 2, box.y + 9]; }"""
    )
    page.mouse.dblclick(*place)
    expect(page.locator(".missing")).to_have_class("missing ready")
    expect(page.get_by_label("Missed words")).to_have_value("carmaker")
    page.get_by_label("Company", exact=True).fill("BMW")
    page.get_by_role("button", name="Add mention").click()
    expect(page.locator(".prose mark.missed")).to_have_text("carmaker")
    assert in_aside(page) == ["Siemens 3", "Alstom 1", "BMW 1"]
    assert page.evaluate("window.hacked") is None
    expect(page.locator(".prose")).to_contain_text(SCRIPT)


def test_sentence_of_a_proof_is_corrected_there(watched):
    page = watched.page
    watched.open("/company/Siemens?count=mentions")
    number = page.locator(".tile", has_text="times in the body").locator("a.proof")
    number.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog")
    expect(panel.locator("h1")).to_have_text("2 times in the body: Siemens")
    panel.get_by_label("Not this company: Siemens").last.focus()
    page.keyboard.press("Enter")
    expect(panel.locator("h1")).to_have_text("1 time in the body: Siemens")
    expect(panel.locator("h1")).to_be_focused()
    status = panel.get_by_role("status")
    expect(status).to_contain_text("Siemens asks for less.")
    expect(status).to_contain_text("still counts: it mentions Siemens 1 more time in the body.")
    assert watched.violations() == []
    # The page below is renewed at once, and the keyboard stays in the panel.
    expect(number).to_have_text("1")
    expect(panel.locator("h1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(number).to_be_focused()
    page.keyboard.press("Enter")
    expect(panel.get_by_label("Not this company: Siemens")).to_have_count(1)


def test_correction_in_a_proof_is_undone_there_without_scripts(browser, base):
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{base}/proof?company=Siemens&counted=mentions&order=least-sure")
    status, wrong = page.get_by_role("status"), page.get_by_label("Not this company: Siemens")
    for left in (2, 1, 0):
        wrong.first.click()
        expect(page.locator("h1")).to_contain_text(f"{left} mention")
        says = f"it mentions Siemens {left} more time" if left else "no longer: now 0 articles."
        expect(status).to_contain_text(says)
    status.get_by_role("button", name="Undo").click()
    expect(page.locator("h1")).to_have_text("1 mention of Siemens")
    assert "order=least-sure" in page.url
    expect(status).to_contain_text("Undone:")
    expect(status).to_contain_text("counts again as Siemens.")
    expect(status.get_by_role("button", name="Undo")).to_have_count(0)
    # Each earlier correction keeps its own Undo.
    earlier = page.get_by_role("region", name="Your other corrections of the last 24 hours")
    expect(earlier.get_by_role("listitem")).to_have_count(2)
    earlier.get_by_role("button", name="Undo").last.click()
    expect(page.locator("h1")).to_have_text("2 mentions of Siemens")
    expect(earlier.get_by_role("listitem")).to_have_count(1)
    wrong.first.click()
    page.goto(f"{base}/proof?company=Siemens&counted=corrected")
    expect(page.locator("#counted")).to_contain_text("called it wrong: 2 mentions in 1 article")
    page.get_by_role("button", name="Undo").first.click()
    expect(page.locator("#counted")).to_contain_text("called it wrong: 1 mention in 1 article")
    expect(status).to_contain_text("Undone:")
    page.close()


def test_correction_of_an_article_that_does_not_reach_the_server_says_so(watched):
    page = watched.page
    watched.open(ARTICLE_PAGE)
    page.route("**/article/corrections", lambda route: route.abort())
    wrong = page.locator(".prose").get_by_label("Not this company: Alstom")
    wrong.click()
    wrong.click()
    line = page.get_by_role("alert")
    expect(line).to_have_text(
        "Not saved. The server can't be reached: check your connection, and try again."
    )
    expect(page.locator(".prose p", has=line)).to_contain_text("Alstom bid for the new line")
    assert watched.violations() == []
    page.unroute("**/article/corrections")
    wrong.click()
    expect(page.locator(".prose del.wrong")).to_have_text("Alstom")
    expect(line).to_have_count(0)
    # htmx and the browser write the two failures to the console.
    watched.said[:] = [one for one in watched.said if not re.search("htmx:|ERR_FAILED", one)]


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (None, "Not saved. The server can't be reached: check your connection, and try again."),
        (401, "Not saved. You are signed out. Reload the page, sign in, and try again."),
        (403, "Not saved. You may only read here. Sign in with a token that may edit."),
        (500, "Not saved. The server answered 500. Try again, or reload the page."),
    ],
)
def test_correction_that_is_not_saved_says_why(watched, failure, says):
    page = watched.page
    watched.open("/company/Siemens?count=mentions")
    page.locator(".tile", has_text="times in the body").locator("a.proof").click()
    panel, sent = page.get_by_role("dialog"), "**/article/corrections"
    end = (lambda r: r.fulfill(status=failure, body="no")) if failure else (lambda r: r.abort())
    page.route(sent, end)
    wrong = panel.get_by_label("Not this company: Siemens").last
    wrong.click()
    expect(panel.get_by_role("alert")).to_have_text(says)
    expect(panel.get_by_role("alert")).to_be_in_viewport()
    expect(panel.locator("h1")).to_have_text("2 times in the body: Siemens")
    page.unroute(sent)
    wrong.click()
    expect(panel.locator("h1")).to_have_text("1 time in the body: Siemens")
    expect(panel.get_by_role("alert")).to_have_count(0)
    watched.said = [line for line in watched.said if "Failed to load resource" not in line]


def test_buttons_of_corrections_are_large_enough_to_hit(watched):
    for path in ("/proof?company=Siemens&counted=mentions", ARTICLE_PAGE):
        page = watched.open(path)
        buttons = page.locator("button[name=wrong], button[name=everywhere]")
        assert buttons.count() >= 2
        sizes = [each.bounding_box() for each in buttons.all()]
        assert all(size and min(size["width"], size["height"]) >= 24 for size in sizes)
    expect(page.get_by_text("Wrong in this article", exact=True).first).to_be_visible()
    watched.open("/proof?company=Siemens&counted=mentions")
    expect(page.get_by_text("Not this company", exact=True).first).to_be_visible()
