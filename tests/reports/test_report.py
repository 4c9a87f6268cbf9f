"""Reports say what the API says, in files that other programs read."""

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet
from starlette.testclient import TestClient

from newscrawl import config
from newscrawl.answers.coverage import UnreadSource, unread_sources
from newscrawl.dashboard import create_app
from newscrawl.items import CompanyStructure
from newscrawl.reports import Report, html_report, make_report, period_of_name, workbook
from newscrawl.reports.document import caveats
from newscrawl.reports.figures import beside_of
from newscrawl.storage import Database, QuestionError, open_database, queries
from newscrawl.storage.database import CoverageState
from newscrawl.storage.queries import Completeness, CoverageDay, Scope
from newscrawl.storage.saved_queries import add_query, count_history
from tests.conftest import Newscrawl
from tests.dashboards import EVIL, EVIL_SOURCE, NOW, TODAY, config_of
from tests.worlds import LONG, body, document, headline, save_document

SINCE = TODAY - timedelta(days=29)
SCOPE = Scope(since=SINCE, until=TODAY, now=NOW)
NAMES = ["Siemens", "Airbus", "Boeing"]


@pytest.fixture(scope="module")
def news(season: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{season}") as opened:
        yield opened


@pytest.fixture(scope="module")
def report(news: Database) -> Report:
    return make_report(news, NAMES, SCOPE)


@pytest.fixture(scope="module")
def client(season: Path) -> Iterator[TestClient]:
    app = create_app(config_of(season))
    with TestClient(app, base_url="http://127.0.0.1:8300") as opened:
        yield opened


def opened(content: bytes) -> Workbook:
    return load_workbook(io.BytesIO(content))


def rows_of(sheet: Worksheet) -> list[dict[str, Any]]:
    """The rows of a sheet's table."""
    (table,) = sheet.tables.values()
    head, *rows = [[cell.value for cell in row] for row in sheet[table.ref]]
    return [dict(zip(head, row, strict=True)) for row in rows]


# The numbers -------------------------------------------------------------------------------------


def test_workbook_has_the_numbers_of_the_api(client, report):
    rows = rows_of(opened(workbook(report))["Key figures"])
    assert [row["Company"] for row in rows] == NAMES
    period = {"since": str(SINCE), "until": str(TODAY)}
    earlier = {"since": str(SINCE - timedelta(days=30)), "until": str(SINCE - timedelta(days=1))}
    shares = client.get("/api/share", params={"company": NAMES, **period}).json()
    for row, share in zip(rows, shares, strict=True):
        asked = {"company": row["Company"], "by": "day"}
        counts = client.get("/api/counts", params={**asked, **period}).json()
        before = client.get("/api/counts", params={**asked, **earlier}).json()
        assert row["Articles"] == sum(one["hits"]["articles"] for one in counts if one["hits"])
        assert row["Articles before"] == sum(
            one["hits"]["articles"] for one in before if one["hits"]
        )
        assert row["In headlines"] == sum(one["hits"]["in_title"] for one in counts if one["hits"])
        assert row["In the body"] == sum(one["hits"]["in_body"] for one in counts if one["hits"])
        assert row["Articles read"] == client.get("/api/completeness", params=period).json()["read"]
        assert row["Share"] == pytest.approx(share["share"])
        assert row["Articles"] > 20


def test_series_of_the_workbook_are_those_of_the_api(client, report):
    rows = rows_of(opened(workbook(report))["Over time"])
    for name in NAMES:
        asked = {"company": name, "by": "day", "since": str(SINCE), "until": str(TODAY)}
        counts = client.get("/api/counts", params=asked).json()
        assert [row["Day"].date().isoformat() for row in rows] == [one["key"] for one in counts]
        assert [row[name] for row in rows] == [
            one["hits"] and one["hits"]["articles"] for one in counts
        ]


def test_page_has_the_numbers_of_the_workbook(report):
    html = html_report(report)
    table = html[html.index('id="key-figures"') : html.index("</table>")]
    for one in report.companies:
        row = next(row for row in table.split("<tr>") if f">{one.company}</th>" in row)
        cells = re.findall(r'<td class="n" data-label="[^"]+">([^<]*)</td>', row)
        assert cells[:2] == [f"{one.hits.articles:,}", f"{one.change.before:,}"]
        assert cells[-2:] == [f"{one.stories:,}", f"{one.hits.in_title:,}"]


def test_days_not_read_are_joined_by_reason():
    first = date(2026, 10, 28)

    def day(back: int, state: CoverageState | None, note: str = "") -> CoverageDay:
        return CoverageDay(source="ft", day=first + timedelta(days=back), state=state, note=note)

    days = [day(0, None), day(1, "ok"), *(day(n, "failed", "timed out") for n in range(2, 7))]
    (found,) = unread_sources([*days, day(7, "failed"), day(8, "paywalled")])
    assert (found.missed, found.days) == (7, 9)
    assert found.reasons == (
        "28 Oct 2026 (not crawled); 30 Oct to 3 Nov 2026 (failed: timed out); 4 Nov 2026 (failed)"
    )
    many = [day(n, None if n % 2 else "ok") for n in range(30)]
    (found,) = unread_sources(many)
    assert found.reasons.startswith("5 earlier days; 8 Nov 2026 (not crawled); ")


def test_gaps_are_empty_and_no_zeros(database):
    run = database.start_run(_source(database))
    for back in (0, 2):
        moment = NOW - timedelta(days=back)
        save_document(
            database,
            document(
                str(back),
                text=f"Siemens {LONG} {back}",
                mentions=[body("Siemens")],
                published=moment,
                fetched_at=moment,
            ),
            run,
        )
        database.record_coverage("ft", moment.date(), "ok", 1, 1)
    scope = Scope(since=TODAY - timedelta(days=2), until=TODAY, now=NOW)
    made = make_report(database, ["Siemens"], scope)
    assert [row.numbers for row in made.chart.rows] == [(1,), (None,), (1,)]
    missed = TODAY - timedelta(days=1)
    reasons = f"{missed.day} {missed:%b %Y} (not crawled)"
    assert made.unread == (UnreadSource("ft", 1, 3, reasons),)
    (row,) = rows_of(opened(workbook(made))["Coverage"])[:1]
    assert row["Which, and why"] == reasons
    column = [row["Siemens"] for row in rows_of(opened(workbook(made))["Over time"])]
    assert column == [1, None, 1]
    html = html_report(made)
    assert html.count('class="gap"') == 1
    assert "66% of source-days read. 1 of 3 missing" in html
    assert "Estimate: about 1 more article." in html
    assert f'<small dir="auto">{reasons}</small>' in html
    assert "nothing was read in the 3 days before" in html
    assert "precede the first crawl" not in html  # nothing is compared
    assert "of this period, " not in html


def _source(database: Database) -> str:
    database.register_source("ft", "FT", "gb", "en", "https://ft.example/")
    return "ft"


def test_report_on_a_saved_query_says_how_complete_its_sources_are(database):
    database.register_source("faz", "FAZ", "de", "de", "https://faz.example/")
    save_document(database, document("a", published=NOW), database.start_run(_source(database)))
    for back in range(3):
        database.record_coverage("ft", TODAY - timedelta(days=back), "ok", 1, 1)
    database.record_coverage("faz", TODAY - timedelta(days=2), "failed", 0, 0)
    add_query(database, "trains", "train source:ft", "ann")
    count_history(database, "trains")
    scope = Scope(since=TODAY - timedelta(days=2), until=TODAY, now=NOW)
    alone = make_report(database, ["trains"], scope)
    assert (alone.reading.completeness.expected, alone.unread, alone.chart.unread) == (3, (), 0)
    text = html_report(alone)
    assert "headline or text matches the saved query; menus" in text
    assert "Changes are judged by the share of a saved query in the articles read" in text
    assert "No article matches trains in this period." in text
    assert re.search("names the company|subsidiaries|company's", text) is None
    both = make_report(database, ["trains", "Siemens"], scope)
    assert "names the company or matches the saved query; menus" in html_report(both)
    assert "counted without their subsidiaries" in html_report(both)
    assert (both.reading.completeness.expected, both.unread[0].source) == (6, "faz")


def test_report_names_companies_before_saved_queries(database):
    run = database.start_run(_source(database))
    for key, companies in (("a", "Siemens Airbus"), ("b", "Siemens")):
        mentions = [headline(name) for name in companies.split()]
        one = document(key, text=f"{LONG} {key}", mentions=mentions, published=NOW)
        save_document(database, one, run)
    add_query(database, "headlines", "title:headline", "ann")
    count_history(database, "headlines")
    scope = Scope(since=TODAY, until=TODAY, now=NOW)
    figures = make_report(database, ["Siemens"], scope).companies[0]
    beside = [(one.company, one.articles) for one in beside_of(figures)]
    assert beside == [("Airbus", 1), ("headlines", 2)]


def test_report_says_that_unread_articles_may_name_a_company_or_match_a_query(database):
    run = database.start_run(_source(database))
    save_document(database, document("a", published=NOW, access="paywalled"), run)
    add_query(database, "trains", "train", "ann")
    scope = Scope(since=TODAY, until=TODAY, now=NOW)
    made = make_report(database, ["Siemens", "trains"], scope)
    says = "Up to 1 more article behind a paywall may match trains."
    assert any(says in caveat for caveat in caveats(made))
    html = html_report(made)
    assert "may name Siemens." in html
    assert "may match trains." in html


def test_chart_marks_the_days_that_are_not_over_or_not_read_by_all_sources(news, report):
    assert [row.is_partial for row in report.chart.rows] == [*[False] * 29, True]
    days = queries.mention_counts(news, "day", company="Siemens", scope=SCOPE)
    unread = [one.hits is not None and one.completeness.level == "partial" for one in days]
    assert [row.is_unread for row in report.chart.rows] == unread
    html = html_report(report)
    assert html.count('class="partial"') == 1
    assert html.count('class="unread"') == sum(unread) > 1
    assert "Hatched: today so far." in html
    assert "Line on top: some sources missing." in html


def test_sources_have_their_share_of_the_articles_read(news, client, report):
    sources = queries.mention_counts(news, "source", company="Siemens", scope=SCOPE)
    first = sources[0]
    expected = (first.hits.articles, first.completeness.read, first.share)
    assert first.share == pytest.approx(first.hits.articles / first.completeness.read)
    row = rows_of(opened(workbook(report))["Sources"])[0]
    # Files have fifteen digits.
    assert (row["Articles"], row["Articles read"], row["Share"]) == pytest.approx(expected)
    html = html_report(report)
    articles, read = (f'<td class="n">{number:,}</td>' for number in expected[:2])
    assert f"{articles}{read}" in html
    asked = {"company": "Siemens", "by": "source", "since": str(SINCE), "until": str(TODAY)}
    assert client.get("/api/counts", params=asked).json()[0]["share"] == first.share
    page = client.get(f"/company/Siemens?since={SINCE}&until={TODAY}").text
    page = re.sub(r"<[^>]+>", "", page)
    assert f"of {first.completeness.read:,} · {first.share:.0%}" in page


def test_top_stories_lead_to_all_of_them(client, report):
    one = report.companies[0]
    assert one.stories > len(one.top_stories)
    words = f"The {len(one.top_stories)} with the most articles of {one.stories:,} stories."
    assert words in html_report(report)
    html = client.get(f"/report?company=Siemens&since={SINCE}&until={TODAY}").text
    link = re.search(rf'href="http://127.0.0.1:8300([^"]+)">All {one.stories:,} stories', html)
    assert link
    assert f"{one.stories:,}" in client.get(unescape(link[1])).text


def test_long_periods_have_a_point_for_each_week_or_month(news):
    half = make_report(news, ["Siemens"], Scope(since=TODAY - timedelta(days=180), now=NOW))
    assert half.by == "week"
    assert len(half.chart.rows) <= 27
    years = make_report(news, ["Siemens"], Scope(since=TODAY - timedelta(days=800), now=NOW))
    assert years.by == "month"
    assert {row.first.day for row in years.chart.rows} == {1}


def test_report_says_that_a_week_is_not_whole(news):
    monday = TODAY - timedelta(days=TODAY.weekday())
    since, until = monday - timedelta(days=103), monday - timedelta(days=1)
    made = make_report(news, ["Siemens"], Scope(since=since, until=until, now=NOW))
    left_out = [row.days_left_out for row in made.chart.rows]
    assert left_out == [2, *[0] * (len(left_out) - 1)]
    assert "Hatched: incomplete week." in html_report(made)
    assert rows_of(opened(workbook(made))["Over time"])[0]["Days left out"] == 2


def test_report_says_that_the_period_before_was_not_read_completely(report):
    partial = Completeness(read=9, covered=3, expected=5)
    compared = replace(report, reading=replace(report.reading, completeness_before=partial))
    says = "Previous period incomplete: 30 days before. Compare shares"
    assert any(caveat.startswith(says) for caveat in caveats(compared))


def test_report_has_the_versions_that_found_its_articles(news, report):
    made = make_report(news, ["Siemens"], SCOPE)
    proven = queries.proof(news, company="Siemens", scope=SCOPE, limit=10_000)
    assert dict(made.article_versions) == proven.article_versions
    assert sum(number for _, number in made.article_versions) == proven.number > 20
    ((found, number),) = made.article_versions
    words = f"The articles were found with {found.summary} ({number} articles)."
    assert words in html_report(made)
    assert words in str([cell.value for cell in opened(workbook(made))["Notes"]["A"]])
    several = tuple((replace(found, program=f"0.{one}"), 1) for one in range(7))
    text = html_report(replace(report, article_versions=several))
    assert re.search(r"newscrawl 0\.4, models [^;]* \(1 article\); 2 more versions\.", text)


def test_stories_come_with_a_sentence_that_names_the_company(report):
    for one in report.companies:
        assert one.top_stories
        numbers = [story.articles for story in one.top_stories]
        assert numbers == sorted(numbers, reverse=True)
        for story in one.top_stories:
            marked = [
                snippet.text[start:end]
                for snippet in report.excerpts[one.company, story.url].snippets
                for start, end in snippet.marks
            ]
            assert one.company in marked


def test_report_on_two_companies_says_whether_their_difference_may_be_chance(news):
    two = make_report(news, NAMES[1:], SCOPE)
    p_value = f"p\u00a0=\u00a0{two.difference.chance:.2g}"
    line = f"Between Airbus and Boeing: No significant difference ({p_value})."
    assert f"<li>{line}</li>" in html_report(two)
    assert line in [cell.value for cell in opened(workbook(two))["Notes"]["A"]]
    for names in (NAMES, NAMES[:1]):
        assert "Between " not in html_report(make_report(news, names, SCOPE))


def test_workbook_says_that_every_source_was_read(database):
    run = database.start_run(_source(database))
    save_document(database, document("1", mentions=[body("Siemens")], published=NOW), run)
    database.record_coverage("ft", TODAY, "ok", 1, 1)
    made = make_report(database, ["Siemens"], Scope(since=TODAY, until=TODAY, now=NOW))
    (row,) = rows_of(opened(workbook(made))["Coverage"])
    assert row["Days not read"] == 0
    assert "Every source was read on every day." in row["Which, and why"]


def test_group_counts_each_article_once(news):
    structure = CompanyStructure(groups={"wings": ("Airbus", "Boeing")})
    scope = Scope(since=SINCE, until=TODAY, now=NOW, structure=structure)
    group, airbus, boeing = make_report(news, ["wings", "Airbus", "Boeing"], scope).companies
    assert max(airbus.hits.articles, boeing.hits.articles) < group.hits.articles
    assert group.hits.articles < airbus.hits.articles + boeing.hits.articles


@pytest.mark.parametrize("names", [[], [f"Company {n}" for n in range(7)]])
def test_number_of_companies_is_limited(news, names):
    with pytest.raises(QuestionError, match="1 to 6 companies"):
        make_report(news, names, SCOPE)


def test_days_of_the_future_are_refused(news):
    later = SCOPE.validate().now
    days = replace(SCOPE, since=later.date() + timedelta(3), until=later.date() + timedelta(4))
    with pytest.raises(QuestionError, match="this day lies in the future"):
        make_report(news, ["Siemens"], days)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("this-week", "2026-11-16", "2026-11-18"),
        ("this-month", "2026-11-01", "2026-11-18"),
        ("last-week", "2026-11-09", "2026-11-15"),
        ("last-month", "2026-10-01", "2026-10-31"),
        ("last-quarter", "2026-07-01", "2026-09-30"),
        ("last-year", "2025-01-01", "2025-12-31"),
    ],
)
def test_periods_by_name(name, first, last):
    today = NOW.date().replace(year=2026, month=11, day=18)
    assert tuple(map(str, period_of_name(name, today))) == (first, last)


