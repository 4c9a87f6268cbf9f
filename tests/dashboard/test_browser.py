"""The dashboard in a real browser: drawn, filtered, hostile, by keyboard, on a phone."""

import re
from datetime import date, timedelta
from shutil import copyfile
from typing import Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from newscrawl.storage.status import Health
from tests.browsers import Watched
from tests.dashboards import (
    EVIL_SOURCE,
    EVIL_URL,
    JAVASCRIPT_URL,
    SCRIPT,
    TODAY,
    TRAM,
    config_of,
    serving,
)
from tests.thorough import first_is_quick

TRAM_PAGE = "/article?url=" + quote(TRAM, safe="")
EVIL = "/article?url=" + quote(EVIL_URL, safe="")
PAGES = {
    "overview": "/",
    "fewer": "/?order=fewer",
    "company": "/company/Siemens?count=mentions",
    "compare": "/compare?company=Airbus&company=Boeing&company=Siemens",
    "proof": "/proof?counted=mentions&company=Siemens",
    "article": TRAM_PAGE,
    "hostile": EVIL,
    "sources": "/sources",
    "search": "/search?q=harbour+siemens",
    "queries": "/queries",
    "query": "/queries/edit?text=tram+NEAR/5+harbour",
    "registry": "/registry",
    "alerts": "/alerts",
    "editor": "/registry/edit?name=Siemens",
    "api": "/api",
    "group": "/registry/group?name=our+competitors",
    "ranked": "/registry?order=articles&page=2",
    "quarantine": "/quarantine",
    "reason": f"/article/explanation?url={quote(TRAM, safe='')}",
    "cure": "/cure?company=Siemens&kind=context&words=Siemens",
    "nobody": "/company/Zoetis",
}
CHARTS = ("company", "compare")
# The sizes of the type of a page.
SIZES = (
    "[...new Set([...document.querySelectorAll('body *')].filter(each => each.offsetParent"
    " && each.innerText).map(each => getComputedStyle(each).fontSize))]"
)


@pytest.mark.smoke
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_page_is_whole(look, path):
    watched = look(path)
    page = watched.page
    expect(page.locator("h1")).to_have_count(1)
    assert page.title().endswith(" · newscrawl")
    assert page.get_by_role("banner").count() == page.get_by_role("main").count() == 1
    assert page.get_by_role("navigation").count() >= 1
    assert (watched.check("nameless"), watched.check("headless")) == ([], 0)


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_page_fits_each_window_and_has_no_barrier(look, path):
    watched = look(path)
    page = watched.page
    over = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    assert len(page.evaluate(SIZES)) <= 5
    # With all that opens: menus, forms, details.
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        assert watched.check("faint") == [], scheme
        assert watched.violations() == [], scheme
    for width in (320, 390, 768):
        page.set_viewport_size({"width": width, "height": 860})
        page.wait_for_function(f"document.documentElement.scrollWidth <= {width}")
        page.evaluate("document.documentElement.classList.add('filters-open')")
        assert page.eval_on_selector_all(".segments", over) == [], width


def test_overview_of_a_phone_has_the_numbers_of_all_columns(look):
    wide, phone = look("/").page, look("/", width=390).page
    row = wide.locator(".ranking tbody tr").first
    before, title, body = (row.locator("td.n").nth(i).inner_text() for i in (1, 3, 4))
    expect(row.locator(".narrow-only")).to_be_hidden()
    line = phone.locator(".ranking tbody tr").first.locator(".narrow-only")
    expect(line).to_have_text(f"before {before} · headlines {title} · body {body}")
    line.get_by_role("link", name=body, exact=True).last.click()
    expect(phone.get_by_role("dialog").locator("h1")).to_contain_text("times in the body:")


# Charts and filters ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("width", [1280, 360], ids=["wide", "phone"])
def test_charts_are_drawn_from_the_table_beside_them(look, name, width):
    watched = look(PAGES[name], width=width)
    rows = watched.page.locator("table[data-chart] tbody tr").count()
    expect(watched.page.locator(".canvas")).to_have_attribute("data-drawn", str(rows))
    assert watched.check("painted") > 2000


