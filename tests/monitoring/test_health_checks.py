"""Health checks: which incidents a source's past and present give, and which they do not."""

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from newscrawl.monitoring.health_checks import (
    SourceRecord,
    check,
    expected_articles,
    incident_notice,
)
from newscrawl.storage.source_stats import DailySourceStats, FailedListing, ListingHealth
from newscrawl.storage.status import Incident, SourceStatus

MONDAY = date(2026, 11, 23)


def usual(day: date, noise: random.Random | None = None, **other: object) -> DailySourceStats:
    """A day like all others: 40 articles on weekdays, 8 on Sundays, pages as they always are."""
    new = 8 if day.weekday() == 6 else 40
    if noise:
        new = max(0, round(noise.gauss(new, new**0.5)))
    stats = DailySourceStats(
        day=day,
        runs=20,
        new=new,
        fetched=new + 2,
        dropped=2,
        read=new,
        undated=new // 20,
        characters=3000.0 + (noise.gauss(0, 200) if noise else day.day * 10),
        confidence=0.95,
        text_share=0.05 + (noise.gauss(0, 0.004) if noise else day.day / 10_000),
    )
    return replace(stats, **other)  # type: ignore[arg-type]


def record(
    *last: DailySourceStats, weeks: int = 6, failures: int = 0, note: str = ""
) -> SourceRecord:
    """A source with some usual weeks and then the days given."""
    first = MONDAY - timedelta(weeks=weeks)
    days = [usual(first + timedelta(days=n)) for n in range(weeks * 7)]
    last_by_day = {stats.day: stats for stats in last}
    merged = [last_by_day.pop(day.day, day) for day in days] + list(last_by_day.values())
    states = {stats.day: "ok" for stats in merged}
    status = SourceStatus(source="ft", failures=failures, failure_note=note)
    return SourceRecord(status=status, days=merged, coverage=states)


def incidents(source: SourceRecord, today: date = MONDAY) -> dict[str, Incident]:
    return {result.kind: result.incident for result in check(source, today) if result.incident}


def cleared(source: SourceRecord, today: date = MONDAY) -> set[str]:
    return {result.kind for result in check(source, today) if not result.incident}


SUNDAY = MONDAY - timedelta(days=1)
SATURDAY = MONDAY - timedelta(days=2)


def test_usual_day_has_no_incident():
    source = record(usual(MONDAY))
    assert incidents(source) == {}
    assert cleared(source) == {
        "unreachable",
        "blocked",
        "not_crawled",
        "incomplete",
        "missing",
        "stale",
        "layout_changed",
        "drift",
        "quarantined",
    }


def failed(name: str, failures: int, last_read: datetime | None = None) -> FailedListing:
    return FailedListing(url=f"https://ft.example/{name}", failures=failures, last_read=last_read)


def test_lost_feed_is_an_incident_while_another_works():
    read = datetime(2026, 11, 20, tzinfo=UTC)
    listings = ListingHealth(working=1, failed=(failed("a", 2), failed("b", 3, read)))
    source = replace(record(), listings=listings)
    incident = incidents(source)["feed_failed"]
    note = "https://ft.example/b failed 3 times in a row, last read on 2026-11-20"
    assert incident.note == note
    assert incident.facts == {"listings": {"https://ft.example/b": 3}}
    worse = ListingHealth(working=1, failed=(failed("a", 4), failed("b", 3, read)))
    note = incidents(replace(source, listings=worse))["feed_failed"].note
    assert note == (
        "https://ft.example/a failed 4 times in a row, never read before; so did 1 more"
    )


def test_feed_that_failed_twice_is_not_an_incident():
    for listings in (ListingHealth(working=2), ListingHealth(working=1, failed=(failed("a", 2),))):
        assert "feed_failed" in cleared(replace(record(), listings=listings))


def test_lost_feeds_are_not_checked_if_none_works():
    source = replace(record(), listings=ListingHealth(failed=(failed("a", 9),)))
    assert "feed_failed" not in {*incidents(source), *cleared(source)}