# Files -------------------------------------------------------------------------------------------


def test_workbook_has_tables_and_charts(report):
    content = workbook(report)
    book = opened(content)
    names = ["Key figures", "Over time", "Stories", "Sources", "Named together", "Coverage"]
    assert book.sheetnames == [*names, "Notes"]
    assert any("may name Siemens." in caveat for caveat in caveats(report))
    assert {*caveats(report)} <= {cell.value for cell in book["Notes"]["A"]}
    assert all(len(book[name].tables) == 1 for name in names)
    for sheet in book:
        widths = {
            place: one.width
            for one in sheet.column_dimensions.values()
            for place in range(one.min, one.max + 1)
        }
        assert all(widths[cell.column] > min(len(cell.value), 40) for cell in sheet[1])
    notes = book["Notes"]
    assert notes.column_dimensions["A"].width >= 100
    assert all(cell.alignment.wrap_text for cell in notes["A"])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        charts = [name for name in archive.namelist() if name.startswith("xl/charts/chart")]
        assert len(charts) == 2
        series = archive.read("xl/charts/chart2.xml").decode()
    assert series.count("<c:ser>") == len(NAMES)
    assert "'Over time'!$B$2:$B$31" in series


def test_page_loads_nothing(report):
    html = html_report(report)
    assert "default-src 'none'" in unescape(html)
    assert not re.search(r"<(script|img|link|iframe|object|embed|form|base)\b", html)
    assert not re.search(r"url\((?!#)|@import", html)
    # Texts may say so, which are escaped; tags may not.
    tags = " ".join(re.findall(r"<[^>]+>", html))
    assert not re.search(r"\ssrc=|\son\w+=|\sstyle=", tags)