def test_arrow_keys_show_the_numbers_of_each_period(look):
    page = look(PAGES["company"]).page
    page.locator(".canvas").focus()
    page.keyboard.press("ArrowLeft")
    row = page.locator("table[data-chart] tbody tr").last
    assert row.locator("th").text_content() == page.locator(".key-list span").first.text_content()
    assert "today, so far" in page.locator(".key-list span").first.inner_text()
    told = page.locator(".key-list b").all_text_contents()
    assert told == row.locator("td").all_text_contents()


@pytest.mark.parametrize("by", ["pointer", "keyboard"])
def test_bar_leads_to_its_articles(look, by):
    page = look(PAGES["company"]).page
    if by == "pointer":
        page.locator(".canvas .u-over").click(position={"x": 40, "y": 100})
    else:
        page.locator(".canvas").focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"since=(\S+)&until=\1"))
    assert page.locator("article.line").count() >= 1


def test_filters_change_the_numbers_and_the_address_without_a_new_page(look):
    page = look("/").page
    page.evaluate("window.same = true")
    before = page.locator(".tile dd").first.inner_text()
    page.get_by_role("radio", name="7 days").check()
    expect(page.locator(".tile dd").first).not_to_have_text(before)
    page.get_by_role("button", name="More filters").click()
    page.get_by_label("Source").focus()
    page.get_by_label("Source").select_option("stadtbote")
    page.wait_for_url(re.compile(r"\?days=7&source=stadtbote$"))
    expect(page.get_by_label("Source")).to_be_focused()
    assert page.evaluate("window.same")
    page.go_back()
    page.wait_for_url(re.compile(r"\?days=7$"))
    expect(page.get_by_label("Source")).to_have_value("")


def test_chart_is_redrawn_when_it_is_split(look):
    page = look("/company/Siemens").page
    page.get_by_label("Split by").select_option("language")
    expect(page.locator(".key-list li")).to_have_count(6)
    page.get_by_label("Periods").select_option("week")
    page.wait_for_url(re.compile("by=week"))
    rows = page.locator("table[data-chart] tbody tr").count()
    expect(page.locator(".canvas")).to_have_attribute("data-drawn", str(rows))


def write_day(page: Page, label: str, day: date) -> None:
    """Click a field, and type a day as the browser's English asks for it."""
    page.get_by_label(label).click(position={"x": 12, "y": 12})
    page.keyboard.type(f"{day:%m%d%Y}", delay=20)


def test_typed_days_are_asked_for_when_they_are_left(look):
    page = look("/").page
    first, last = TODAY - timedelta(days=20), TODAY - timedelta(days=8)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/?")[2]))
    page.get_by_role("button", name="More filters").click()
    write_day(page, "First day", first)
    assert asked == []
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"since={first}$"))
    expect(page.get_by_label("First day")).to_be_focused()
    write_day(page, "Last day", last)
    page.get_by_role("heading", level=1).click()
    page.wait_for_url(re.compile(f"since={first}&until={last}$"))
    page.get_by_label("First day").click(position={"x": 12, "y": 12})
    page.keyboard.press("Backspace")
    page.get_by_role("heading", level=1).click()
    page.get_by_role("radio", name="7 days").check()
    page.wait_for_url(re.compile("days=7$"))
    # The picture of the tab has no filters.
    asked = [one for one in asked if one]
    assert asked == [f"since={first}", f"since={first}&until={last}", "days=7"]


def test_first_day_written_right_after_the_last_loses_neither(look):
    page = look("/").page
    first, last = TODAY - timedelta(days=20), TODAY - timedelta(days=8)
    page.route(re.compile(r"\?until=[^&]*$"), lambda _: None)  # an answer that takes its time
    page.get_by_role("button", name="More filters").click()
    write_day(page, "Last day", last)
    write_day(page, "First day", first)
    page.get_by_label("Time zone").focus()
    page.wait_for_url(re.compile(f"since={first}&until={last}$"))
    expect(page.get_by_label("Time zone")).to_be_focused()


