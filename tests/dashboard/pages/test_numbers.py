"""What the pages say of numbers, changes and gaps."""

import re
from datetime import timedelta
from html import unescape
from itertools import product

import pytest
from scipy.stats import binomtest
from sqlalchemy import delete, update
from starlette.testclient import TestClient

from newscrawl.answers.chart import MAX_PARTS
from newscrawl.dashboard.pages.registry import folded
from newscrawl.monitoring import alerts
from newscrawl.monitoring.alerts import HIGHER, MIN_READ, SAME_BURST
from newscrawl.storage import queries
from newscrawl.storage.company_alerts import CompanyAlert, record_alerts, watch_company
from newscrawl.storage.models import Coverage, WatchedCompany
from newscrawl.storage.saved_queries import add_query, count_history
from newscrawl.storage.status import Incident, record_incidents
from tests.dashboards import NOW, TODAY, save_past as save, send_notices
from tests.worlds import body, headline


def row_of_siemens(client: TestClient, *, days: int) -> str:
    """The row of Siemens on the overview."""
    page = client.get(f"/?days={days}").text
    return page.split('href="/company/Siemens')[1].split("</tr>")[0]


def test_stories_are_counted_in_a_tile(database, client):
    for back in (0, 1):
        save(database, back, headline("Siemens"))
    number = len(queries.stories(database, company="Siemens"))
    text = client.get("/company/Siemens?count=stories").text
    name = "story" if number == 1 else "stories"
    tile = text.split(f"<dt>{name}</dt>")[1].split("</dd>")[0]
    assert f">{number}</a>" in tile
    assert "counted=stories" in tile
    assert f"<dt>{name}</dt>" not in client.get("/company/Siemens").text


def test_chart_says_how_many_sources_it_does_not_draw(database, client):
    for number in range(MAX_PARTS + 2):
        save(database, 1, headline("Siemens"), source=f"paper-{number}")
    address = "/company/Siemens?split=source"
    assert "2 more not drawn." in (client.get(f"{address}&count=stories").text)
    assert "more are not." not in client.get(address).text


def test_empty_database_shows_what_to_do(client):
    answer = client.get("/")
    assert answer.status_code == 200
    assert "scrapy crawl ft" in answer.text


def test_period_before_the_first_crawl_leads_to_the_days_from_it_on(client, database):
    save(database, 40, headline("Siemens"))
    until = TODAY - timedelta(days=60)
    page = client.get(f"/?since={until}&until={until}&order=change").text
    assert "scrapy crawl" not in page
    (address,) = re.findall(r'<a href="([^"]+)">the days from then on</a>', page)
    assert f"since={TODAY - timedelta(days=40)}" in address
    assert '<a href="/company/Siemens' in client.get(unescape(address)).text


def test_overview_compares_with_the_period_before(client, database):
    for back in (0, 1, 2, 8):
        save(database, back, headline("Siemens"))
    row = row_of_siemens(client, days=7)
    assert re.search(r'<td class="n strong"><a [^>]+>3</a></td>', row)
    assert "1 → 3" in row
    assert "200%" not in row


def test_change_of_larger_numbers_is_in_percent_of_the_share(client, database):
    for back in range(60):
        save(database, back, headline("Shell"))
    for back in (*range(20), *range(30, 40)):
        save(database, back, headline("Siemens"))
    # 20 of 50 articles after 10 of 40.
    row = row_of_siemens(client, days=30)
    assert "▲" in row
    assert "</span> 60%</span>" in row


def test_number_that_rises_while_its_share_falls_is_drawn_as_a_fall(client, database):
    for name in ("Shell", "Nokia", "Bosch"):
        for back in range(30):
            save(database, back, headline(name))
    for back in (*range(15), *range(30, 42)):
        save(database, back, headline("Siemens"))
    row = row_of_siemens(client, days=30)
    assert 'class="change down"' in row
    assert "▼" in row
    assert "clear</span>" in client.get("/company/Siemens?days=30").text