def test_hostile_texts_stay_texts(news):
    made = make_report(news, ["Nokia"], SCOPE)
    assert EVIL_SOURCE in {one.key for one in made.companies[0].sources}
    html = html_report(made)
    assert "<script" not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert 'href="javascript:' not in html
    assert "&lt;script&gt;" in html
    texts = [
        cell.value
        for sheet in opened(workbook(made))
        for row in sheet
        for cell in row
        if isinstance(cell.value, str)
    ]
    assert any(EVIL[:20] in text for text in texts)
    assert not any("\u202e" in text for text in texts)


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t"])
def test_no_cell_begins_as_a_formula(database, sign):
    name = f'{sign}HYPERLINK("http://evil.example";"x")'
    run = database.start_run(_source(database))
    item = document(
        "a",
        title=name,
        text=f"{name} {LONG}",
        mentions=[headline(name), body(name)],
        published=NOW,
        fetched_at=NOW,
    )
    save_document(database, item, run)
    database.record_coverage("ft", TODAY, "ok", 1, 1)
    made = make_report(database, [name, name.swapcase()], Scope(since=TODAY, now=NOW))
    book = opened(workbook(made))
    cells = [cell for sheet in book for row in sheet for cell in row]
    texts = [cell.value for cell in cells if isinstance(cell.value, str)]
    assert f"'{name}".strip() in [text.strip() for text in texts]
    assert not [text for text in texts if text.startswith(("=", "+", "-", "@", "\t"))]
    assert not [cell for cell in cells if cell.data_type == "f" or cell.hyperlink]
    # Names that differ only in case are one name for a table of Excel.
    assert len({cell.value.casefold() for cell in book["Over time"][1] if cell.value}) == 3