def test_time_zone_can_be_chosen(look):
    page = look("/").page
    page.get_by_role("button", name="More filters").click()
    page.get_by_label("Time zone").focus()
    assert page.locator("#zones option").count() > 100
    page.get_by_label("Time zone").fill("Asia/Tokyo")
    page.get_by_label("Time zone").press("Enter")
    page.wait_for_url(re.compile("zone=Asia%2FTokyo"))
    expect(page.get_by_role("link", name="Remove: Asia/Tokyo")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_all_rows_of_a_long_table_are_shown_at_a_click(look, width):
    watched = look("/company/Siemens?days=30", width=width)
    page = watched.page
    page.get_by_text("The numbers as a table").click()
    box = page.get_by_label("The numbers of the chart")
    hidden = "box => box.scrollHeight - box.clientHeight"
    assert box.evaluate(hidden) > 0
    page.get_by_label("Show all 30 rows").focus()
    page.keyboard.press("Space")
    assert box.evaluate(hidden) == 0
    assert watched.violations() == []
    watched.open("/company/Siemens?days=7")
    page.get_by_text("The numbers as a table").click()
    assert box.evaluate(hidden) == 0
    expect(page.get_by_role("checkbox")).to_have_count(0)


def test_search_marks_its_matches(look):
    page = look("/").page
    page.get_by_label("Search articles").fill("tram autumn")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/search\?q=tram"))
    assert {text.lower() for text in page.locator("mark").all_text_contents()} == {"tram", "autumn"}


def test_colour_scheme_can_be_switched_and_stays(look):
    watched = look("/company/Siemens", color_scheme="light")
    page = watched.page
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_label("Change between light and dark").click()
    dark = page.evaluate(ground)
    assert dark != light
    watched.open("/sources")
    assert page.evaluate(ground) == dark


# By keyboard -------------------------------------------------------------------------------------


def test_first_tab_leads_to_the_content(look):
    page = look("/").page
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


@pytest.mark.parametrize(
    "name", ["overview", "company", "compare", "proof", "article", "editor", "query"]
)
def test_everything_clickable_is_reached_by_tab_and_visible(look, name):
    watched = look(PAGES[name])
    wanted = watched.check("clickable")
    reached: set[int] = set()
    for _ in range(wanted * 2 + 40):
        watched.page.keyboard.press("Tab")
        if (told := watched.check("focused")) is None:
            break
        place, seen, counted, html = told
        assert seen, html
        reached |= {place} if counted else set()
    assert len(reached) == wanted


# Hostile text ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/sources",
        "/company/Nokia",
        f"/company/Nokia?source={EVIL_SOURCE}&split=source",
        f"/proof?company=Nokia&source={EVIL_SOURCE}",
        EVIL,
        "/article?url=" + quote(JAVASCRIPT_URL, safe=""),
        "/search?q=nokia",
        "/search?q=" + quote(SCRIPT),
        "/compare?company=" + quote(SCRIPT) + "&company=Nokia",
        "/registry?q=" + quote(SCRIPT),
        "/article/explanation?url=" + quote(EVIL_URL, safe=""),
    ],
)
def test_hostile_text_is_shown_as_text(look, path):
    watched = look(path)
    page = watched.page
    assert page.evaluate("window.hacked") is None
    assert page.locator("main script, main img").count() == 0
    assert page.locator('a[href^="javascript:"], a[href^="data:"]').count() == 0
    assert "window.hacked" in page.content()
    outside = watched.check("outside")
    assert set(outside) <= {"noreferrer noopener nofollow"}
    watched.said = [line for line in watched.said if "404" not in line]


def test_hostile_text_is_shown_completely(look):
    text = look(EVIL).page.locator("main").inner_text()
    assert text.count(SCRIPT) >= 5
    assert "{{7*7}}" in text
    assert "\u202e" not in text


