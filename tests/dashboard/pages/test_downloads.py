"""Warnings beside numbers, and their downloads."""

import csv
import json
import re
from datetime import datetime, timedelta
from html import unescape
from io import BytesIO, StringIO
from urllib.parse import urlsplit

import pytest
from openpyxl import load_workbook
from starlette.testclient import TestClient

from newscrawl.storage.scope import days as days_between
from tests.dashboards import TODAY, save_past as save
from tests.worlds import body, headline


def test_days_before_the_first_crawl_differ_from_missed_days(client, database):
    save(database, 0, headline("Siemens"))
    since = TODAY - timedelta(days=29)
    young = client.get(f"/company/Siemens?since={since}").text
    assert f"data starts {TODAY.day} {TODAY:%b}</span>" in young
    assert "missed" not in young
    assert "no previous period yet" in young
    save(database, 40, headline("Siemens"))
    old = client.get("/company/Siemens?days=30").text
    assert "29 of 30 missing" in old
    assert "1 source missed 29 days" in old
    assert re.search(r"on 29 days, <bdi>.* to .* \(not crawled\)</bdi>", old)
    proof = client.get("/proof?company=Siemens&days=30").text
    assert re.search(r"<small dir=\"auto\">not read: .* to .* \(not crawled\)</small>", proof)
    assert "data starts" not in old
    assert "3% of days read." in client.get("/company/Siemens?source=ft").text


def read_csv(client: TestClient, path: str) -> list[list[str]]:
    answer = client.get(path)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="newscrawl-')
    assert answer.content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(StringIO(answer.content.decode("utf-8-sig"))))


def linked_csv(client: TestClient, path: str) -> list[list[str]]:
    """What the page's link to its numbers brings."""
    link = re.search(r'<a href="([^"]+)" download>', client.get(path).text)
    assert link
    return read_csv(client, unescape(link[1]))


def test_each_part_of_a_company_can_be_downloaded(client, database):
    save(database, 0, headline("Nestlé"))
    page = client.get("/company/Nestl%C3%A9?days=1").text
    links = re.findall(r'href="([^"]+)" download><span class="hidden">By (\w+): </span>CSV', page)
    parts = {by: read_csv(client, unescape(link))[0][1:-3] for link, by in links}
    assert parts == {"source": ["ft"], "language": ["en"], "country": ["gb"]}


def test_numbers_of_a_chart_can_be_downloaded(client, database):
    save(database, 2, headline("Nestlé"), body("Nestlé"))
    save(database, 0, headline("Nestlé"))
    assert linked_csv(client, "/company/Nestl%C3%A9?days=3&count=mentions") == [
        ["day", "headline", "body", "covered", "expected", "days_left_out"],
        [str(TODAY - timedelta(days=2)), "1", "1", "1", "1", "0"],
        [str(TODAY - timedelta(days=1)), "", "", "0", "1", "0"],
        [str(TODAY), "1", "0", "1", "1", "0"],
    ]


@pytest.mark.parametrize("path", ["/company/Siemens?", "/compare?company=Siemens&company=Bosch&"])
def test_periods_that_are_not_whole_are_marked(client, database, path):
    monday = TODAY - timedelta(days=TODAY.weekday() + 21)
    for each in days_between(monday, TODAY):
        save(database, (TODAY - each).days, headline("Siemens"), body("Bosch", 8))
    since, until = monday + timedelta(days=2), monday + timedelta(days=13)
    page = f"{path}by=week&since={since}&until={until}"
    text = client.get(page).text
    first, second = re.findall(r"<tr data-day.*?</tr>", text)
    assert "data-partial" in first
    assert "(2 days left out)" in first
    assert "data-partial" not in second
    assert "Incomplete week" in text
    assert [row[-1] for row in linked_csv(client, page)] == ["days_left_out", "2", "0"]
    days = client.get(f"{path}days=7").text
    assert "(today, so far)" in days
    assert days.count("data-partial") == 1


@pytest.mark.parametrize("path", ["/company/Siemens?", "/compare?company=Siemens&company=Bosch&"])
def test_days_on_which_not_all_sources_were_read_are_marked(client, database, path):
    for back in range(4):
        save(database, back, headline("Siemens"), body("Bosch", 8))
        if back != 2:
            save(database, back, source="zeit", language="de", country="de")
    database.record_coverage("zeit", TODAY - timedelta(days=2), "failed", 0, 0)
    text = client.get(f"{path}days=4").text
    (row,) = re.findall(r"<tr[^>]* data-unread>.*?</tr>", text)
    assert str(TODAY - timedelta(days=2)) in row
    assert "(1 of 2 sources read)" in row
    assert "some sources missing in 1." in text
    assert "Some sources missing" in text


def test_whole_ranking_can_be_downloaded(client, database):
    save(database, 0, *(headline(f"Company {number}") for number in range(30)), headline("=1+1"))
    found = linked_csv(client, "/?days=7")
    assert found[0] == ["company", "articles", "before", "change", "chance", "headline", "body"]
    assert len(found) == 32
    assert ["'=1+1", "1", "", "", "", "1", "0"] in found


ARTICLE = ["headline", "source", "date", "address", "sentence", "language", "access", "mentions"]


