"""Inspections of real runs: each incident is delivered once, and its end once."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest
from sqlalchemy import select, update

from newscrawl.items import Origin
from newscrawl.monitoring.delivery import Channel, LogChannel
from newscrawl.monitoring.health_checks import MIN_FAILURES, CheckResult, Inspector, group_incidents
from newscrawl.storage import Database, models
from newscrawl.storage.frontier.listings import Reading, Schedule
from newscrawl.storage.frontier.queue import open_frontier
from newscrawl.storage.leases import Leases, LeaseTerms
from newscrawl.storage.models import Run
from newscrawl.storage.source_stats import (
    ListingHealth,
    daily_source_stats,
    listing_health,
    refresh_source_stats,
)
from newscrawl.storage.status import Incident, SourceStatus, claim_unreported, record_incidents
from tests.worlds import document, register, save_documents

# All inspections are as of this moment, however late the tests get to them.
NOW = datetime.now(UTC)
TODAY = datetime.combine(NOW.date(), time(), UTC)
TERMS = LeaseTerms(length=timedelta(minutes=2), min_pause=timedelta(0))
COUNTS = {
    "newscrawl/articles_new": 40,
    "newscrawl/pages_fetched": 42,
    "newscrawl/listings_read": 1,
    "newscrawl/pages_failed": 3,
    "newscrawl/pages_failed/HTTP 403": 1,
    "newscrawl/pages_failed/timeout": 2,
    "item_dropped_reasons_count/NotAnArticle": 1,
    "item_dropped_reasons_count/TooShort": 1,
    "item_dropped_reasons_count/TooOld": 9,
    "newscrawl/extraction/articles": 40,
    "newscrawl/extraction/undated": 2,
    "newscrawl/extraction/untitled": 0,
    "newscrawl/extraction/median_characters": 3000,
    "newscrawl/extraction/median_confidence": 950,
    "newscrawl/extraction/page_characters": 4_000_000,
    "newscrawl/extraction/text_characters": 120_000,
}


def ran(database: Database, slug: str, days_ago: int, **counts: int) -> None:
    """A run of that day with the usual counts, less those given."""
    run = database.start_run(slug)
    own_counts = {f"newscrawl/{name.replace('__', '/')}": value for name, value in counts.items()}
    database.finish_run(run, "finished", {**COUNTS, **own_counts})
    moment = TODAY - timedelta(days=days_ago)
    times = {"started_at": moment, "finished_at": moment if days_ago else NOW}
    database.write(lambda session: session.execute(update(Run).where(Run.id == run).values(times)))
    database.record_coverage(slug, moment.date(), "ok", 40, 40)


def registered(database: Database, *slugs: str) -> Leases:
    leases = Leases(database, "here", TERMS)
    leases.register([Origin(slug, slug, "gb", "en", "https://x.example/") for slug in slugs])
    return leases


def fail(leases: Leases, slug: str, times: int) -> None:
    for _ in range(times):
        leases.take(slug)
        leases.release(slug, "failed", 1, "no feed could be read")


def inspector(database: Database, slugs: Collection[str], channels: Sequence[Channel]) -> Inspector:
    return Inspector(database, slugs, channels, clock=lambda: NOW)


def incidents(database: Database) -> list[models.Incident]:
    with database.reading() as session:
        return list(session.scalars(select(models.Incident).order_by(models.Incident.id)))


# Vitals ------------------------------------------------------------------------------------------


def test_runs_of_a_day_are_summed(database):
    registered(database, "ft")
    ran(database, "ft", 1)
    ran(
        database,
        "ft",
        1,
        articles_new=2,
        extraction__articles=10,
        extraction__median_characters=500,
    )
    assert refresh_source_stats(database, NOW) == 1
    (day,) = daily_source_stats(database, TODAY.date() - timedelta(days=7))["ft"]
    assert (day.runs, day.failed_runs, day.new, day.read) == (2, 0, 42, 50)
    assert (day.failed, day.refused, day.dropped) == (6, 2, 4)
    assert day.characters == 3000  # the median, by pages
    assert day.confidence == 0.95
    assert day.text_share == pytest.approx(0.03)


def test_summing_runs_again_changes_nothing(database):
    registered(database, "ft")
    ran(database, "ft", 0)
    now = NOW
    refresh_source_stats(database, now)
    before = daily_source_stats(database, TODAY.date() - timedelta(days=7))
    assert refresh_source_stats(database, now) == 1
    assert daily_source_stats(database, TODAY.date() - timedelta(days=7)) == before


def test_only_sources_with_new_runs_are_summed_again(database):
    registered(database, "ft", "bbc")
    ran(database, "ft", 0)
    ran(database, "bbc", 1)
    refresh_source_stats(database, NOW)
    assert refresh_source_stats(database, NOW, ended_after=TODAY) == 1


def test_runs_are_summed_after_a_clock_that_was_days_fast(database):
    registered(database, "ft")
    moments = iter([NOW + timedelta(days=3), NOW])
    inspect = Inspector(database, ["ft"], (), clock=lambda: next(moments))
    ran(database, "ft", -3)
    inspect()
    ran(database, "ft", 0)
    inspect()
    days = daily_source_stats(database, TODAY.date() - timedelta(days=7))["ft"]
    assert [day.new for day in days if day.day == TODAY.date()] == [40]


def test_killed_run_counts_as_failed(database):
    registered(database, "ft")
    database.start_run("ft")
    refresh_source_stats(database, NOW + timedelta(hours=7))
    (day,) = daily_source_stats(database, TODAY.date() - timedelta(days=7))["ft"]
    assert (day.runs, day.failed_runs) == (1, 1)


# Feeds -------------------------------------------------------------------------------------------

SCHEDULE = Schedule(
    revisits=(), retries=(), poll_min=timedelta(minutes=10), poll_max=timedelta(hours=6)
)


def reading() -> Reading:
    return Reading(
        etag=None,
        last_modified=None,
        body_hash="0" * 64,
        skipped_before=None,
        entry_count=1,
        fresh=1,
        newest_at=None,
        interval=None,
    )


def test_lost_feed_and_its_return_are_delivered(database, hook, hooking):
    registered(database, "ft")
    ran(database, "ft", 0)
    run = database.start_run("ft")
    frontier = replace(open_frontier(database, "ft", run, SCHEDULE), clock=lambda: NOW)
    lost, good = frontier.listings(["https://ft.example/lost", "https://ft.example/good"])
    child, _ = frontier.listings(["https://ft.example/1", "https://ft.example/2"], good.id)
    frontier.record_reading(good.id, reading())
    inspect = inspector(database, ["ft"], [hooking])
    for failures in range(1, MIN_FAILURES + 1):
        frontier.record_failure(lost.id)
        frontier.record_failure(child.id)
        inspect()
        assert len(incidents(database)) == (failures >= MIN_FAILURES)
    (incident,) = incidents(database)
    assert incident.kind == "feed_failed"
    assert incident.note == "https://ft.example/lost failed 3 times in a row, never read before"
    ((_, notice),) = hook.taken
    assert b"ft has lost a feed or sitemap" in notice
    frontier.record_reading(lost.id, reading())
    inspect()
    (incident,) = incidents(database)
    assert incident.recovered_at is not None
    assert len(hook.taken) == 2


def test_feed_removed_from_the_registry_is_not_checked(database):
    registered(database, "ft")
    run = database.start_run("ft")
    frontier = replace(open_frontier(database, "ft", run, SCHEDULE), clock=lambda: NOW)
    old, good = frontier.listings(["https://ft.example/old", "https://ft.example/good"])
    frontier.record_reading(good.id, reading())
    long_ago = replace(frontier, clock=lambda: NOW - timedelta(days=9))
    for _ in range(MIN_FAILURES):
        long_ago.record_failure(old.id)
    assert listing_health(database, NOW) == {"ft": ListingHealth(working=1)}


# Incidents ----------------------------------------------------------------------------------------


def test_changed_layout_is_delivered(database, hook, hooking):
    registered(database, "ft")
    for days_ago in range(1, 20):
        ran(database, "ft", days_ago)
    inspect = inspector(database, ["ft"], [hooking])
    inspect()
    assert hook.notices == []
    ran(database, "ft", 0, extraction__median_characters=200, extraction__undated=40)
    inspect()
    (notice,) = hook.notices
    assert notice["subject"] == "ft has changed its pages"
    assert notice["cause"] == "ft/layout_changed"
    assert "length of texts: 200, usually 3,000" in notice["text"]
    (facts,) = notice["facts"]["incidents"]
    assert facts["characters"] == {"now": 200.0, "before": 3000.0}


def test_incident_and_its_end_are_delivered_once(database, hook, hooking, inbox, mailing):
    leases = registered(database, "ft")
    inspect = inspector(database, ["ft"], [LogChannel(), mailing, hooking])
    fail(leases, "ft", 3)
    inspect()
    fail(leases, "ft", 1)
    inspect()
    assert [notice["event"] for notice in hook.notices] == ["opened"]
    leases.take("ft")
    leases.release("ft", "done", 0, "")
    ran(database, "ft", 0)
    inspect()
    inspect()
    assert [(notice["event"], notice["cause"]) for notice in hook.notices] == [
        ("opened", "ft/unreachable"),
        ("recovered", "ft/unreachable"),
    ]
    assert [message["Subject"] for message in inbox.messages] == [
        "ft can't be crawled",
        "ft can be crawled again",
    ]
    (incident,) = incidents(database)
    assert incident.recovered_at is not None


def test_incident_that_comes_back_is_delivered_again(database, hook, hooking):
    leases = registered(database, "ft")
    inspect = inspector(database, ["ft"], [hooking])
    for _ in range(2):
        fail(leases, "ft", 3)
        inspect()
        leases.take("ft")
        leases.release("ft", "done", 0, "")
        ran(database, "ft", 0)
        inspect()
    assert [notice["event"] for notice in hook.notices] == ["opened", "recovered"] * 2


def test_undelivered_incident_is_delivered_later(database, hook, hooking, caplog):
    leases = registered(database, "ft")
    fail(leases, "ft", 3)
    hook.answers = [500]
    inspect = inspector(database, ["ft"], [LogChannel(), hooking])
    with caplog.at_level(logging.ERROR):
        inspect()
    assert "No notice by webhook (127.0.0.1): the server answered 500" in caplog.text
    inspect()
    inspect()
    assert len(hook.notices) == 2  # the one refused, and the one taken


@pytest.mark.parametrize(
    ("failing", "sources", "cause", "subject", "text"),
    [
        (6, 8, "watch/unreachable", "", "6 of 8 sources at once"),
        (7, 20, None, "7 sources: can't be crawled", "s00"),
    ],
    ids=["most sources", "many sources"],
)
def test_incidents_of_many_sources_are_one_notice(
    database, hook, hooking, failing, sources, cause, subject, text
):
    slugs = [f"s{number:02}" for number in range(sources)]
    leases = registered(database, *slugs)
    for slug in slugs[:failing]:
        fail(leases, slug, 3)
    for slug in slugs:
        ran(database, slug, 0)
    inspector(database, slugs, [hooking])()
    (notice,) = hook.notices
    if cause:
        assert notice["cause"] == cause
    else:
        assert notice["subject"] == subject
        assert notice["text"].count("\n") == failing
    assert text in notice["text"]


def test_incident_is_claimed_once(database):
    registered(database, "ft")
    incident = Incident(kind="stale", source="ft", note="nothing new")
    record_incidents(database, [incident], set())
    record_incidents(database, [incident], set())
    first, second = claim_unreported(database), claim_unreported(database)
    assert [incident.cause for incident in first[0]] == ["ft/stale"]
    assert second == ([], [])


def test_closed_incident_is_not_delivered(database):
    registered(database, "ft")
    record_incidents(database, [Incident(kind="stale", source="ft", note="x")], set())
    record_incidents(database, [], {"ft/stale"})
    assert claim_unreported(database) == ([], [])


def test_incident_that_is_not_checked_stays_open(database):
    registered(database, "ft")
    record_incidents(database, [Incident(kind="stale", source="ft", note="x")], set())
    record_incidents(database, [], {"ft/missing"})
    (incident,) = incidents(database)
    assert incident.recovered_at is None


def test_late_sources_are_an_incident_of_the_monitor():
    late = [SourceStatus(source=f"s{n}", late=n < 6) for n in range(20)]
    incidents, _ = group_incidents([], [one.source for one in late], late)
    assert [(incident.cause, incident.facts) for incident in incidents] == [
        ("watch/behind", {"late": 6, "of": 20})
    ]


def test_incident_of_a_monitor_that_caught_up_is_closed():
    _, cleared = group_incidents([CheckResult("a", "stale")], ["a"], [SourceStatus(source="a")])
    assert cleared == {"a/stale", "watch/stale", "watch/behind"}


def test_quarantined_articles_are_an_incident_on_the_first_day(database, hook, hooking):
    run = register(database)
    database.finish_run(run, "finished", COUNTS)
    text = " ".join(f"Quay {place} of the harbour was closed." for place in range(40))
    articles = [document(path, text=f"{path} {text}") for path in "abcdef"]
    # Of different words: pages that show one text instead of their articles count as gone.
    broken = {
        path: document(path, text=" ".join([path * 4, path * 5, path * 6])) for path in "abcdef"
    }
    save_documents(database, articles, run)
    inspect = inspector(database, ["ft"], [hooking])
    save_documents(database, [broken[path] for path in "abcd"], run)
    inspect()
    assert hook.notices == []
    save_documents(database, [broken[path] for path in "cdef"], run)
    inspect()
    (notice,) = hook.notices
    assert notice["cause"] == "ft/quarantined"
    assert "6 articles would have become worse" in notice["text"]
    save_documents(database, articles, run)
    inspect()
    assert [notice["event"] for notice in hook.notices] == ["opened", "recovered"]