def test_explanation_keeps_its_style_and_runs_nothing(look):
    watched = look(TRAM_PAGE, width=390, color_scheme="light")
    page = watched.page
    page.get_by_label("Change between light and dark").click()
    page.get_by_text("Why is this counted?").click()
    expect(page.get_by_text("The page is not in the archive.")).to_be_visible()
    page.get_by_role("button", name="Fetch and explain it").click()
    answer = page.locator(".answer")
    expect(answer).to_have_css("border-radius", "8px")
    expect(page.locator("body")).to_have_css("background-color", "rgb(16, 21, 27)")  # the dark one
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    assert (
        page.locator("thead th")
        .evaluate_all("all => all.map(one => one.offsetHeight)")
        .count(page.locator("thead th").first.evaluate("one => one.offsetHeight"))
        == page.locator("thead th").count()
    )
    expect(answer.locator(".words")).to_contain_text("Siemens will build a tram for the harbour")
    expect(answer).to_contain_text("the probability that the block belongs to the article is")
    expect(answer.locator("details")).to_have_count(3)
    expect(page.locator("li.kept").first).to_be_visible()
    page.get_by_role("radio", name="dropped").check()
    expect(page.locator("li.kept").first).to_be_hidden()
    assert page.evaluate("window.hacked") is None
    page.get_by_role("link", name="Back to the article").click()
    expect(page.locator("h1")).to_contain_text("Siemens builds a tram")
    # The policy says aloud that it stopped the script.
    watched.said = [x for x in watched.said if "Content Security" not in x]


# Accessibility -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_panel_has_no_violation_of_accessibility(look, scheme):
    watched = look("/company/Siemens", color_scheme=scheme)
    page = watched.page
    page.locator(".tile a.proof").first.click()
    expect(page.get_by_role("dialog").locator("h1")).to_be_focused()
    assert watched.violations() == []


# Companies together -------------------------------------------------------------------------------


# A phone ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [320, 390])
def test_menu_of_a_phone_shows_every_page(look, width):
    page = look("/", width=width).page
    for link in page.get_by_role("navigation", name="Pages").get_by_role("link").all():
        box = link.bounding_box()
        assert box
        # One line: no word is broken.
        assert link.evaluate(
            "link => { const range = document.createRange(); range.selectNodeContents(link);"
            " return range.getClientRects().length; }"
        ) in {0, 1}
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_filters_are_folded_stay_unfolded_and_are_removed(look, width):
    page = look("/company/Siemens?days=7&source=harbour-courier", width=width).page
    fold = page.get_by_role("button", name="More filters")
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(page.locator("select[name=source]")).to_be_hidden()
    fold.focus()
    page.keyboard.press("Enter")
    page.locator("select[name=language]").select_option("en")
    page.wait_for_url("**&language=en")
    expect(fold).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".chip")).to_have_count(2)
    page.get_by_role("link", name="Remove: source Harbour Courier").click()
    page.wait_for_url(re.compile(r"\?(?!.*source=).*language=en"))
    expect(page.locator(".chip")).to_have_text("Remove: language en")


def test_filters_without_scripts_are_not_folded(look):
    page = look("/", width=390, java_script_enabled=False).page
    expect(page.locator("select[name=source]")).to_be_visible()
    expect(page.locator(".unfold")).to_be_hidden()


# The first screen: what is asked for is there without scrolling, in every month.
TOPS = {1280: 350, 768: 450, 390: 450}
MONTHS = {
    "company": ("/company/Siemens", ".canvas"),
    "empty": ("/company/Siemens?since=2025-01-01&until=2025-01-31", ".canvas"),
    "overview": ("/", ".ranking"),
    "compare": (PAGES["compare"], ".canvas"),
}


