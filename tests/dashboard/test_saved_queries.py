"""Saved queries in a real browser: written, tried, saved, compared, edited and deleted."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from newscrawl import query
from newscrawl.storage import Database
from newscrawl.storage.saved_queries import add_query, count_history, remove_query
from tests.dashboards import SCRIPT, TODAY, dashboard

TRAM = "(tram OR ferry) NEAR/10 (harbour OR quay) NOT football"
HOSTILE = f"{SCRIPT} & 100% 'x'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("queries")


@pytest.fixture(scope="module")
def base(folder: Any) -> Iterator[str]:
    with dashboard(folder, days=40, hostile=True) as url:
        with query.open_news(f"sqlite:///{folder}/news.sqlite") as news:
            for name, text in (("Harbour trams", TRAM), (HOSTILE, '"<script>" OR siemens')):
                add_query(news, name, text, "ann")
                count_history(news, name)
        yield url


@pytest.fixture
def news(base: str, folder: Any) -> Iterator[Database]:
    with query.open_news(f"sqlite:///{folder}/news.sqlite") as opened:
        yield opened


def whole(news: Database, name: str) -> int:
    scope = query.Scope(since=TODAY.replace(year=TODAY.year - 1))
    rows = query.mention_counts(news, "year", company=name, scope=scope)
    return sum(row.hits.articles for row in rows if row.hits)


def address(name: str) -> str:
    return f"/company/{quote(name, safe='')}"


def fill_in(page: Page, name: str, text: str) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Query", exact=True).fill(text)


def delete(page: Page) -> None:
    """Delete the query of the page, which takes two clicks."""
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/queries")


def wait_until_counted(page: Page) -> None:
    expect(page.locator("#progress")).to_contain_text("Counted in all stored articles")


def test_query_is_tried_saved_counted_and_deleted(look, news):
    page = look("/queries/edit").page
    fill_in(page, "Trams by Siemens", "tram AND siemens")
    expect(page.locator("#trial strong")).to_have_text(re.compile(r"^[1-9]\d*$"))
    expect(page.locator("#trial mark").first).to_be_visible()
    expect(page.locator("#trial")).to_contain_text("No plurals or other endings")
    expect(page.locator("#text-hint")).to_contain_text("tram does not find trams, tram* does.")
    articles = page.locator("#trial strong a")
    expect(articles).to_have_attribute("href", "/search?q=tram+AND+siemens")
    listed = look("/search?q=tram+AND+siemens").page.locator("#hits strong")
    expect(listed).to_have_text(f"{articles.inner_text()} articles")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    wait_until_counted(page)
    assert whole(news, "Trams by Siemens") > 0
    page.get_by_label("Query", exact=True).fill("tram AND siemens NOT siemens")
    page.get_by_role("button", name="Save").click()
    wait_until_counted(page)
    assert query.saved_queries(news)[-1].text == "tram AND siemens NOT siemens"
    expect(page.locator("#trial .empty")).to_contain_text("each part alone: 'tram' in ")
    without = look(address("Trams by Siemens")).page.locator("#why-none")
    expect(without).to_contain_text("No article matches the whole query; each part alone: 'tram'")
    delete(page)
    expect(page.get_by_role("link", name="Trams by Siemens")).to_have_count(0)
    assert "Trams by Siemens" not in query.company_names(news)


def test_query_is_renamed_with_its_numbers(look, news):
    add_query(news, "Ferries", "siemens", "ann")
    count_history(news, "Ferries")
    number = whole(news, "Ferries")
    watched = look("/queries/edit?name=Ferries")
    page = watched.page
    page.get_by_label("Name", exact=True).fill("Siemens")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_contain_text("is named 'Siemens'")
    page.get_by_label("Name", exact=True).fill(f"Ships {SCRIPT}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    expect(page.locator("h1")).to_have_text(f"Ships {SCRIPT}")
    assert whole(news, f"Ships {SCRIPT}") == number > 0
    delete(page)
    watched.said[:] = [one for one in watched.said if "status of 422" not in one]


def test_suggestions_of_the_comparison_are_companies_and_say_what_is_none(look, news):
    page = look("/compare?days=365").page
    fields = page.locator('input[name="company"]').all()
    chosen = [field.get_attribute("placeholder") for field in fields]
    assert "Siemens" in chosen
    assert not {*chosen} & {row.name for row in query.saved_queries(news)}
    options = page.locator("#companies option")
    labels = {one.get_attribute("value"): one.inner_text() for one in options.all()}
    assert labels["Harbour trams"] == "saved query"
    assert labels["our competitors"] == "group"
    assert labels["Siemens"] == ""


def test_fault_is_shown_with_its_place_and_nothing_is_lost(look):
    watched = look("/queries/edit")
    page = watched.page
    fill_in(page, "Faulty", "tram AND (harbour OR")
    expect(page.locator("#trial .pointer")).to_contain_text("^")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_contain_text("never closed")
    expect(page.get_by_label("Query", exact=True)).to_have_value("tram AND (harbour OR")
    fill_in(page, "Siemens", "tram")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_contain_text("is named 'Siemens'")
    watched.said[:] = [one for one in watched.said if "status of 422" not in one]


@pytest.mark.parametrize("name", ["Harbour trams", HOSTILE])
def test_page_of_a_query_has_the_parts_of_a_company(look, news, name):
    page = look(f"{address(name)}?days=365").page
    expect(page.locator("h1")).to_have_text(name)
    expect(page.locator("#saved-query")).to_contain_text("edit")
    number = (
        page.locator("dt", has_text=re.compile("^articles", re.IGNORECASE))
        .locator("xpath=..")
        .locator("dd")
    )
    expect(number).to_contain_text(f"{whole(news, name):,}")
    expect(page.locator("#beside")).to_be_visible()
    expect(page.locator("article.line mark").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    page.locator("#saved-query a").click()
    expect(page.get_by_label("Query", exact=True)).to_have_value(re.compile(r"\w"))


@pytest.mark.parametrize("name", ["Harbour trams", HOSTILE])
def test_query_is_in_overview_list_and_comparison(look, news, name):
    page = look("/?days=365").page
    expect(page.locator(".ranking").get_by_role("link", name=name)).to_have_count(1)
    page = look("/queries?days=365").page
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))
    expect(row.locator(".n.strong")).to_have_text(f"{whole(news, name):,}")
    row.locator(".n.strong a").click()
    proof = page.get_by_role("dialog", name="Proof of the number")
    expect(proof.locator("h1")).to_contain_text(f"{whole(news, name):,} articles match {name}")
    expect(proof.locator("mark").first).to_be_visible()
    page = look(f"/compare?days=365&company={quote(name)}&company=Siemens").page
    table = page.get_by_role("table").first
    expect(table.get_by_role("link", name=name, exact=True)).to_have_count(1)
    assert page.evaluate("window.hacked") is None


def test_search_leads_to_the_editor_with_its_filters(look, news):
    page = look("/search?q=siemens+OR+airbus&days=14&language=de&source=stadtbote").page
    hits = page.locator("#hits strong").inner_text()
    page.get_by_role("link", name="Save as a query to count").click()
    text = "(siemens OR airbus) language:de source:stadtbote"
    expect(page.get_by_label("Query", exact=True)).to_have_value(text)
    expect(page.locator("#trial p").first).to_contain_text(hits)
    page.get_by_label("Name", exact=True).fill("In the town")
    page.get_by_role("button", name="Save").click()
    wait_until_counted(page)
    page.get_by_role("link", name="its articles and numbers").click()
    expect(page.locator(".tile dd").first).to_have_text(re.compile(rf"^{hits.split()[0]}\b"))
    assert page.url.endswith("?days=14")
    remove_query(news, "In the town")


def test_preview_names_the_sources_without_hits_and_counts_a_wider_near(look, news):
    page = look("/queries/edit?days=365").page
    scope = query.Scope(since=TODAY - timedelta(days=364), until=TODAY)
    found = query.preview_query(news, "harbour NEAR/2 siemens", scope=scope)
    assert found.wider
    assert found.wider > found.articles > 0
    assert found.sources == ("northern-ledger",)
    fill_in(page, "Near", "harbour NEAR/2 siemens")
    expect(page.locator("#wider")).to_have_text(f"With NEAR/20: {found.wider} articles.")
    without = page.locator("#without")
    expect(without).to_contain_text("Nothing found in: Corriere del Molo (it), Diario del ")
    expect(without).to_contain_text(", and 1 more.")
    expect(without).not_to_contain_text("Northern Ledger")
    # Only of the sources that the query asks for.
    page.get_by_label("Query", exact=True).fill("siemens tram country:it")
    expect(page.locator("#searched")).to_contain_text("of 1 source")
    expect(without).to_have_count(0)
    expect(page.locator("#wider")).to_have_count(0)


def test_source_is_written_as_the_form_shows_it(look, news):
    page = look("/queries/edit?days=365").page
    slug, name = next(iter(query.source_names(news).items()))
    hint = page.locator("#text-hint")
    expect(hint).to_contain_text(f'source:"{name}" or source:{slug}')
    whole = {one.article.url for one in query.search(news, f"siemens source:{slug}", limit=500)}
    fill_in(page, "Of one source", f'siemens source:"{name.upper()}" NOT nothing')
    expect(page.locator("#trial strong")).to_have_text(str(len(whole)))
    scope = query.Scope(since=TODAY - timedelta(days=364), until=TODAY, source=slug)
    read = query.completeness(news, scope=scope).read
    expect(page.locator("#searched")).to_contain_text(f"Searched: {read:,} articles of 1 source")
    page.get_by_label("Query", exact=True).fill(f"siemens source:{name.split()[0]}")
    expect(page.locator("#trial [role=alert]")).to_contain_text(f"did you mean {name} ({slug})")


def test_keyboard_that_goes_on_while_the_trial_is_shown_is_not_called_back(look):
    page = look("/queries/edit").page
    page.get_by_label("Query", exact=True).focus()
    page.evaluate("""() => {
        const go = () => document.querySelector(".actions button").focus();
        document.addEventListener("htmx:afterSwap", go);
        window.focused = new Promise(resolve => {
            const tell = () => resolve(document.activeElement.textContent);
            document.addEventListener("htmx:afterSettle", tell);
        });
    }""")
    page.keyboard.type("harbour")
    assert page.evaluate("window.focused") == "Save"


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_are_accessible(look, width, scheme):
    for path in ("/queries", "/queries/edit?name=Harbour+trams", address(HOSTILE)):
        watched = look(path, width, color_scheme=scheme)
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert watched.violations() == [], path


@pytest.mark.thorough
def test_query_is_saved_by_keyboard_alone(look, news):
    page = look("/queries").page
    _press_tab_until(page, "New query")
    page.keyboard.press("Enter")
    page.wait_for_url("**/queries/edit")
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Tab")
    page.keyboard.type("harbour")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_until_counted(page)
    assert whole(news, "By keyboard") > 0
    _press_tab_until(page, "Delete")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/queries")
    assert "By keyboard" not in query.company_names(news)


def _press_tab_until(page: Page, text: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").strip() == text:
            return
    raise AssertionError(f"{text} is not reached by Tab")