@pytest.mark.parametrize(
    "path",
    ["/proof?counted=articles&company=Siemens", "/proof?counted=articles", "/search?q=siemens"],
)
def test_articles_of_a_list_are_saved_with_their_sentences(client, database, path):
    save(database, 1, headline("Siemens"), body("Siemens"))
    save(database, 0, body("Siemens"), source="zeit")
    links = re.findall(r'<a href="([^"]+)" download>', client.get(path).text)
    csv_link = next(unescape(link) for link in links if "format=csv" in link)
    rows = read_csv(client, csv_link)
    assert rows[0] == ARTICLE
    assert [row[1:3] for row in rows[1:]] == [
        ["ZEIT", str(TODAY)],
        ["FT", str(TODAY - timedelta(days=1))],
    ]
    assert [row[5:] for row in rows[1:]] == [["en", "open", "1"], ["en", "open", "2"]]
    assert all("Siemens" in row[4] and urlsplit(row[3]).scheme == "https" for row in rows[1:])
    articles = json.loads(client.get(csv_link.replace("format=csv", "format=json")).content)
    assert [[str(cell) for cell in row.values()] for row in articles] == rows[1:]


@pytest.mark.parametrize(
    "path",
    ["/company/Siemens?", "/compare?company=Siemens&company=Bosch&", "/report?company=Siemens&"],
)
def test_workbook_has_a_sheet_of_articles(client, database, path):
    save(database, 0, body("Siemens"), body("Bosch", 8))
    answer = client.get(f"{path}days=7&format=xlsx")
    sheet = load_workbook(BytesIO(answer.content))["Articles"]
    head, first, *_ = sheet.iter_rows(values_only=True)
    assert [str(name).lower() for name in head] == ["company", *ARTICLE]
    assert first[0] == "Siemens"
    assert first[5]


def test_articles_of_the_last_month_are_two_clicks_away(client, database):
    last = TODAY.replace(day=1) - timedelta(days=1)
    save(database, (TODAY - last).days, headline("Siemens"))
    save(database, 0, headline("Siemens"))
    page = client.get("/company/Siemens?days=7").text
    menu = re.search(rf"<b>Articles of {last:%B %Y}</b>.*?</p>", page)
    assert menu
    (link,) = re.findall(r'href="([^"]+format=xlsx[^"]*)"', menu[0])
    sheet = load_workbook(BytesIO(client.get(unescape(link)).content)).active
    assert sheet
    days = [row[2] for row in sheet.iter_rows(values_only=True, min_row=2)]
    assert [str(day)[:10] for day in days] == [str(last)]


@pytest.mark.parametrize(
    ("path", "text", "rows"),
    [
        (
            "/company/Siemens",
            "Named with",
            [["company", "kind", "articles", "share"], ["Bosch", "company", "1", "0.5"]],
        ),
        (
            "/compare?company=Siemens&company=Bosch",
            "Share of voice",
            [["company", "number", "share"], ["Siemens", "2", "0.66"], ["Bosch", "1", "0.33"]],
        ),
    ],
)
def test_tables_beside_a_chart_are_saved(client, database, path, text, rows):
    save(database, 0, body("Siemens"), body("Bosch", 8))
    save(database, 1, body("Siemens"))
    menu = re.search(rf"<b>{text}</b>.*?</p>", client.get(path).text)
    assert menu
    link = next(unescape(link) for link in re.findall(r'href="([^"]+)"', menu[0]))
    assert [
        [cell[:4] if "." in cell else cell for cell in row] for row in read_csv(client, link)
    ] == rows


def test_shares_of_voice_are_saved_with_those_before(client, database):
    for back in range(24):
        save(database, back, body("Siemens"))
        if back < 18:
            save(database, back, body("Bosch"))
    shares = "days=12&table=shares&format=csv"
    rows = read_csv(client, f"/compare?company=Siemens&company=Bosch&{shares}")
    assert rows[0] == ["company", "number", "share", "share_before", "change"]
    assert [[row[0], *(f"{float(cell or 0):.2f}" for cell in row[1:])] for row in rows[1:]] == [
        ["Siemens", "12.00", "0.50", "0.67", "-0.25"],
        ["Bosch", "12.00", "0.50", "0.33", "0.00"],  # 6 articles before are too few for a percent
    ]
    assert read_csv(client, f"/compare?company=Siemens&{shares}") == rows[:1]


def test_periods_of_a_workbook_are_dates(client, database):
    save(database, 0, headline("Siemens"))
    for step in ("day", "week", "month"):
        answer = client.get(f"/company/Siemens?days=7&by={step}&format=xlsx")
        sheet = load_workbook(BytesIO(answer.content))["Table"]
        assert {type(row[0]) for row in sheet.iter_rows(min_row=2, values_only=True)} == {datetime}
        assert sheet.column_dimensions["A"].width < 20


def test_chart_is_saved_as_a_picture(client, database):
    save(database, 0, headline("Siemens"), body("<b>Bosch", 8))
    for path in ("/company/Siemens?days=7", "/compare?company=Siemens&company=%3Cb%3EBosch"):
        answer = client.get(f"{path}&format=svg")
        assert answer.headers["Content-Type"] == "image/svg+xml"
        assert answer.text.startswith("<svg xmlns=")
        assert 'class="bars"' in answer.text or "&lt;b&gt;Bosch" in answer.text


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ("/sources", "next_due"),
        ("/queries", "articles"),
        ("/alerts", "recipient"),
        ("/registry/suggestions", "sentence"),
    ],
)
def test_tables_of_pages_without_a_chart_are_saved(client, database, path, column):
    save(database, 0, headline("Siemens"))
    rows = read_csv(client, f"{path}?format=csv")
    assert column in rows[0]
    assert len(rows) == (2 if path == "/sources" else 1)