def test_companies_that_fell_silent_are_listed_with_what_they_had(database, client):
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


def test_sources_that_name_a_company_for_the_first_time_are_named(database, client):
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


def test_shares_are_compared_with_those_before(database, client):
    for name, backs in {"Siemens": (8, 9, 10, 1), "Bosch": (8, 1, 2)}.items():
        for back in backs:
            save(database, back, body(name))
    page = client.get("/compare?days=7&company=Siemens&company=Bosch").text
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', page, re.DOTALL)
    shown = [re.findall(r">(\d+%)<", row) for row in rows]
    assert shown == [["33%", "75%"], ["67%", "25%"]]
    (proof,) = re.findall(r'href="([^"]+)" title="Before: 3"', page)
    assert "3 articles name Siemens" in client.get(unescape(proof)).text


def test_period_of_the_first_weeks_begins_with_the_first_crawl(client, database):
    for back in (0, 4):
        save(database, back, headline("Siemens"), body("Bosch", 8))
    first = (TODAY - timedelta(days=4)).strftime("%b %Y")
    for path in ("/?", "/company/Siemens?", "/compare?company=Siemens&company=Bosch&"):
        page = client.get(f"{path}days=30").text
        content = page[page.index("<main") :]
        assert f"{(TODAY - timedelta(days=4)).day} {first} to" in content
        assert content.count("<span>no previous period yet</span>") == 1
        # Nothing stands where there is nothing to compare with.
        table = content.partition("<tbody>")[2].partition("</table>")[0]
        assert "–" not in table
        assert "can't be compared" not in content


def test_articles_listed_at_the_first_crawl_count_but_are_no_period_before(client, database):
    """A first crawl finds articles of days that nobody read: these are no days to compare with."""
    for back, companies in ((2, ("Siemens", "Bosch")), (1, ("Siemens",)), (0, ("Siemens",))):
        save(database, back, *(body(name) for name in companies))
    unread = delete(Coverage).where(Coverage.day < TODAY)
    database.write(lambda session: session.execute(unread))
    asked = client.get("/api/overview").json()
    assert [(row["company"], row["hits"]["articles"]) for row in asked["companies"]] == [
        ("Siemens", 3),
        ("Bosch", 1),
    ]
    first = TODAY - timedelta(days=2)
    for days in (30, 365):
        page = client.get(f"/?days={days}").text
        content = page[page.index("<main") :]
        assert f"{first.day} {first:%b %Y} to" in content
        siemens = content.split('href="/company/Siemens')[1].split("</tr>")[0]
        assert ">3</a>" in siemens
    for path in ("/?", "/company/Siemens?", "/company/Airbus?", "/compare?company=Siemens&"):
        for period in ("days=30", f"since={TODAY}"):
            page = client.get(f"{path}{period}").text
            content = page[page.index("<main") :]
            for comparison in ("may be chance", "before <", "before 0", ">Before<", " → "):
                assert comparison not in content, (path, period)
            assert "No previous period yet" in content
            assert "No article was read on" not in content  # one was, later on


def test_no_company_falls_silent_where_nothing_was_read_before(database, client):
    save(database, 1, body("Siemens"))
    page = client.get("/?days=7&order=fewer").text
    assert "No article was read before: there is nothing to compare." in page


def test_gap_without_a_shorter_period_has_no_link(client, database):
    for back in (0, 100):
        save(database, back, body("Siemens"), body("Bosch"))
    for path in ("/company/Siemens?days=30", "/compare?days=30&company=Siemens&company=Bosch"):
        note = client.get(path).text.split('class="notice gap">')[1].split("</p>")[0]
        assert unescape(note) == (
            "<strong>No previous period yet.</strong> No article was read in the 30 days before."
        )