def test_expected_articles_depend_on_the_weekday():
    history = record().days
    sunday, monday = expected_articles(history, SUNDAY), expected_articles(history, MONDAY)
    assert (sunday.number, monday.number) == (8, 40)


def test_weekday_as_quiet_as_a_sunday_is_an_incident():
    by_kind = incidents(record(usual(SATURDAY, new=8)), today=SUNDAY)
    assert by_kind["missing"].note == "8 new articles on 2026-11-21, 40 were to be expected"
    assert by_kind["missing"].facts == {"day": "2026-11-21", "found": 8, "expected": 40}


def test_day_of_a_feed_that_rolled_over_is_an_incident_until_another_day():
    usual_record = record(usual(SUNDAY), usual(MONDAY))
    rolled = {**usual_record.coverage, SUNDAY: "incomplete"}
    note = "feed rolled over, up to 8 articles missing"
    status = replace(usual_record.status, coverage_note=note)
    source = replace(usual_record, coverage=rolled, status=status)
    assert incidents(source, today=SUNDAY)["incomplete"].note == note
    assert "incomplete" in cleared(source, today=MONDAY)


def test_short_history_expects_nothing():
    source = record(usual(SUNDAY, new=0), weeks=1)
    assert "missing" not in {result.kind for result in check(source, MONDAY)}


def test_day_of_failed_crawls_is_not_checked_for_its_articles():
    source = record(usual(SUNDAY, new=0, runs=5, failed_runs=5))
    assert "missing" not in {result.kind for result in check(source, MONDAY)}


def test_source_without_new_articles_is_stale():
    quiet = [usual(SATURDAY, new=0), usual(SUNDAY, new=0)]
    incident = incidents(record(*quiet))["stale"]
    assert incident.note == "no new article since 2026-11-20, 48 were to be expected"


def test_source_of_few_articles_may_be_quiet_for_days():
    first = MONDAY - timedelta(weeks=6)
    days = [usual(first + timedelta(days=n), new=n % 3 == 0) for n in range(39)]
    days += [usual(first + timedelta(days=n), new=0) for n in (39, 40, 41)]
    source = SourceRecord(
        status=SourceStatus(source="x"), days=days, coverage={day.day: "ok" for day in days}
    )
    assert "stale" not in incidents(source)


@pytest.mark.parametrize(
    ("changes", "measure", "words"),
    [
        ({"characters": 700.0}, "characters", "length of texts: 700, usually 3,"),
        ({"characters": 9000.0}, "characters", "length of texts: 9,000"),
        ({"text_share": 0.01}, "text_share", "part of the page that is text: 1%, usually 5%"),
        ({"undated": 38}, "undated", "articles without a date: 95%, usually 5%"),
        ({"untitled": 20}, "untitled", "articles without a headline: 50%, usually 0%"),
        ({"dropped": 38}, "dropped", "pages without an article: 49%, usually 5%"),
        ({"confidence": 0.3}, "confidence", "confidence of the extraction: 30%, usually 95%"),
    ],
    ids=["short", "long", "boilerplate", "dates", "titles", "dropped", "confidence"],
)
def test_one_changed_measure_is_drift(changes, measure, words):
    by_kind = incidents(record(usual(MONDAY, **changes)))
    assert set(by_kind) == {"drift"}
    assert words in by_kind["drift"].note
    assert measure in by_kind["drift"].facts


def test_several_changed_measures_are_a_changed_layout():
    by_kind = incidents(record(usual(MONDAY, characters=300.0, undated=40, text_share=0.004)))
    assert set(by_kind) == {"layout_changed"}
    assert by_kind["layout_changed"].note.count(";") == 2


def test_few_pages_are_not_checked():
    results = check(record(usual(MONDAY, read=4, dropped=3, characters=300.0)), MONDAY)
    drift = [result for result in results if result.kind == "drift"]
    assert [result.incident for result in drift] == [None]  # judged by yesterday


def test_source_that_can_not_be_read_is_not_called_stale():
    down = [usual(day, new=0, runs=20, failed_runs=20) for day in (SATURDAY, SUNDAY)]
    opened = incidents(record(*down, failures=40, note="HTTP 500 from feed.xml"))
    assert set(opened) == {"unreachable"}