# The command and the dashboard -------------------------------------------------------------------


@pytest.fixture
def written(newscrawl: Newscrawl, season: Path, tmp_path: Path) -> Any:
    def run(*arguments: object) -> Any:
        url = f"sqlite:///{season}"
        return newscrawl("report", *arguments, "--database", url)

    return run


def test_command_writes_the_format_in_which_the_name_ends(written, tmp_path):
    said = written("-c", "siemens", "-c", "Boeing", "--period", "30d", "-o", "r.html")
    assert (said.code, said.out) == (0, "")
    assert "r.html" in said.err
    assert "Siemens, Boeing in the news" in (tmp_path / "r.html").read_text("utf-8")
    assert written("-c", "Siemens", "--since", "30d", "-o", "r.xlsx").code == 0
    assert "Key figures" in load_workbook(tmp_path / "r.xlsx").sheetnames


def test_command_writes_to_standard_output(season):
    command = [sys.executable, "-m", "newscrawl", "report", "-c", "Siemens", "--period", "7d"]
    done = subprocess.run(
        [*command, "--database", f"sqlite:///{season}"], check=False, capture_output=True
    )
    assert done.returncode == 0
    assert done.stdout.startswith(b"<!DOCTYPE html>")


@pytest.mark.thorough
def test_group_is_reported_with_its_companies(written, tmp_path):
    (tmp_path / "mine.toml").write_text('[groups]\nwings = ["Airbus", "Boeing"]\n', "utf-8")
    said = written(
        "--each-of", "wings", "--period", "30d", "-o", "r.xlsx", "--companies", "mine.toml"
    )
    assert said.code == 0
    rows = rows_of(load_workbook(tmp_path / "r.xlsx")["Key figures"])
    assert [row["Company"] for row in rows] == ["wings", "Airbus", "Boeing"]


