"""What the pages say: of numbers, gaps, faults and a database that comes and goes."""

import csv
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from html import unescape
from io import StringIO
from itertools import product
from pathlib import Path
from shutil import copyfile

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from newscrawl.cli.explainer import Explainer
from newscrawl.dashboard import Config, ExplainedDocument, UnexplainedError, create_app
from newscrawl.dashboard.charts import MAX_PARTS
from newscrawl.dashboard.rendering import evidence_text
from newscrawl.dashboard.security import POLICY
from newscrawl.extraction.explain_page import AskedSentence
from newscrawl.items import Mention
from newscrawl.mentions.score import load_model
from newscrawl.monitoring import spike_detection
from newscrawl.monitoring.alerts import HIGHER, MIN_READ, SAME_BURST
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.company_alerts import CompanyAlert, record_alerts, watch_company
from newscrawl.storage.models import WatchedCompany
from newscrawl.storage.saved_queries import add_query, count_history
from newscrawl.storage.scope import days as days_between
from newscrawl.storage.status import Incident, record_incidents
from tests.dashboards import NOW, TODAY, config_of, send_notices
from tests.worlds import LONG, NOON, body, document, headline, register, save_document

Texts = list[str]
RULES = {one.removeprefix("rule=") for one in load_model().weights if one.startswith("rule=")}


@pytest.fixture
def file(tmp_path: Path, sqlite_template: Path) -> Path:
    """An empty database."""
    return copyfile(sqlite_template, tmp_path / "news.sqlite")


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{file}") as opened:
        yield opened


@pytest.fixture
def client(file: Path) -> Iterator[TestClient]:
    app = create_app(config_of(file))
    with TestClient(app, base_url="http://127.0.0.1:8300", raise_server_exceptions=False) as opened:
        yield opened


def save(
    database: Database,
    back: int,
    *mentions: Mention,
    source: str = "ft",
    language: str = "en",
    country: str = "gb",
    boilerplate: tuple[tuple[str, int], ...] = (),
) -> None:
    """An article of so many days ago."""
    moment = NOON.replace(year=TODAY.year, month=TODAY.month, day=TODAY.day) - timedelta(days=back)
    path = f"{back}-{len(mentions)}-{mentions[0].company if mentions else ''}"
    names = " ".join(mention.company for mention in mentions)
    item = document(
        path,
        source=source,
        title=f"{names} on day {back}",
        text=f"{names} {LONG} {back}",
        mentions=mentions,
        published=moment,
        fetched_at=moment,
        language=language,
    )
    database.register_source(
        source, source.upper(), country, language, f"https://{source}.example/"
    )
    run = database.start_run(source)
    save_document(database, replace(item, boilerplate=boilerplate), run)
    database.record_coverage(source, moment.date(), "ok", 1, 1)


# Numbers and gaps --------------------------------------------------------------------------------


def test_stories_are_counted_in_a_tile(database: Database, client: TestClient) -> None:
    for back in (0, 1):
        save(database, back, headline("Siemens"))
    number = len(queries.stories(database, company="Siemens"))
    text = client.get("/company/Siemens?count=stories").text
    name = "story" if number == 1 else "stories"
    tile = text.split(f"<dt>{name}</dt>")[1].split("</dd>")[0]
    assert f">{number}</a>" in tile
    assert "counted=stories" in tile
    assert f"<dt>{name}</dt>" not in client.get("/company/Siemens").text


def test_chart_says_how_many_sources_it_does_not_draw(
    database: Database, client: TestClient
) -> None:
    for number in range(MAX_PARTS + 2):
        save(database, 1, headline("Siemens"), source=f"paper-{number}")
    address = "/company/Siemens?split=source"
    assert f"The {MAX_PARTS} with the most stories are drawn, 2 more are not." in (
        client.get(f"{address}&count=stories").text
    )
    assert "more are not." not in client.get(address).text