def test_gap_of_a_saved_query_is_named_apart(client, database):
    for back in range(20):
        save(database, back, body("Siemens"), source="ft" if back > 4 else "new")
    add_query(database, "new paper", "Siemens source:new", "ann")
    count_history(database, "new paper")
    note = client.get("/compare?days=7&company=Siemens&company=new+paper").text
    note = note.split('class="notice gap">')[1].split("</p>")[0]
    said = unescape(note)
    assert said.startswith("<strong>No previous period yet for new paper.</strong> Data starts ")
    (link,) = re.findall(r'href="([^"]+)">Compare ', said)
    assert "days=2" in link


def test_days_before_that_were_not_read_are_named_beside_the_change(client, database):
    save(database, 0, headline("Siemens"))
    save(database, 8, headline("Siemens"))
    advice = "Compare shares, not numbers"
    for path in ("/?days=7", "/company/Siemens?days=7"):
        assert advice in client.get(path).text


@pytest.mark.parametrize(
    ("now", "before", "colour", "chance"),
    [
        (15, 13, "even", 'p\u00a0=\u00a00\\.\\d\\d?">may be chance<'),
        (5, 30, "down", 'p\u00a0=\u00a00\\.00\\d+">clear<'),
    ],
    ids=["few more", "far fewer"],
)
def test_change_that_may_be_chance_is_grey(client, database, now, before, colour, chance):
    for back in range(60):
        save(database, back, headline("Shell"))
    for back in (*range(now), *range(30, 30 + before)):
        save(database, back, headline("Siemens"))
    row = row_of_siemens(client, days=30)
    assert f'class="change {colour}"' in row
    assert re.search(chance, row)
    ordered = client.get("/?days=30&order=change").text
    assert ("No clear change." in ordered) == (colour == "even")


def test_company_without_articles_in_both_periods_is_not_compared(client, database):
    save(database, 60, headline("Siemens"))
    for back in (0, 40):
        save(database, back, headline("Shell"))
    for path in ("/company/Siemens?days=30", "/compare?days=30&company=Siemens&company=Shell"):
        page = client.get(path).text
        assert "before" in page
        assert ">may be chance<" not in page.partition("Shell</a>")[0]


def test_grey_change_of_share_is_named_where_numbers_are_equal(client, database):
    for back in (*range(20), *range(30, 60)):
        save(database, back, headline("Shell"))
    for back in (*range(10), *range(30, 40)):
        save(database, back, headline("Siemens"))
    row = row_of_siemens(client, days=30)
    assert "33%" in row
    assert "may be chance</span>" in row


def test_company_page_names_the_days_with_most_articles(client, database):
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


def test_comparison_of_two_says_whether_their_difference_may_be_chance(client, database):
    for back in range(20):
        save(database, back, headline("Siemens"), headline("Nokia") if back < 15 else body("Bosch"))
    save(database, 0, headline("BMW"))
    said = {}
    for other in ("BMW", "Nokia", "Nobody", "Siemens", "Nokia&company=BMW"):
        text = client.get(f"/compare?company={other}&company=Siemens").text
        line = re.search(r'<p id="difference" title="(.+?)">(.+?)</p>', text)
        said[other] = (unescape(line[1]), line[2]) if line else None
    larger = "Siemens has a clearly larger share than BMW"
    assert said.pop("BMW") == ("p\u00a0<\u00a00.001", larger)
    chance = f"{binomtest(15, 35).pvalue:.2g}"
    assert said.pop("Nokia") == (f"p\u00a0=\u00a0{chance}", "No significant difference")
    assert set(said.values()) == {None}


def test_articles_missing_on_days_not_read_are_estimated_by_source(client, database):
    for back in (0, 1, 2, 5):
        save(database, back, headline("Siemens"))
    for back in (0, 5):
        save(database, back, headline("Siemens"), source="bbc")
    # The FT misses 2 of 6 days with an article on each of the others, the BBC 4 with one on each.
    text = client.get("/company/Siemens?days=6").text
    assert "Estimate: about 6 more articles." in text
    assert "2 sources missed 6 days (about 6 articles)" in text
    text = client.get("/company/Siemens?days=6&source=ft").text
    assert "Estimate: about 2 more articles." in text
    assert "Estimate:" not in client.get("/company/Siemens?days=3&source=ft").text
    assert "Estimate:" not in client.get("/?days=6").text
    for back in range(6, 11):
        save(database, back, headline("Bosch"))
    save(database, 11, headline("Nestlé"))
    # An article on one of 10 days, of 12.
    text = client.get("/company/Nestl%C3%A9?days=12").text
    assert "Estimate: less than 1 more article." in text


