"""The proof of a number in a real browser: opened over the page, read, and left again."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from newscrawl.dashboard.pages import overview
from tests.dashboards import TRAM

TRAM_PAGE = "/article?url=" + quote(TRAM, safe="")


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_number_opens_its_proof_over_the_page(look, width):
    watched = look("/company/Siemens?days=30", width=width)
    page = watched.page
    number = page.locator(".tile a.proof").first
    shown = number.inner_text()
    number.click()
    panel = page.get_by_role("dialog", name="Proof of the number")
    expect(panel.locator("h1")).to_have_text(f"{shown} articles name Siemens")
    expect(panel.locator("h1")).to_be_focused()
    expect(panel.locator("mark").first).to_have_text("Siemens")
    assert page.url.endswith("/company/Siemens?days=30")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    panel.get_by_role("link", name="Older").click()
    expect(panel.locator("h2").first).to_contain_text("page 2 of")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    expect(number).to_be_focused()


def test_back_closes_a_proof_and_returns_to_it_from_an_article(look):
    page = look("/company/Siemens?days=30", width=390).page
    page.get_by_role("radio", name="7 days").check()
    page.wait_for_url(re.compile("days=7"))
    page.evaluate("window.same = true")
    panel = page.get_by_role("dialog", name="Proof of the number")
    number = page.locator(".tile a.proof").first
    number.click()
    expect(panel.locator("h1")).to_be_focused()
    page.go_back()
    expect(panel).to_be_hidden()
    assert page.evaluate("window.same")
    expect(number).to_be_focused()
    page.go_forward()
    expect(panel).to_be_visible()
    title = panel.locator("h1").inner_text()
    close = panel.get_by_role("button", name="Close")
    panel.evaluate("panel => panel.scrollTo(0, panel.scrollHeight)")
    expect(close).to_be_in_viewport()
    panel.locator("article.line h3 a").first.click()
    page.wait_for_url(re.compile("/article"))
    page.go_back()
    expect(panel.locator("h1")).to_have_text(title)
    page.reload()
    expect(panel.locator("h1")).to_have_text(title)
    close.click()
    expect(panel).to_be_hidden()
    page.wait_for_function("!history.state || !history.state.proof")
    page.go_back()
    page.wait_for_url(re.compile("days=30"))


@pytest.mark.parametrize("order", ["", "&order=change"])
def test_overview_has_pages_with_every_company(look, base, order, monkeypatch):
    monkeypatch.setattr(overview, "MAX_COMPANIES", 10)
    page = look(f"/?days=30{order}").page
    every = page.request.get(f"{base}/?days=30&format=csv").text().split("\n")[1:-1]
    names, ranks = [], []
    while True:
        rows = page.locator(".ranking tbody tr")
        names += rows.locator("th > a").all_inner_texts()
        ranks += [int(one) for one in rows.locator("td.rank").all_inner_texts() if one != "–"]
        more = page.get_by_role("link", name="More companies")
        if more.count() == 0:
            break
        assert rows.count() == 10
        more.click()
        expect(page.get_by_role("link", name="Before", exact=True)).to_be_visible()
    assert len(names) == len({*names}) == len(every) > 20
    assert ranks == [*range(1, len(ranks) + 1)]
    assert ("order=change" in page.url) == bool(order)


def test_stories_of_a_company_lead_to_their_articles(look):
    page = look("/company/Siemens").page
    first = page.locator("section[aria-labelledby=stories] li").first
    expect(first).to_have_text(re.compile(r"[1-9]\d* articles in 2 sources"))
    number = first.locator("a.proof")
    articles = number.inner_text()
    number.click()
    panel = page.get_by_role("dialog", name="Proof of the number")
    expect(panel.locator("h1")).to_have_text(f"{articles} articles name Siemens")
    expect(panel).to_contain_text("one story")
    panel.get_by_role("button", name="Close").click()
    first.get_by_role("link").first.click()
    expect(page.locator("mark", has_text="Siemens").first).to_be_visible()
    expect(page.locator("#copies")).to_be_visible()


def test_proof_opens_and_closes_by_keyboard(look):
    page = look("/?days=7").page
    number = page.locator(".ranking td a.proof").first
    number.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog")
    expect(panel.locator("article.line mark").first).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#panel') !== null")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(number).to_be_focused()


def test_proof_of_days_read_begins_with_the_coverage(look):
    page = look("/").page
    tile = page.locator(".tile", has_text="days read")
    days = tile.locator("dd").inner_text()
    tile.locator("a.proof").click()
    panel = page.get_by_role("dialog")
    expect(panel.locator("#coverage")).to_be_focused()
    expect(panel.locator("#coverage")).to_be_in_viewport()
    expect(panel.locator("article.line").last).not_to_be_in_viewport()
    total = panel.locator("tfoot td")
    assert [total.nth(1).inner_text(), total.nth(2).inner_text()] == days.split(" of ")


def test_chosen_button_stays_chosen_under_the_mouse(look):
    page = look("/").page
    chosen = page.locator(".segments label", has_text="30 days")
    ground = "label => getComputedStyle(label.querySelector('span')).backgroundColor"
    before = chosen.evaluate(ground)
    chosen.hover()
    assert chosen.evaluate(ground) == before
    other = page.locator(".segments label", has_text="7 days")
    assert other.evaluate(ground) != before


def test_number_leads_to_its_proof_without_scripts(look):
    page = look("/company/Siemens", java_script_enabled=False).page
    page.locator(".tile a.proof").first.click()
    page.wait_for_url(re.compile("/proof\\?"))
    assert page.locator("article.line mark").count() > 1


def test_sentence_of_a_proof_leads_to_its_explanation(look):
    watched = look("/company/Siemens?source=harbour-courier")
    page = watched.page
    page.locator(".tile a.proof").first.click()
    title = page.get_by_role("dialog").locator("h1").inner_text()
    line = page.get_by_role("dialog").locator("article.line").first
    sentence = line.locator(".snippet").last.inner_text()
    line.get_by_role("link", name="Why is this sentence counted?").last.click()
    page.wait_for_url(re.compile("/article/explanation"))
    expect(page.get_by_role("link", name="Back to the number")).to_be_visible()
    expect(page.locator(".answer .words")).to_contain_text(sentence.strip("…"))
    page.get_by_role("link", name="Wrong? Correct it in the article").click()
    asked = page.locator(".mention:target")
    expect(asked.get_by_role("button", name="Not this company: Siemens")).to_be_in_viewport()
    page.go_back()
    page.get_by_role("link", name="Back to the number").click()
    expect(page.locator("h1")).to_have_text(title)
    assert "source=harbour-courier" in page.url
    watched.said = [x for x in watched.said if "Content Security" not in x]


def test_explanation_leads_back_to_the_page_of_its_proof(look):
    page = look("/proof?company=Siemens&counted=mentions&page=2").page
    page.get_by_role("link", name="Why is this sentence counted?").first.click()
    page.get_by_role("link", name="Back to the number").click()
    expect(page.locator("h2").first).to_contain_text("page 2 of")


def test_link_of_a_proof_leads_to_the_same_number(look):
    page = look("/compare?company=Airbus&company=Siemens").page
    page.locator("table.short td a.proof").first.click()
    panel = page.get_by_role("dialog")
    heading = panel.locator("h1").inner_text()
    panel.get_by_role("link", name="Link to this number").click()
    page.wait_for_url(re.compile("/proof\\?"))
    expect(page.locator("main h1")).to_have_text(heading)