def test_empty_database_shows_what_to_do(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "scrapy crawl ft" in answer.text


def test_period_before_the_first_crawl_leads_to_the_days_from_it_on(
    client: TestClient, database: Database
) -> None:
    save(database, 40, headline("Siemens"))
    until = TODAY - timedelta(days=60)
    page = client.get(f"/?since={until}&until={until}&order=change").text
    assert "scrapy crawl" not in page
    (address,) = re.findall(r'<a href="([^"]+)">the days from then on</a>', page)
    assert f"since={TODAY - timedelta(days=40)}" in address
    assert '<a href="/company/Siemens' in client.get(unescape(address)).text


def test_overview_compares_with_the_period_before(client: TestClient, database: Database) -> None:
    for back in (0, 1, 2, 8):
        save(database, back, headline("Siemens"))
    text = client.get("/?days=7").text
    row = text.split('href="/company/Siemens')[1].split("</tr>")[0]
    assert re.search(r'<td class="n strong"><a [^>]+>3</a></td>', row)
    assert "1 → 3" in row
    assert "200%" not in row


def test_change_of_larger_numbers_is_in_percent_of_the_share(
    client: TestClient, database: Database
) -> None:
    for back in range(60):
        save(database, back, headline("Shell"))
    for back in (*range(20), *range(30, 40)):
        save(database, back, headline("Siemens"))
    # 20 of 50 articles after 10 of 40.
    row = client.get("/?days=30").text.split('href="/company/Siemens')[1].split("</tr>")[0]
    assert "▲" in row
    assert "</span> 60%</span>" in row


def test_number_that_rises_while_its_share_falls_is_drawn_as_a_fall(
    client: TestClient, database: Database
) -> None:
    for name in ("Shell", "Nokia", "Bosch"):
        for back in range(30):
            save(database, back, headline(name))
    for back in (*range(15), *range(30, 42)):
        save(database, back, headline("Siemens"))
    row = client.get("/?days=30").text.split('href="/company/Siemens')[1].split("</tr>")[0]
    assert 'class="change down"' in row
    assert "▼" in row
    assert "a smaller share than before (p" in client.get("/company/Siemens?days=30").text


def test_companies_that_fell_silent_are_listed_with_what_they_had(
    database: Database, client: TestClient
) -> None:
    mentions = {"Siemens": (8, 1), "Bosch": (2, 0), "Airbus": (1, 6)}
    for name, (before, now) in mentions.items():
        for number in range(before + now):
            back = 8 if number < before else 1
            save(database, back, body(name), source=f"paper-{number}")
    save(database, 40, body("Zeiss"))
    page = client.get("/?days=7&order=fewer").text
    shown = re.findall(r'<th scope="row"><a href="/company/([^"?]+)', page)
    assert shown == ["Siemens", "Bosch"]
    assert "8 → 1" in page
    assert "2 → 0" in page
    proofs = [unescape(one) for one in re.findall(r'href="(/proof[^"]+company=Bosch[^"]*)"', page)]
    texts = [client.get(one).text for one in proofs]
    assert any("2 articles name Bosch" in text for text in texts)
    assert any("Nothing is counted" in text for text in texts)
    longer = page.split('id="longer-silent"')[1]
    (last,) = re.findall(r'href="(/proof[^"]+)"', longer)
    assert "Zeiss" in longer
    assert "1 article names Zeiss" in client.get(unescape(last)).text
    names = client.get("/?days=7&order=fewer&format=csv").text.splitlines()[1:]
    assert [line.split(",")[0] for line in names] == ["Siemens", "Bosch"]
    assert "No company fell to none" not in page
    save(database, 1, body("Bosch"), source="paper-1")
    assert "<p>No company fell to none.</p>" in client.get("/?days=7&order=fewer").text


def test_sources_that_name_a_company_for_the_first_time_are_named(
    database: Database, client: TestClient
) -> None:
    for source, backs in {"old": (20, 2), "new": (2, 1), "unread": (1,)}.items():
        for back in backs:
            save(database, back, body("Siemens"), source=source)
    for source in ("new", "other"):
        save(database, 20, source=source)
    page = client.get("/company/Siemens?days=7").text
    shown = page.split('id="new-sources"')[1].split("</p>")[0]
    assert "Siemens for the first time: <bdi>NEW</bdi>" in shown
    assert "OLD" not in shown
    assert "UNREAD" not in shown
    (proof,) = re.findall(r'href="(/proof[^"]+)"', shown)
    assert "2 articles name Siemens" in client.get(unescape(proof)).text
    since = (TODAY - timedelta(days=6)).isoformat()
    api = client.get(f"/api/companies/Siemens/new-sources?since={since}").json()
    assert [(one["source"], one["articles"]) for one in api] == [("new", 2), ("unread", 1)]
    assert api[1]["watched_since"] == (TODAY - timedelta(days=1)).isoformat()
    assert 'id="new-sources"' not in client.get("/company/Siemens?days=30").text


def test_shares_are_compared_with_those_before(database: Database, client: TestClient) -> None:
    for name, backs in {"Siemens": (8, 9, 10, 1), "Bosch": (8, 1, 2)}.items():
        for back in backs:
            save(database, back, body(name))
    page = client.get("/compare?days=7&company=Siemens&company=Bosch").text
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', page, re.DOTALL)
    shown = [re.findall(r">(\d+%)<", row) for row in rows]
    assert shown == [["33%", "75%"], ["67%", "25%"]]
    (proof,) = re.findall(r'href="([^"]+)" title="Before: 3"', page)
    assert "3 articles name Siemens" in client.get(unescape(proof)).text


def test_no_company_falls_silent_where_nothing_was_read_before(
    database: Database, client: TestClient
) -> None:
    save(database, 1, body("Siemens"))
    page = client.get("/?days=7&order=fewer").text
    assert "No article was read before: there is nothing to compare." in page


def test_gap_without_a_shorter_period_has_no_link(client: TestClient, database: Database) -> None:
    for back in (0, 100):
        save(database, back, body("Siemens"), body("Bosch"))
    for path in ("/company/Siemens?days=30", "/compare?days=30&company=Siemens&company=Bosch"):
        note = client.get(path).text.split('class="notice gap">')[1].split("</p>")[0]
        assert note.endswith("before can't be compared.</strong> No article was read in them.")


def test_gap_of_a_saved_query_is_named_apart(client: TestClient, database: Database) -> None:
    for back in range(20):
        save(database, back, body("Siemens"), source="ft" if back > 4 else "new")
    add_query(database, "new paper", "Siemens source:new", "ann")
    count_history(database, "new paper")
    note = client.get("/compare?days=7&company=Siemens&company=new+paper").text
    note = note.split('class="notice gap">')[1].split("</p>")[0]
    assert note.startswith("<strong>new paper: the 7 days before can't be compared.</strong> They")
    assert "Compare the last 2 days</a>" in note


def test_days_before_that_were_not_read_are_named_beside_the_change(
    client: TestClient, database: Database
) -> None:
    save(database, 0, headline("Siemens"))
    save(database, 8, headline("Siemens"))
    advice = "Compare shares of the articles read, not numbers"
    for path in ("/?days=7", "/company/Siemens?days=7"):
        assert advice in client.get(path).text


@pytest.mark.parametrize(
    ("now", "before", "colour", "chance"),
    [(15, 13, "even", "p\u00a0=\u00a00\\.\\d\\d?<"), (5, 30, "down", "p\u00a0=\u00a00\\.00\\d+<")],
    ids=["few more", "far fewer"],
)
def test_change_that_may_be_chance_is_grey(
    client: TestClient, database: Database, now: int, before: int, colour: str, chance: str
) -> None:
    for back in range(60):
        save(database, back, headline("Shell"))
    for back in (*range(now), *range(30, 30 + before)):
        save(database, back, headline("Siemens"))
    row = client.get("/?days=30").text.split('href="/company/Siemens')[1].split("</tr>")[0]
    assert f'class="change {colour}"' in row
    assert re.search(chance, row)
    assert ("no clear change</span>" in row) == (colour == "even")
    ordered = client.get("/?days=30&order=change").text
    assert ("No change here is clear: each may be chance." in ordered) == (colour == "even")


def test_grey_change_of_share_is_named_where_numbers_are_equal(
    client: TestClient, database: Database
) -> None:
    for back in (*range(20), *range(30, 60)):
        save(database, back, headline("Shell"))
    for back in (*range(10), *range(30, 40)):
        save(database, back, headline("Siemens"))
    row = client.get("/?days=30").text.split('href="/company/Siemens')[1].split("</tr>")[0]
    assert "33%" in row
    assert "no clear change</span>" in row


def test_company_page_names_the_days_with_most_articles(
    client: TestClient, database: Database
) -> None:
    for back in (5, 3, 2):
        save(database, back, body("Siemens"))
    for back in (3, 2):
        save(database, back, headline("Siemens"), body("Siemens"))
    page = client.get("/company/Siemens?days=7").text
    line = page.split('id="peak">')[1].split("</p>")[0]
    assert re.findall(r">(\d+)</a> \((.*?)\)", line) == [
        ("2", f"{day:%a} {day.day} {day:%b %Y}")
        for day in (TODAY - timedelta(days=3), TODAY - timedelta(days=2))
    ]
    (proof, _) = re.findall(r'href="([^"]+)"', line)
    assert "2 articles name Siemens" in client.get(unescape(proof)).text


def test_company_page_says_whether_a_change_may_be_chance(
    client: TestClient, database: Database
) -> None:
    for back in range(20):
        save(database, back, headline("Siemens"))
        save(database, back + 30, headline("Nokia"))
    for back in (0, 35):
        save(database, back, headline("BMW"))
    assert "before: <a" in client.get("/company/BMW").text
    assert "; no clear change (p" in client.get("/company/BMW").text
    assert "; a larger share than before (p" in client.get("/company/Siemens").text


def test_day_without_a_crawl_is_a_gap(client: TestClient, database: Database) -> None:
    save(database, 4, headline("Siemens"))
    save(database, 0, headline("Siemens"))
    text = client.get("/company/Siemens?days=7").text
    cells = text.split("<tbody>")[1].split("</tbody>")[0].split("<tr")[1:]
    assert len(cells) == 7
    assert ["no data" in cell for cell in cells] == [
        True,
        True,
        False,
        True,
        True,
        True,
        False,
    ]


def test_days_are_those_of_the_time_zone(client: TestClient, database: Database) -> None:
    noon = NOON.replace(year=TODAY.year, month=TODAY.month, day=TODAY.day)
    late = noon.replace(hour=23) - timedelta(days=3)
    found = document("a", text="Siemens", mentions=[headline("Siemens")], published=late)
    database.register_source("ft", "FT", "gb", "en", "https://ft.example/")
    save_document(database, found, database.start_run("ft"))
    for back in range(10):
        database.record_coverage("ft", TODAY - timedelta(days=back), "ok", 1, 1)
    span = f"since={TODAY - timedelta(days=6)}&until={TODAY}"
    for zone, moved in (("UTC", 3), ("Asia/Kolkata", 2)):
        table = client.get(f"/company/Siemens?{span}&zone={zone}&format=csv").text
        counts = {row[0]: row[1] for row in csv.reader(StringIO(table.lstrip("\ufeff")))}
        assert counts[(TODAY - timedelta(days=moved)).isoformat()] == "1"
    assert "in Asia/Kolkata" in client.get(f"/?{span}&zone=Asia/Kolkata").text


def test_failing_source_is_shown_on_the_first_page(client: TestClient, database: Database) -> None:
    save(database, 3, headline("Siemens"))
    for back in (2, 1, 0):
        database.record_coverage("ft", TODAY - timedelta(days=back), "failed", 0, 0, note="timeout")
    text = client.get("/").text
    assert "One source is" in text
    assert "failed, timeout" in text


def test_missing_crawl_of_today_is_not_a_failure(client: TestClient, database: Database) -> None:
    save(database, 1, headline("Siemens"))
    assert "not read at present" not in client.get("/").text


def test_open_incidents_are_shown_above_the_sources(client: TestClient, database: Database) -> None:
    save(database, 1, headline("Siemens"))
    record_incidents(
        database, [Incident(source="ft", kind="silent", note="nothing for two days")], ()
    )
    text = client.get("/sources").text
    assert "1 open incident" in text
    assert "FT: silent, nothing for two days" in text


def test_older_articles_are_on_the_next_page(client: TestClient, database: Database) -> None:
    for back in range(15):
        save(database, back, headline("Siemens"))
    first = client.get("/company/Siemens").text
    assert 'href="/company/Siemens?page=2"' in first
    second = client.get("/company/Siemens?page=2").text
    assert second.count('class="line"') == 3
    assert "on day 14" in second
    assert "page=3" not in second


@pytest.mark.parametrize("by", ["day", "week", "month"])
def test_every_way_of_counting_has_a_chart(client: TestClient, database: Database, by: str) -> None:
    save(database, 1, headline("Siemens"), body("Siemens"))
    splits = ("whole", "source", "language", "country")
    for count, split in product(("articles", "mentions", "stories"), splits):
        answer = client.get(f"/company/Siemens?count={count}&split={split}&by={by}")
        assert answer.status_code == 200, (count, split)
        # The stories of two sources overlap, so their bars are not stacked.
        kind = "lines" if count == "stories" and split != "whole" else "bars"
        assert f'data-chart="{kind}"' in answer.text, (count, split)


@pytest.mark.parametrize("split", ["source", "language", "country"])
def test_parts_add_up_to_the_total(client: TestClient, database: Database, split: str) -> None:
    for slug, language, country in (("ft", "en", "gb"), ("faz", "de", "de"), ("nzz", "de", "ch")):
        save(database, 1, headline("Siemens"), source=slug, language=language, country=country)
    text = client.get(f"/company/Siemens?split={split}&days=2").text
    row = text.split("<tbody>")[1].split("</tbody>")[0].split("<tr")[1]
    values = [int(part.split('"')[0]) for part in row.split('data-value="')[1:]]
    assert values == ([2, 1] if split == "language" else [1, 1, 1])


def test_small_parts_are_summed_up_as_others(client: TestClient, database: Database) -> None:
    for i in range(8):
        for back in range(8 - i):
            save(database, back, headline("Siemens"), source=f"paper-{i}")
    text = client.get("/company/Siemens?split=source&days=7").text
    heads = text.split("data-chart")[1].split("</thead>")[0]
    assert "PAPER-5" in heads
    assert "PAPER-6" not in heads
    assert ">others</th>" in heads
    today = text.split("<tbody>")[1].split("</tbody>")[0].split("<tr")[-1]
    assert [int(part.split('"')[0]) for part in today.split('data-value="')[1:]] == [1] * 6 + [2]


# What is not there -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/nowhere", 404),
        ("/company/Nobody", 404),
        ("/article?url=https://nowhere.example/", 404),
        ("/article", 422),
        ("/?days=many", 422),
        ("/company/Siemens?since=2026-11-05&until=2026-11-01", 422),
        ("/search?q=%22%22", 200),
        ("/registry/edit", 404),
        ("/article/explanation?url=https://nowhere.example/", 404),
    ],
)
def test_wrong_address_is_answered_with_advice(client: TestClient, path: str, code: int) -> None:
    answer = client.get(path)
    assert answer.status_code == code
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/nowhere", "There is no page at this address"),
        ("/company/Siemans", "Did you mean Siemens?"),
        ("/company/Siemens%20AG", "Did you mean Siemens?"),
        ("/company/Boeing", "Boeing is registered, but no article in this database names it yet."),
        ("/company/Zzyzx", "was ever mentioned in this database.</p>"),
    ],
)
def test_missing_page_is_answered_with_advice(
    client: TestClient, database: Database, path: str, says: str
) -> None:
    save(database, 0, headline("Siemens"))
    answer = client.get(path)
    assert answer.status_code == 404
    assert says in answer.text


