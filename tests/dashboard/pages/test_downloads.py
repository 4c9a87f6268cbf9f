"""Warnings beside numbers, and their downloads."""

import csv
import re
from datetime import timedelta
from html import unescape
from io import StringIO

import pytest
from starlette.testclient import TestClient

from newscrawl.storage import Database
from newscrawl.storage.scope import days as days_between
from tests.dashboards import TODAY, save_past as save
from tests.worlds import body, headline


def test_days_before_the_first_crawl_differ_from_missed_days(
    client: TestClient, database: Database
) -> None:
    save(database, 0, headline("Siemens"))
    young = client.get("/company/Siemens?days=30").text
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


def test_numbers_of_a_chart_can_be_downloaded(client: TestClient, database: Database) -> None:
    save(database, 2, headline("Nestlé"), body("Nestlé"))
    save(database, 0, headline("Nestlé"))
    assert linked_csv(client, "/company/Nestl%C3%A9?days=3&count=mentions") == [
        ["day", "headline", "body", "covered", "expected", "days_left_out"],
        [str(TODAY - timedelta(days=2)), "1", "1", "1", "1", "0"],
        [str(TODAY - timedelta(days=1)), "", "", "0", "1", "0"],
        [str(TODAY), "1", "0", "1", "1", "0"],
    ]


def test_numbers_of_a_comparison_can_be_downloaded(client: TestClient, database: Database) -> None:
    save(database, 0, headline("AT&T"), headline("Siemens"))
    found = linked_csv(client, "/compare?company=Siemens&company=AT%26T&days=7")
    assert found[0] == ["day", "Siemens", "AT&T", "covered", "expected", "days_left_out"]
    assert found[-1] == [str(TODAY), "1", "1", "1", "1", "0"]


@pytest.mark.parametrize("path", ["/company/Siemens?", "/compare?company=Siemens&company=Bosch&"])
def test_periods_that_are_not_whole_are_marked(
    client: TestClient, database: Database, path: str
) -> None:
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
def test_days_on_which_not_all_sources_were_read_are_marked(
    client: TestClient, database: Database, path: str
) -> None:
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


def test_whole_ranking_can_be_downloaded(client: TestClient, database: Database) -> None:
    save(database, 0, *(headline(f"Company {number}") for number in range(30)), headline("=1+1"))
    found = linked_csv(client, "/?days=7")
    assert found[0] == ["company", "articles", "before", "change", "chance", "headline", "body"]
    assert len(found) == 32
    assert ["'=1+1", "1", "", "", "", "1", "0"] in found