def test_report_on_a_group_of_sources_says_so(written, tmp_path, season, monkeypatch):
    head = "slug,name,country,languages,home,feeds,sitemaps,news_sitemaps,status,groups\n"
    rows = [
        f"{slug},{slug},gb,en,https://{slug}.example/,https://{slug}.example/feed,,,active,{group}\n"
        for slug, group in (
            ("harbour-courier", "quays"),
            ("northern-ledger", "quays"),
            ("stadtbote", "leading"),
        )
    ]
    (tmp_path / "sources.csv").write_text(head + "".join(rows), "utf-8")
    monkeypatch.setattr(config, "NEWSCRAWL_SOURCES", str(tmp_path / "sources.csv"))
    common = ("-c", "Siemens", "--period", "30d", "--group", "quays")
    assert written(*common, "-o", "r.html").code == 0
    assert written(*common, "-o", "r.xlsx").code == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.count("sources of the group quays") == 2
    assert "All sources" not in page
    book = load_workbook(tmp_path / "r.xlsx")
    (row,) = rows_of(book["Key figures"])
    with open_database(f"sqlite:///{season}") as news:
        counts = queries.mention_counts(news, "source", company="Siemens", scope=Scope(since=SINCE))
    articles = {row.key: row.hits.articles for row in counts if row.hits}
    assert row["Articles"] == articles["harbour-courier"] + articles["northern-ledger"] > 0
    texts = [cell.value for cell in book["Notes"]["A"]]
    assert any("sources of the group quays" in text for text in texts if text)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--period", "30d"], 2, "give -c NAME"),
        (["-c", "Siemans"], 2, "did you mean Siemens"),
        (["-c", "Siemens", "--period", "last-moon"], 2, "unknown period 'last-moon'"),
        (["-c", "Siemens", "--period", "7d", "--since", "7d"], 2, "leave --since and --until out"),
        (["-c", "Siemens", "--until", "2026-01-01"], 2, "add --since"),
        (["-c", "Siemens", "-o", "report.pdf"], 2, "end it in .html or .xlsx"),
        (
            ["-c", "Siemens", "--period", "30d", "-o", "missing/r.html"],
            2,
            "can't write 'missing/r.html': No such file or directory",
        ),
        (
            ["-c", "Siemens", "--since", "2019-01-01", "--until", "2019-12-31"],
            1,
            "No source was crawled",
        ),
        (["--each-of", "nobody", "--period", "7d"], 2, "unknown group 'nobody'"),
        (["-c", "Siemens", "--group", "nobody"], 2, "unknown group of sources 'nobody'"),
    ],
)
def test_command_explains_what_is_wrong(written, arguments, code, message):
    said = written(*arguments)
    assert said.code == code
    assert message in " ".join(said.err.split())


