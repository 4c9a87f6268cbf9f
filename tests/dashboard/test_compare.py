"""Comparisons in a real browser: the names that are written, and changes since the days before."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.dashboards import TODAY, dashboard


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard with forty days of news."""
    with dashboard(tmp_path_factory.mktemp("dashboard"), days=40, hostile=False) as url:
        yield url


def test_companies_to_compare_are_written_by_keyboard_alone(look):
    page = look("/compare?chosen=none").page
    fields = page.locator(".names-field input")
    fields.nth(0).focus()
    for name in ("Airbus", "Boeing", "Siemens"):
        page.keyboard.type(name)
        page.keyboard.press("Tab")
    # Leaving a field has loaded nothing.
    assert page.url.endswith("/compare?chosen=none")
    fields.nth(2).press("Enter")
    page.wait_for_url("**company=Airbus&company=Boeing&company=Siemens*")
    assert [each.input_value() for each in fields.all()[:3]] == ["Airbus", "Boeing", "Siemens"]
    fields.nth(0).fill("Nokia")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**company=Nokia&company=Boeing&company=Siemens*")


def test_suggested_companies_give_way_to_those_that_are_written(look):
    page = look("/compare").page
    fields, rows = page.locator(".names-field input"), page.locator("table.short tbody tr th")
    suggested = [each.get_attribute("placeholder") or "?" for each in fields.all()[:4]]
    assert [each.input_value() for each in fields.all()] == [""] * 5
    expect(rows).to_have_count(4)
    assert all(name in text for name, text in zip(suggested, rows.all_inner_texts(), strict=True))
    fields.nth(0).fill("Nokia")
    fields.nth(1).fill("Siemens")
    fields.nth(1).press("Enter")
    page.wait_for_url("**company=Nokia&company=Siemens*")
    assert [each.input_value() for each in fields.all()] == ["Nokia", "Siemens", ""]


def test_comparison_shows_the_companies_of_a_group_and_can_be_cleared(look):
    page = look("/compare?company=our+competitors&company=Siemens").page
    row = page.get_by_role("row").filter(has_text="our competitors").first
    expect(row).to_contain_text("group: Airbus, Volkswagen")
    page.get_by_role("link", name="Clear all").click()
    fields = page.get_by_role("group", name="Companies, groups").get_by_role("combobox")
    expect(fields).to_have_count(3)
    assert [each.input_value() for each in fields.all()] == [""] * 3
    page.get_by_role("radio", name="7 days").check()
    page.wait_for_url(re.compile("days=7"))
    assert [each.input_value() for each in fields.all()] == [""] * 3
    # Each field that is begun brings another one, up to six.
    for number in range(6):
        fields.nth(number).fill("a")
    expect(fields).to_have_count(6)


def test_comparison_of_a_group_with_its_member_says_that_they_overlap(look):
    page = look("/compare?company=our+competitors&company=Volkswagen&company=Siemens").page
    expect(page.locator(".overlap")).to_have_text(
        "our competitors includes Volkswagen, whose articles count in both: their shares overlap."
    )
    page = look("/compare?company=our+competitors&company=Siemens").page
    expect(page.locator(".overlap")).to_have_count(0)


def test_mistyped_company_stays_in_its_field_and_is_corrected_by_a_link(look):
    page = look("/compare?days=7&company=Airbsu&company=Siemens&company=Boeing").page
    fields = page.locator(".names-field input")
    assert [each.input_value() for each in fields.all()[:4]] == ["Airbsu", "Siemens", "Boeing", ""]
    rows = page.locator("table.short tbody tr th")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Siemens")
    page.get_by_role("link", name="Airbus", exact=True).click()
    page.wait_for_url("**/compare?days=7&company=Airbus&company=Siemens&company=Boeing")
    assert [each.input_value() for each in fields.all()[:3]] == ["Airbus", "Siemens", "Boeing"]
    expect(rows).to_have_count(3)
    expect(page.locator(".notice.bad")).to_have_count(0)


def test_company_beside_a_mistyped_one_is_shown_alone(look):
    page = look("/compare?company=Airbsu&company=Siemens").page
    expect(page.locator(".notice.bad")).to_contain_text("Airbsu (did you mean Airbus?)")
    expect(page.locator("#only-one")).to_contain_text(re.compile(r"Siemens: [\d,]+ articles"))


def test_gap_before_a_period_is_explained_with_a_period_that_can_be_compared(look):
    page = look("/compare?days=90&company=Siemens&company=Boeing").page
    first = TODAY - timedelta(days=39)
    gap = page.locator(".notice.gap")
    page.locator(".coverage summary").click()
    expect(gap).to_contain_text(f"Data starts {first.day} {first:%b %Y}.")
    gap.get_by_role("link", name=re.compile("^Compare .* to ")).click()
    page.wait_for_url("**/compare?days=20&company=Siemens&company=Boeing")
    expect(gap).to_have_count(0)
    expect(page.locator("table.short .chance").first).not_to_be_empty()
