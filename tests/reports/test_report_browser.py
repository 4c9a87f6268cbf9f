"""The report in a real browser: on paper, on a phone, by keyboard, from the dashboard."""

import io
import re
import unicodedata
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from openpyxl import load_workbook
from playwright.sync_api import Browser, Page, expect
from pypdf import PdfReader

from newscrawl.reports import html_report, make_report
from newscrawl.storage import open_database
from newscrawl.storage.queries import Scope
from tests.browsers import Watched, chromium
from tests.dashboards import NOW, TODAY, config_of, serving

NAMES = ("Siemens", "Airbus", "Boeing", "Volkswagen", "Nokia", "Microsoft")
SINCE = TODAY - timedelta(days=29)


@pytest.fixture(scope="module")
def folder(season: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report on six companies, one of them of a hostile paper."""
    folder = tmp_path_factory.mktemp("printed")
    with open_database(f"sqlite:///{season}") as opened:
        made = make_report(opened, NAMES, Scope(since=SINCE, until=TODAY, now=NOW))
    (folder / "report.html").write_text(html_report(made), "utf-8")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(params=[1280, 390], ids=["wide", "phone"])
def page(request: pytest.FixtureRequest, browser: Browser, folder: Path) -> Iterator[Watched]:
    opened = browser.new_page(viewport={"width": request.param, "height": 860})
    watched = Watched(opened, "file://")
    watched.open(f"{folder}/report.html")
    yield watched
    assert watched.said == []
    assert watched.elsewhere == []
    opened.close()


@pytest.mark.smoke
def test_page_stands_alone_and_has_no_barriers(page):
    assert page.violations() == []
    assert page.check("headless") == 0
    assert (
        page.page.evaluate("document.documentElement.scrollWidth")
        <= page.page.viewport_size["width"]
    )


def test_key_figures_and_chart_need_no_scrolling_to_the_side(page):
    for area in page.page.locator(".scroll").all():
        assert area.evaluate("one => one.scrollWidth <= one.clientWidth")
    width = page.page.viewport_size["width"]
    for text in page.page.locator("figure > .scroll text:visible, #key-figures td").all():
        box = text.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    letters = page.page.locator("figure > .scroll text:visible").first.bounding_box()
    assert letters["height"] > 9
    dates = [one.bounding_box() for one in page.page.locator("figure text.date:visible").all()]
    assert len(dates) >= 2
    for one, other in pairwise(box for box in dates if box):
        assert one["x"] + one["width"] < other["x"]


def test_curves_are_drawn_for_each_company(page):
    kinds = page.page.eval_on_selector_all(
        "figure > .scroll .line",
        "lines => [...new Set(lines.map(line => line.getAttribute('class')))]",
    )
    assert kinds == [f"line s{number}" for number in range(1, 7)]
    box = page.page.locator("figure > .scroll .line.s1").first.bounding_box()
    assert box["width"] > 200
    assert page.page.locator(".legend li").all_inner_texts() == list(NAMES)


def test_keyboard_reaches_every_link_and_every_wide_table(page):
    focusable = page.page.locator("a[href], [tabindex='0']").count()
    seen = set()
    for _ in range(focusable):
        page.page.keyboard.press("Tab")
        seen.add(
            page.page.evaluate(
                "[...document.querySelectorAll('a[href], [tabindex]')]"
                ".indexOf(document.activeElement)"
            )
        )
    assert seen == set(range(focusable))


# On paper ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def printed(browser: Browser, folder: Path) -> Iterator[tuple[Page, PdfReader]]:
    """The page as it is laid out for A4, and the PDF of it."""
    opened = browser.new_page()
    opened.goto(f"file://{folder}/report.html")
    content = opened.pdf(prefer_css_page_size=True)
    yield opened, PdfReader(io.BytesIO(content))
    opened.close()


def words(text: str) -> str:
    """The text without blanks and ligatures."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def test_paper_has_all_texts_in_order_on_a4(printed):
    page, pdf = printed
    assert 4 <= len(pdf.pages) <= 10
    for sheet in pdf.pages:
        assert (round(sheet.mediabox.width), round(sheet.mediabox.height)) == (595, 842)
    text = words(" ".join(sheet.extract_text() for sheet in pdf.pages))
    places = [
        text.index(words(heading)) for heading in page.locator("h1, h2, h3").all_inner_texts()[:4]
    ]
    assert places == sorted(places)
    for piece in page.locator("td, tbody th, section > p, li").all_inner_texts():
        assert words(piece).replace("\ufffd", "")[:20] in text.replace("\ufffd", ""), piece


def test_no_row_story_or_figure_is_cut_between_two_sheets(printed):
    page, pdf = printed
    sheets = [words(sheet.extract_text()) for sheet in pdf.pages]
    whole = page.eval_on_selector_all(
        "tbody tr, .story", "all => all.map(one => [...one.innerText.split(/[\\n\\t]/)])"
    )
    assert len(whole) > 60
    for lines in whole:
        pieces = [words(line)[:30] for line in lines if words(line)]
        holding = [
            number for number, sheet in enumerate(sheets) if all(one in sheet for one in pieces)
        ]
        assert holding or "\ufffd" in "".join(lines), lines


def test_no_heading_ends_a_sheet(printed):
    page, pdf = printed
    headings = {words(one) for one in page.locator("h2, h3").all_inner_texts()}
    for sheet in pdf.pages:
        last = words(sheet.extract_text().strip().splitlines()[-1])
        assert last not in headings


# From the dashboard ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(season: Path) -> Iterator[str]:
    with serving(config_of(season)) as url:
        yield url


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
@pytest.mark.parametrize(
    "path", ["/company/Siemens?days=30", "/compare?company=Airbus&company=Boeing"]
)
def test_report_is_one_click_away(browser, base, path, width, scheme):
    context = browser.new_context(
        viewport={"width": width, "height": 860},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    watched = Watched(context.new_page(), base)
    page = watched.open(path)
    assert watched.violations() == []
    page.get_by_text("Export").click()
    assert watched.violations() == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Report: Excel", exact=True).click()
    assert download.value.suggested_filename == f"newscrawl-report-{SINCE}-{TODAY}.xlsx"
    book = load_workbook(io.BytesIO(download.value.path().read_bytes()))
    names = [cell.value for cell in book["Key figures"]["A"][1:]][: 1 + path.count("company=B")]
    page.get_by_role("link", name="Report: Print", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("in the news")
    ground = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 21, 27)"}
    expect(page.locator("body")).to_have_css("background-color", ground[scheme])
    assert watched.violations() == []
    page.emulate_media(media="print")
    expect(page.locator("body")).to_have_css("background-color", ground["light"])
    page.emulate_media(media="screen")
    for name in names:
        page.locator("#key-figures").get_by_role("link", name=name).wait_for()
    page.locator("#key-figures a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(names[0])
    assert f"since={SINCE}" in page.url
    assert watched.said == []
    context.close()