def test_sources_not_read_are_those_with_articles_of_the_company_or_query(client, database):
    for back in (0, 1, 2, 5):
        save(database, back, headline("Siemens"))
    for back in range(6):
        save(database, back, headline("Bosch"), source="bbc")
    save(database, 5, headline("Alstom"), source="taz")
    for name, text in (("engines", "Siemens"), ("drills", "Bosch")):
        add_query(database, name, text, "ann")
        count_history(database, name)
    # The FT misses 2 of 6 days, the taz 5; only the FT has Siemens, neither of them has Bosch.
    for name in ("Siemens", "engines"):
        text = client.get(f"/company/{name}?days=6").text
        notice = text[text.index(" of source-days read.") :].partition("</p>")[0]
        assert "<bdi>FT</bdi> on 2 days" in notice
        assert "TAZ" not in notice
        assert "; other sources on 5 days. Estimate: about 2 more articles." in notice
    for name in ("Bosch", "drills"):
        text = client.get(f"/company/{name}?days=6").text
        assert "<bdi>TAZ</bdi> on 5 days" in text
        assert "other sources on" not in text
        assert "these sources had no such article." in text
        assert "Estimate:" not in text


def test_day_without_a_crawl_is_a_gap(client, database):
    save(database, 4, headline("Siemens"))
    save(database, 0, headline("Siemens"))
    text = client.get(f"/company/Siemens?since={TODAY - timedelta(days=6)}").text
    cells = text.split("<tbody>")[1].split("</tbody>")[0].split("<tr")[1:]
    assert len(cells) == 7
    assert ["no data" in cell for cell in cells] == [True, True, False, True, True, True, False]


def test_failing_source_is_shown_on_the_first_page(client, database):
    save(database, 3, headline("Siemens"))
    for back in (2, 1, 0):
        database.record_coverage("ft", TODAY - timedelta(days=back), "failed", 0, 0, note="timeout")
    text = client.get("/").text
    assert "1 source not read now" in text
    assert "failed, timeout" in text
    assert re.search(r'<a href="/\?source=ft">its companies</a>', text)


def test_source_that_is_read_again_after_a_gap_is_not_called_unread(client, database):
    save(database, 3, headline("Siemens"))
    note = "feed rolled over, up to 9 articles missing since 2026-11-20 06:00 UTC"
    database.record_coverage("ft", TODAY - timedelta(days=1), "failed", 0, 0, note="timeout")
    database.record_coverage("ft", TODAY, "incomplete", 12, 12, note=note)
    text = client.get("/").text
    assert "not read now" not in text
    assert note in text


def test_missing_crawl_of_today_is_not_a_failure(client, database):
    save(database, 1, headline("Siemens"))
    assert "not read now" not in client.get("/").text


def test_sources_are_searched_sorted_and_divided_into_pages(client, database):
    for number in range(43):
        save(database, number % 3, headline("Siemens"), source=f"paper-{number:02}")

    def sources(query: str) -> list[str]:
        return re.findall(r"<bdi>PAPER-(\d+)</bdi></a></th>", client.get(f"/sources?{query}").text)

    assert len(sources("order=name")) == 40
    assert sources("order=name&page=2") == ["40", "41", "42"]
    assert sources("q=-07") == ["07"]
    assert sources("q=paper-1&state=blocked") == []
    assert sources("order=unread&days=3")[0] == "02"