@pytest.mark.parametrize(
    "page", ["/company/Siemens?days=7", "/compare?company=Siemens&company=Airbus&days=7"]
)
def test_report_on_last_month_leads_back_to_the_dashboard(client, page):
    link = re.search(
        r"<b>Report of [A-Z][a-z]+ [0-9]{4}</b> <a href=\"([^\"]+)\">", client.get(page).text
    )
    assert link
    since, until = period_of_name("last-month", TODAY)
    report = client.get(unescape(link[1])).text
    assert f"{since.day} {since:%b %Y} to {until.day} {until:%b %Y}" in report
    back = re.search(r'href="([^"]+)">Back to the dashboard', report)
    assert back
    shown = client.get(unescape(back[1]).removeprefix(str(client.base_url))).text
    assert f'name="since" value="{since}"' in shown
    assert "Siemens" in shown


def test_dashboard_serves_the_report_of_its_filters(client):
    answer = client.get("/report?company=Siemens&days=30")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "http://127.0.0.1:8300/company/Siemens?since=" in answer.text
    book = client.get("/report?company=Siemens&company=Airbus&days=30&format=xlsx")
    assert f"newscrawl-report-{SINCE}-{TODAY}.xlsx" in book.headers["Content-Disposition"]
    assert opened(book.content)["Key figures"].max_row == 3


@pytest.mark.parametrize("filters", ["days=10", "days=7&language=en", "days=7&country=gb"])
def test_numbers_of_a_report_lead_to_proofs_that_add_up(client, filters):
    text = client.get(f"/report?company=Siemens&company=Airbus&{filters}").text
    links = re.findall(r'<a [^>]*href="http://127.0.0.1:8300(/proof[^"]+)"[^>]*>([\d,]+)</a>', text)
    asked = {unescape(link).partition("?")[2]: number for link, number in links}
    counted = {one.partition("counted=")[2].partition("&")[0] for one in asked}
    assert counted >= {"articles", "stories", "headline"}
    for query, number in asked.items():
        assert str(client.get(f"/api/proof?{query}").json()["number"]) == number, query


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("company=Nobody", 404),
        ("", 422),
        ("company=", 422),
        ("company=Siemens&format=pdf", 422),
        ("company=" + "x" * 201, 422),
        ("company=%00", 422),
    ],
)
def test_dashboard_refuses_reports_on_nothing(client, query, code):
    assert client.get(f"/report?{query}").status_code == code