# Warnings and downloads --------------------------------------------------------------------------


def test_days_before_the_first_crawl_differ_from_missed_days(
    client: TestClient, database: Database
) -> None:
    save(database, 0, headline("Siemens"))
    young = client.get("/company/Siemens?days=30").text
    assert "29 of its days lie before it" in young
    assert "Not everything was read" not in young
    assert "<small>before: no data</small>" in young
    save(database, 40, headline("Siemens"))
    old = client.get("/company/Siemens?days=30").text
    assert "Of the 30 days of all sources together, 29 were not read" in old
    assert re.search(r"on 29 days, <bdi>.* to .* \(not crawled\)</bdi>", old)
    proof = client.get("/proof?company=Siemens&days=30").text
    assert re.search(r"<small dir=\"auto\">not read: .* to .* \(not crawled\)</small>", proof)
    assert "before the first crawl" not in old
    assert "Of the 30 days, 29 were not read" in client.get("/company/Siemens?source=ft").text


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
    assert "not the whole week: a smaller number is not a decrease" in text
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
    assert "not all sources were read in 1." in text
    assert "not all sources were read: the number may be too small" in text


def test_whole_ranking_can_be_downloaded(client: TestClient, database: Database) -> None:
    save(database, 0, *(headline(f"Company {number}") for number in range(30)), headline("=1+1"))
    found = linked_csv(client, "/?days=7")
    assert found[0] == ["company", "articles", "before", "change", "chance", "headline", "body"]
    assert len(found) == 32
    assert ["'=1+1", "1", "", "", "", "1", "0"] in found