def test_registry_is_sorted_searched_in_plain_letters_and_divided_into_pages(client, database):
    save(database, 0, headline("Siemens"), headline("Zoetis"))
    save(database, 1, headline("Siemens"))

    def names(address: str) -> list[str]:
        found = client.get(f"/registry{address}").text.partition('id="found"')[2]
        return [unescape(name).strip() for name in re.findall(r"<li>([^<]+)", found)]

    first, second = names(""), names("?page=2")
    assert len(first) == len(second) == 60
    assert first == sorted(first, key=folded)
    assert folded(first[-1]) <= folded(second[0])
    assert names("?order=articles")[:2] == ["Siemens", "Zoetis"]
    assert "Maersk" in " ".join(names("?q=mærsk"))
    assert "/registry/stop" not in client.get("/registry").text


def test_open_incidents_are_shown_above_the_sources(client, database):
    save(database, 1, headline("Siemens"))
    record_incidents(
        database, [Incident(source="ft", kind="silent", note="nothing for two days")], ()
    )
    text = client.get("/sources").text
    assert "1 open incident" in text
    assert "FT: silent, nothing for two days" in text


def test_older_articles_are_on_the_next_page(client, database):
    for back in range(15):
        save(database, back, headline("Siemens"))
    first = client.get("/company/Siemens").text
    assert 'href="/company/Siemens?page=2"' in first
    second = client.get("/company/Siemens?page=2").text
    assert second.count('class="line"') == 3
    assert "on day 14" in second
    assert "page=3" not in second


@pytest.mark.parametrize("by", ["day", "week", "month"])
def test_every_way_of_counting_has_a_chart(client, database, by):
    save(database, 1, headline("Siemens"), body("Siemens"))
    splits = ("whole", "source", "language", "country")
    for count, split in product(("articles", "mentions", "stories"), splits):
        answer = client.get(f"/company/Siemens?count={count}&split={split}&by={by}")
        assert answer.status_code == 200, (count, split)
        # The stories of two sources overlap, so their bars are not stacked.
        kind = "lines" if count == "stories" and split != "whole" else "bars"
        assert f'data-chart="{kind}"' in answer.text, (count, split)


def test_small_parts_are_summed_up_as_others(client, database):
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


def test_alerts_say_who_gets_what_and_what_was_sent(client, database):
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


def test_company_page_says_whether_there_was_a_spike(client, database):
    save(database, 1, headline("Siemens"))
    page = client.get("/company/Siemens").text
    assert "Siemens is not watched" in page
    assert ">Watch Siemens</button>" in page
    watch_company(database, "Siemens")
    # The pages are asked at NOW; the database's own clock may have passed midnight since.
    database.write(lambda session: session.execute(update(WatchedCompany).values(added_at=NOW)))
    page = client.get("/company/Siemens").text
    assert f"No spike since {TODAY.day} " in page
    assert "Spike: 5+ articles" in page
    week_ago = TODAY - timedelta(days=7)
    earlier = client.get(f"/company/Siemens?since={week_ago}&until={week_ago}").text
    assert ", after this period." in earlier
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
        assert f">12 articles on {yesterday}, 3 expected</a>" in page
        assert "first article since you started watching" in page
        assert "No spike" not in page
    assert "12 articles" not in client.get(f"/company/Siemens?since={TODAY}").text


def test_rule_for_alerts_is_that_of_the_program(client):
    page = " ".join(client.get("/alerts").text.split())
    for words in (
        f"Spike: {alerts.MIN_ARTICLES}+ articles",
        {2.0: "at least twice as many"}[alerts.FACTOR],
        f"last {alerts.HISTORY_DAYS} days",
        f"fewer than 1 of {1 / alerts.ALPHA:,.0f} days",
        f"from {alerts.MIN_HISTORY} days of history",
        {0.5: "half of its usual articles"}[MIN_READ],
        {3: "within three days"}[SAME_BURST.days],
        {2.0: "only if it doubles"}[HIGHER],
    ):
        assert words in page
