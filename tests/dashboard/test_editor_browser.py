"""The editor of companies and groups in a real browser."""

from dataclasses import replace

import pytest
from playwright.sync_api import Page, Route, expect

from newscrawl.items import UnregisteredName
from newscrawl.storage import open_database
from tests.browsers import Watched
from tests.dashboards import NOW, dashboard
from tests.worlds import LONG, document, register, save_document


def test_definition_is_tried_while_it_is_written(look):
    watched = look("/registry/edit")
    page = watched.page
    page.get_by_label("Name").fill("you")
    expect(page.locator("#trial")).to_contain_text("everyday word")
    page.get_by_label("Name").fill("Harbour Courier Holding")
    expect(page.locator("#forms strong")).to_have_text(
        ["Harbour Courier Holding", "Harbour Courier"]
    )
    page.get_by_label("Also called").fill("Siemens")
    expect(page.locator("#trial mark").first).to_have_text("Siemens")
    expect(page.locator("#trial ins")).to_contain_text("more")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("stands for")
    watched.rest()
    page.get_by_label("Also called").fill("Courier Holding")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    watched.rest()
    page.get_by_role("button", name="Remove from the file").click()
    expect(page.locator("#own ~ *").first).to_be_visible()
    assert page.get_by_role("link", name="Harbour Courier Holding").count() == 0
    expect(page.locator("section[aria-labelledby=changes]")).to_contain_text("deleted by")
    # The browser notes that the first try was refused, and htmx that a trial was broken off where
    # the page was left meanwhile.
    watched.said = [line for line in watched.said if "422" not in line and "htmx:" not in line]


def write_danone(page: Page) -> None:
    page.get_by_label("Name").fill("Danone Group")
    page.get_by_label("Also called").fill("Danone")


def test_definition_is_previewed_in_all_stored_articles(look):
    watched = look("/registry/edit")
    page = watched.page
    write_danone(page)
    page.get_by_role("button", name="Try on all stored articles").click()
    history = page.locator("#history")
    expect(history).to_contain_text("articles would change.", timeout=180_000)
    row = history.get_by_role("row").filter(has_text="Danone Group")
    gained = int(row.locator("td").nth(1).inner_text())
    name = page.get_by_role("rowheader", name="Danone", exact=True)
    lost = history.get_by_role("row").filter(has=name)
    assert int(lost.locator("td").nth(2).inner_text()) == gained > 0
    expect(history.locator("article").first).to_contain_text("Danone")
    # Nothing was written.
    expect(look("/company/Danone").page.locator("h1")).to_have_text("Danone")
    watched.rest()


def test_saved_definition_is_applied_to_all_stored_articles(browser, tmp_path):
    with dashboard(tmp_path, days=20, hostile=False) as base:
        watched = Watched(browser.new_page(), base)
        watched.open("/registry/edit")
        page = watched.page
        write_danone(page)
        page.get_by_role("button", name="Save").click()
        page.wait_for_load_state()  # a click before the scripts run does nothing
        page.get_by_role("button", name="Re-scan stored articles").click()
        expect(page.locator("#history")).to_contain_text("articles changed.", timeout=180_000)
        gained = page.locator("#history").get_by_role("row").filter(has_text="Danone Group")
        articles = gained.locator("td").first.inner_text().removeprefix("+")
        watched.open("/company/Danone%20Group?days=90")
        expect(page.locator(".tile dd").first).to_contain_text(articles)
        page.context.close()


def test_group_is_made_changed_and_removed_in_the_editor(browser, tmp_path):
    with dashboard(tmp_path, days=20, hostile=False) as base:
        watched = Watched(browser.new_page(), base)
        watched.open("/registry")
        page = watched.page
        page.get_by_role("link", name="New group").click()
        page.get_by_label("Name").fill("our suppliers")
        page.get_by_label("Companies").fill("Siemens\nNobody at All")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_contain_text("not a company of the registry")
        page.get_by_label("Companies").fill("Siemens\nDanone")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status")).to_contain_text("Saved.")
        page.get_by_label("Name").fill("peers")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("h1")).to_have_text("peers")
        watched.open("/company/peers?days=90")
        expect(page.locator("#members")).to_contain_text("Danone, Siemens")
        watched.open("/registry/group?name=peers")
        page.get_by_role("button", name="Remove from the file").click()
        expect(page.get_by_role("link", name="New group")).to_be_visible()
        expect(page.get_by_role("link", name="peers")).to_have_count(0)
        page.context.close()


@pytest.mark.smoke
def test_suggested_name_is_added_and_found_by_one_click(browser, tmp_path):
    with dashboard(tmp_path, days=20, hostile=False) as base:
        with open_database(f"sqlite:///{tmp_path}/news.sqlite") as database:
            text = f"The order went to Moorbach Fensterbau GmbH. {LONG}"
            names = UnregisteredName("Moorbach Fensterbau", text[:43]), UnregisteredName("Q", "Q.")
            page_of_names = replace(
                document("m", text=text, published=NOW, fetched_at=NOW), unregistered=names
            )
            save_document(database, page_of_names, register(database))
        watched = Watched(browser.new_page(), base)
        watched.open("/registry/suggestions")
        page = watched.page
        article = page.locator("section article").filter(has_text="Moorbach")
        expect(article).to_contain_text("The order went to")
        page.get_by_role("button", name="Add Moorbach Fensterbau").click(no_wait_after=True)
        saved = page.get_by_role("status")
        expect(saved).to_contain_text("Moorbach Fensterbau is in your file", timeout=180_000)
        expect(page.locator("#history")).to_contain_text("1 article changed.", timeout=180_000)
        expect(page.locator("#history")).to_contain_text("the 1 with Moorbach Fensterbau")
        expect(page.get_by_role("button", name="Add Moorbach")).to_have_count(0)
        watched.open("/company/Moorbach%20Fensterbau?days=90")
        expect(page.locator(".tile dd").first).to_contain_text("1")
        assert 'country = "GB"' in (tmp_path / "my-companies.toml").read_text("utf-8")
        page.context.close()


def test_definition_is_not_tried_while_it_is_saved(look):
    watched = look("/registry/edit")
    page = watched.page
    held: list[Route] = []
    tried: list[str] = []
    # playwright marks its handlers, which a built-in one does not let it do
    page.route("**/registry/save", lambda route: held.append(route))  # noqa: PLW0108
    page.on("request", lambda request: tried.append(request.url))
    page.get_by_label("Name").fill("Slow Ferries")
    page.get_by_role("button", name="Save").click(no_wait_after=True)
    page.wait_for_timeout(1_000)  # twice what the trial waits for the next letter
    assert len(held) == 1
    assert not [url for url in tried if url.endswith("/registry/preview")]
    held[0].continue_()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    watched.rest()