def test_crawls_that_fail_since_pages_are_refused_are_one_incident():
    refused = record(usual(MONDAY, refused=60), failures=3, note="HTTP 403 from all article pages")
    assert set(incidents(refused)) == {"blocked"}
    assert "unreachable" not in cleared(refused)


def test_refused_pages_are_a_block():
    by_kind = incidents(record(usual(MONDAY, refused=60)))
    assert by_kind["blocked"].note == "59% of the pages are refused, usually 0%"


def test_source_closed_by_robots_txt_is_a_block():
    source = record(usual(MONDAY))
    closed = replace(source, coverage={**source.coverage, MONDAY: "blocked_by_robots"})
    assert set(incidents(closed)) == {"blocked"}


@pytest.mark.parametrize(
    ("failures", "opened", "cleared_too"),
    [(0, False, True), (2, False, False), (3, True, False), (9, True, False)],
)
def test_crawls_that_fail_in_a_row_are_an_incident(failures, opened, cleared_too):
    source = record(usual(MONDAY), failures=failures, note="no feed could be read")
    assert ("unreachable" in incidents(source)) is opened
    assert ("unreachable" in cleared(source)) is cleared_too


def test_source_not_crawled_since_saturday_is_an_incident():
    source = record()
    days = {day: state for day, state in source.coverage.items() if day < SUNDAY}
    by_kind = incidents(replace(source, coverage=days))
    assert by_kind["not_crawled"].note == "no crawl has ended since 2026-11-21"


def test_new_source_has_no_incident():
    new = SourceRecord(
        status=SourceStatus(source="x"), days=[usual(MONDAY)], coverage={MONDAY: "ok"}
    )
    assert incidents(new) == {}


def test_chance_alone_seldom_opens_an_incident():
    noise = random.Random(7)  # noqa: S311 - a test's dice
    first, alarms, judged = MONDAY - timedelta(weeks=60), 0, 0
    days = [usual(first + timedelta(days=n), noise) for n in range(60 * 7)]
    for number in range(56, len(days)):
        today = days[number].day
        history = days[number - 56 : number + 1]
        source = SourceRecord(
            status=SourceStatus(source="x"),
            days=history,
            coverage={stats.day: "ok" for stats in history},
        )
        alarms += len(incidents(source, today))
        judged += 1
    assert judged == 364
    assert alarms <= 1


@given(
    st.lists(
        st.builds(
            DailySourceStats,
            day=st.dates(MONDAY - timedelta(days=30), MONDAY),
            runs=st.integers(0, 5),
            failed_runs=st.integers(0, 5),
            new=st.integers(0, 10**6),
            fetched=st.integers(0, 10**6),
            refused=st.integers(0, 10**6),
            dropped=st.integers(0, 10**6),
            read=st.integers(0, 10**6),
            undated=st.integers(0, 10**6),
            untitled=st.integers(0, 10**6),
            characters=st.none() | st.floats(0, 10**7),
            confidence=st.none() | st.floats(0, 1),
            text_share=st.none() | st.floats(0, 1),
        ),
        max_size=40,
        unique_by=lambda stats: stats.day,
    ),
    st.integers(0, 10),
)
def test_random_history_can_be_checked(days, failures):
    ordered = sorted(days, key=lambda stats: stats.day)
    source = SourceRecord(
        status=SourceStatus(source="x", failures=failures),
        days=ordered,
        coverage={day.day: "ok" for day in days},
    )
    kinds = [stats.kind for stats in check(source, MONDAY)]
    assert len(kinds) == len(set(kinds))


def test_incident_that_a_wrong_clock_opened_lasts_no_negative_time():
    noon = datetime(2026, 11, 23, 12, tzinfo=UTC)
    opened = Incident(
        kind="stale",
        source="ft",
        note="nothing new",
        opened_at=noon + timedelta(days=3),
        recovered_at=noon,
    )
    assert incident_notice([opened], over=True).text.startswith("It lasted 0.0 hours.")