def test_unexpected_error_reveals_nothing(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret of the inside")

    monkeypatch.setattr("newscrawl.storage.queries.overview", broken)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.headers["Content-Security-Policy"] == POLICY


# A database that comes and goes ------------------------------------------------------------------


def test_missing_database_is_reported_and_found_again(client: TestClient, file: Path) -> None:
    assert client.get("/").status_code == 200
    away = file.rename(file.with_name("away.sqlite"))
    gone = client.get("/sources")
    assert gone.status_code == 503
    assert gone.headers["Retry-After"] == "5"
    assert '<meta http-equiv="refresh" content="5">' in gone.text
    assert "no database at" in gone.text
    assert client.get("/api/facts").json()["detail"].startswith("no database at")
    away.rename(file)
    assert client.get("/sources").status_code == 200


def test_replaced_database_file_is_read(
    client: TestClient, file: Path, sqlite_template: Path
) -> None:
    assert "Siemens" not in client.get("/").text
    other = copyfile(sqlite_template, file.with_name("other.sqlite"))
    with open_database(f"sqlite:///{other}") as database:
        save(database, 0, headline("Siemens"))
    for leftover in file.parent.glob("news.sqlite-*"):
        leftover.unlink()
    other.replace(file)
    assert "Siemens" in client.get("/").text


def test_locked_database_is_reported_and_read_again_when_it_is_free(file: Path) -> None:
    config = config_of(file)
    app = create_app(replace(config, database_url=f"{config.database_url}?timeout=0.1"))
    with (
        TestClient(app, base_url="http://localhost") as client,
        closing(sqlite3.connect(file)) as other,
    ):
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        locked = client.get("/")
        assert locked.status_code == 503
        assert "locked by another process" in locked.text
        other.rollback()
        other.execute("PRAGMA locking_mode = NORMAL")
        other.execute("SELECT count(*) FROM sources").fetchone()
        assert client.get("/").status_code == 200


def test_older_schema_is_reported_with_the_upgrade_command(client: TestClient, file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    answer = client.get("/")
    assert answer.status_code == 503
    assert "newscrawl db upgrade" in answer.text


def test_search_leads_to_companies_of_this_name(client: TestClient, database: Database) -> None:
    save(database, 0, headline("Siemens"), body("Siemens Energy", 8))
    save(database, 0, headline("Volkswagen"))
    for words in ("siemens", "Siem"):
        text = client.get("/search", params={"q": words}).text
        assert 'Companies: <a href="/company/Siemens">Siemens</a>' in text
        assert '<a href="/company/Siemens%20Energy">Siemens Energy</a>' in text
    assert '"/company/Volkswagen">' in client.get("/search?q=VW").text
    for words in ("S", "Nobody", ""):
        assert 'id="companies"' not in client.get("/search", params={"q": words}).text


def test_search_says_that_words_are_found_as_they_are_written(
    client: TestClient, database: Database
) -> None:
    save(database, 0, headline("Siemens"))
    hint = "No plurals or other endings"
    for words, says in (("council", True), ("councils", True), ("council*", False)):
        text = client.get("/search", params={"q": words}).text
        assert (hint in text) is says, words
        assert "<code>tram</code> does not find <i>trams</i>" in text
        assert ("is in no article of the period" in text) is (words == "councils")
    assert hint not in client.get("/search").text


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("days=abc", "days &#39;abc&#39;: write a number from 1 to"),
        ("until=2020-13-01", "until &#39;2020-13-01&#39; is not a day"),
        ("group=nonesuch", "nonesuch"),
        ("since=2026-11-20&until=2026-11-01", "2026-11-01"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/search", "/compare", "/sources", "/company/Siemens"])
def test_fault_of_a_filter_keeps_the_others_in_their_form(
    client: TestClient, database: Database, path: str, fault: str, says: str
) -> None:
    save(database, 0, headline("Siemens"))
    answer = client.get(f"{path}?source=ft&count=mentions&company=A%26B&{fault}&company=C")
    assert answer.status_code == 422
    assert says in answer.text
    assert f'<form class="filters" action="{path}"' in answer.text
    assert '<option value="ft" selected>' in answer.text
    for name, value in (("count", "mentions"), ("company", "A&amp;B"), ("company", "C")):
        assert f'<input type="hidden" name="{name}" value="{value}">' in answer.text
    (link,) = re.findall(r'href="([^"]+)">Show the page without it', answer.text)
    assert "company=A%26B" in link
    if path != "/compare":
        assert client.get(unescape(link)).status_code == 200


def test_company_without_mentioned_subsidiaries_says_so(
    client: TestClient, database: Database
) -> None:
    save(database, 0, headline("Siemens"))
    sentence = "No subsidiary of Siemens was ever mentioned in this database."
    for query in ("", "?subsidiaries=included"):
        page = client.get(f"/company/Siemens{query}").text
        assert sentence in page
        assert "With subsidiaries" not in page
    # The choice is kept for the next page, whose company may have some.
    assert 'type="hidden" name="subsidiaries" value="included"' in page
    save(database, 0, headline("Alstom"))
    compared = "/compare?company=Siemens&company=Alstom"
    assert "No subsidiary of these was ever mentioned" in client.get(compared).text


# Explanations ------------------------------------------------------------------------------------


def test_every_copy_of_a_story_is_listed(client: TestClient, database: Database) -> None:
    run = register(database)
    text = " ".join(f"word{number}" for number in range(80))
    for number in range(15):
        save_document(database, document(f"copy-{number}", text=f"{text} end {number}"), run)
    page = client.get("/article?url=https://ft.example/copy-0").text
    copies = page.split('id="copies"')[1].split("</section>")[0]
    assert len(re.findall(r'href="/article\?url=[^"]+copy-\d+"', copies)) == 14
    assert "<summary>2 more</summary>" in copies


def test_only_pages_of_stored_articles_are_explained(file: Path, database: Database) -> None:
    asked: list[tuple[str, ...]] = []

    def explain(urls: Texts, fetch_anew: bool) -> None:
        asked.append(tuple(urls))
        raise AssertionError(fetch_anew)

    save(database, 0, headline("Siemens"))
    app = create_app(config_of(file, explain=explain))
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/article/explanation?url=http://10.0.0.1/admin").status_code == 404
        assert asked == []


def test_hit_in_a_teaser_leads_to_the_reason_why_it_is_not_counted(
    file: Path, database: Database
) -> None:
    found: list[AskedSentence] = []

    def explain(_: Texts, fetch_anew: bool, asked: AskedSentence) -> ExplainedDocument:
        found.append(asked)
        raise UnexplainedError("not in the archive")

    save(database, 0, headline("Siemens"), boilerplate=(("Yahoo", 2),))
    app = create_app(config_of(file, explain=explain))
    with TestClient(app, base_url="http://localhost") as client:
        page = client.get("/proof?counted=boilerplate&company=Yahoo").text
        link = re.search(r'href="(/article/explanation[^"]+left_out=Yahoo)&amp;proof=', page)
        assert link, page
        assert "Why is Yahoo not counted here?" in client.get(unescape(link[1])).text
        article = client.get(unescape(link[1]).replace("/explanation", "")).text
        assert unescape(link[1]) in unescape(article)
    (asked,) = found
    assert asked.left_out == "Yahoo"
    assert asked.finds is not None
    assert asked.finds("More news: Yahoo buys a mill")
    assert not asked.finds("More news: a mill is sold")


def test_without_an_archive_a_mention_is_explained_from_the_database(
    file: Path, database: Database
) -> None:
    save(database, 0, replace(headline("Siemens"), score=0.98))
    app = create_app(config_of(file, explain=Explainer(None)))
    with TestClient(app, base_url="http://localhost") as client:
        proof = client.get("/proof?counted=headline&company=Siemens").text
        link = re.search(r'href="(/article/explanation[^"]+)"', proof)
        assert link, proof
        answer = client.get(unescape(link[1]))
    assert answer.status_code == 200
    assert "Siemens on day 0" in answer.text
    assert "Siemens: unambiguous name of the registry; very likely right (0.98)" in answer.text
    assert "NEWSCRAWL_ARCHIVE" in answer.text
    assert "Back to the article" in answer.text


def test_article_stored_without_versions_says_so(client: TestClient, database: Database) -> None:
    save(database, 0, headline("Siemens"))
    page = client.get("/article?url=https://ft.example/0-1-Siemens").text
    assert "a version of newscrawl that is not known" in page


def test_explanation_has_every_sentence_with_a_mention_once(file: Path, database: Database) -> None:
    text = "Siemens and Alstom bid. Nobody asked Bosch. It rained."
    mentions = [headline("Siemens"), body("Siemens"), body("Alstom", 12), body("Bosch", 37)]
    page = document(title="Siemens bids", text=text, mentions=mentions, published=NOW)
    save_document(database, page, register(database))
    app = create_app(config_of(file, explain=Explainer(None)))
    with TestClient(app, base_url="http://localhost") as client:
        article = client.get(f"/article?url={page.article.url}").text
        head, _, rest = article.partition('<div class="prose">')
        assert "Why is this counted?" not in rest
        link = re.search(r'href="(/article/explanation[^"]+)">Why is this counted\?', head)
        assert link
        for at in ("", "body:0", "body:12", "body:37", "title:0"):
            shown = client.get(unescape(link[1]), params={"url": page.article.url, "at": at}).text
            sentences = re.findall(r'<p class="snippet" dir="auto">([^<]+)</p>', shown)
            asked = {"body:37": "Nobody asked Bosch.", "title:0": "Siemens bids"}
            assert sentences[0] == asked.get(at, "Siemens and Alstom bid."), at
            assert sorted(sentences) == [
                "Nobody asked Bosch.",
                "Siemens and Alstom bid.",
                "Siemens bids",
            ]
            assert "in 2 sentences</summary>" in shown
            assert shown.count("Alstom: unambiguous name of the registry") == 1


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_is_said_in_words(rule: str) -> None:
    words = evidence_text(replace(body("Siemens"), rule=rule, score=0.5))
    assert not words.startswith(f"{rule};")
    assert words.endswith("; uncertain (0.50)")


# Both kinds of database --------------------------------------------------------------------------


def test_every_page_works_on_both_kinds_of_database(database_url: str, tmp_path: Path) -> None:
    with open_database(database_url) as database:
        save(database, 1, headline("Siemens"), body("Bosch", 8))
    config = Config(database_url=database_url, companies=tmp_path / "mine.toml")
    paths = (
        "/",
        "/company/Siemens?split=source&count=stories",
        "/compare?company=Siemens&company=Bosch",
        "/article?url=https://ft.example/1-2-Siemens",
        "/sources",
        "/search?q=siemens",
        "/registry",
        "/api/counts?company=%ff%00",
    )
    app = create_app(config)
    with TestClient(app, base_url="http://localhost") as client:
        codes = [client.get(path).status_code for path in paths]
    assert codes == [200] * 7 + [422]


# Alerts ------------------------------------------------------------------------------------------


def test_alerts_say_who_gets_what_and_what_was_sent(client: TestClient, database: Database) -> None:
    empty = client.get("/alerts").text
    assert "newscrawl alerts recipients add" in empty
    assert "Nothing was sent yet." in empty
    send_notices(database, "The press office")
    page = client.get("/alerts").text
    assert "press@example.org" in page
    assert "s3cret" not in page
    rows = re.findall(r"<tr><th[^>]*>(.*?)</tr>", page)
    assert len(rows) == 6  # of two tables, heads included
    assert "failed</span> the server answered 404" in page
    assert '<a href="/company/Airbus">Airbus</a> and <a href="/company/Boeing">Boeing</a>' in page


def test_company_page_says_whether_there_was_a_spike(
    client: TestClient, database: Database
) -> None:
    save(database, 1, headline("Siemens"))
    page = client.get("/company/Siemens").text
    assert "Siemens is not watched" in page
    assert ">Watch Siemens</button>" in page
    watch_company(database, "Siemens")
    # The pages are asked at NOW; the database's own clock may have passed midnight since.
    database.write(lambda session: session.execute(update(WatchedCompany).values(added_at=NOW)))
    page = client.get("/company/Siemens").text
    assert f"No spike since the watch began on {TODAY.day} " in page
    assert "A spike is a day with at least 5 articles" in page
    week_ago = TODAY - timedelta(days=7)
    earlier = client.get(f"/company/Siemens?since={week_ago}&until={week_ago}").text
    assert "no day of this period was searched for spikes" in earlier
    assert '<a href="/alerts#rules">' in page
    spike = {"articles": 12, "expected": 3.14, "chance": 1e-5, "history_days": 50}
    first = {"watched_since": "2026-11-20"}
    yesterday = TODAY - timedelta(days=1)
    alerts = [
        CompanyAlert(cause="a", kind="spike", company="Siemens", day=yesterday, facts=spike),
        CompanyAlert(cause="b", kind="first mention", company="Siemens", day=TODAY, facts=first),
    ]
    record_alerts(database, alerts)
    for path in ("/company/Siemens", "/alerts"):
        page = client.get(path).text
        assert ": 12 articles, 3.1 expected" in page
        assert "first article found since the watch began on 2026-11-20" in page
        assert "No spike" not in page
    assert "12 articles" not in client.get(f"/company/Siemens?since={TODAY}").text


def test_rule_for_alerts_is_that_of_the_program(client: TestClient) -> None:
    page = " ".join(client.get("/alerts").text.split())
    for words in (
        f"at least {spike_detection.MIN_ARTICLES} articles",
        {2.0: "at least twice as many"}[spike_detection.FACTOR],
        f"last {spike_detection.HISTORY_DAYS} days",
        f"fewer than 1 of {1 / spike_detection.ALPHA:,.0f} days",
        f"less than {spike_detection.MIN_HISTORY} days of history",
        {0.5: "half of its usual articles"}[MIN_READ],
        {3: "within three days"}[SAME_BURST.days],
        {2.0: "only if it doubles"}[HIGHER],
    ):
        assert words in page
    assert "<code>newscrawl digest --weekly --send</code>" in page