@pytest.mark.parametrize("width", first_is_quick(TOPS))
@pytest.mark.parametrize("scheme", first_is_quick(["light", "dark"]))
@pytest.mark.parametrize("month", first_is_quick(MONTHS))
def test_first_screen_has_the_answer(look, month, scheme, width):
    path, answer = MONTHS[month]
    page = look(path, width=width, color_scheme=scheme).page
    box = page.locator(answer).bounding_box()
    assert box
    assert box["y"] < TOPS[width]
    assert len(page.evaluate(SIZES)) <= 5
    assert page.locator(".primary:visible").count() <= 1
    line = page.locator(".coverage summary")
    if month != "empty":
        box = line.bounding_box()
        assert box
        assert box["height"] == 32
        line.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".coverage .notice").first).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_days_without_a_crawl_are_read_by_keyboard(look, width):
    page = look("/sources?days=14", width=width).page
    expect(page.get_by_role("radio", name="14 days")).to_be_checked()
    days = page.locator("details.unread").first
    days.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(days).to_have_attribute("open", "")
    assert re.search(r"days not read\s*\d+.* [A-Z][a-z]{2} \d+ \(failed: ", days.inner_text())


def labels(page: Page, width: int) -> set[str]:
    """What the columns of the first source are called, in the head of the table or on a phone."""
    if width > 750:
        return {*page.locator("table.sources thead th").all_inner_texts()}
    before = "all => all.map(one => getComputedStyle(one, '::before').content)"
    shown = page.locator("table.sources tbody tr").first.locator("td").evaluate_all(before)
    return {one.strip('"').removesuffix(": ") for one in shown}


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_state_of_sources_is_of_now_and_their_days_fit(look, width):
    page = look("/sources?days=30", width=width).page
    assert {"State now", "Found today", "Behind a paywall", "Days read", "Last crawl"} <= labels(
        page, width
    )
    row = page.locator("table.sources tbody tr").first
    name, days = (row.locator(one).bounding_box() for one in ("th", ".strip"))
    assert name
    assert days
    assert days["width"] > (200 if width < 750 else 100)
    assert days["y"] > name["y"] + 10 or width > 750
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_each_state_of_a_source_has_a_symbol_of_its_own(look):
    form = """all => all.map(one => { const style = getComputedStyle(one, '::before');
        return [style.clipPath, style.borderRadius, style.transform,
            style.borderStyle, style.backgroundImage !== 'none'].join(); })"""
    states = look("/sources").page.locator(".legend .state")
    shapes = states.evaluate_all(form)
    assert len({*shapes}) == len(shapes) == len(Health)


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_sources_of_a_past_period_show_its_coverage(look, width):
    first, last = TODAY - timedelta(days=34), TODAY - timedelta(days=8)
    page = look(f"/sources?since={first}&until={last}", width=width).page
    expect(page.get_by_role("note").first).to_contain_text("State, incidents and last crawls")
    found = f"Found on {last.day} {last:%b %Y}"
    assert {"State now", found} <= labels(page, width)
    row = page.locator("table.sources tbody tr").first
    expect(row).to_contain_text("/ 27")
    # The hostile paper was crawled later.
    expect(page.locator("table.sources")).not_to_contain_text("window.hacked")
    width_of_page = page.evaluate("document.documentElement.scrollWidth")
    assert width_of_page <= width


def test_report_has_a_button_that_prints_it(look):
    page = look("/report?company=Siemens").page
    page.evaluate("window.print = () => { window.printed = true; }")
    page.get_by_role("button", name="Print").click()
    assert page.evaluate("window.printed")
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Print")).to_be_hidden()


# Doors and weather -------------------------------------------------------------------------------


def test_filters_work_without_scripts(look):
    page = look("/", java_script_enabled=False).page
    page.get_by_label("Language").select_option("de")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(re.compile("language=de"))
    expect(page.get_by_label("Language")).to_have_value("de")


def test_page_reloads_when_the_database_is_back(browser, tmp_path, sqlite_template):
    file = tmp_path / "news.sqlite"
    with serving(config_of(file)) as url:
        page = Watched(browser.new_page(), url).open("/")
        expect(page.get_by_role("heading", name="The database is out of reach")).to_be_visible()
        copyfile(sqlite_template, file)
        heading = page.get_by_role("heading", name="Who was in the news")
        expect(heading).to_be_visible(timeout=20_000)
        page.close()
