"""The health of a source: one function decides it, and every surface shows the same."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from starlette.testclient import TestClient

from newscrawl.dashboard import create_app
from newscrawl.items import Origin
from newscrawl.storage import Database, open_database
from newscrawl.storage.frontier.listings import Schedule
from newscrawl.storage.frontier.queue import open_frontier
from newscrawl.storage.leases import Leases, LeaseTerms
from newscrawl.storage.status import Health, Incident, IncidentKind, record_incidents, watch_status
from tests.dashboards import config_of
from tests.worlds import empty

NOW = datetime.now(UTC)
SCHEDULE = Schedule(
    revisits=(), retries=(), poll_min=timedelta(minutes=1), poll_max=timedelta(hours=1)
)
# Each source is named for what happened to it.
INCIDENTS: dict[IncidentKind, Health] = {
    "unreachable": Health.FAILING,
    "blocked": Health.BLOCKED,
    "stale": Health.STALE,
    "feed_failed": Health.DEGRADED,
    "incomplete": Health.DEGRADED,
    "missing": Health.DEGRADED,
    "layout_changed": Health.DEGRADED,
    "drift": Health.DEGRADED,
    "quarantined": Health.DEGRADED,
    "not_crawled": Health.LATE,
}
COVERAGE = {
    "ok": Health.HEALTHY,
    "paywalled": Health.HEALTHY,
    "incomplete": Health.DEGRADED,
    "stale_feed": Health.STALE,
    "blocked_by_robots": Health.BLOCKED,
    "refused": Health.BLOCKED,
    "failed": Health.FAILING,
}
FACTS = {
    "registered": Health.NEVER_CRAWLED,
    "failed-once": Health.FAILING,
    "due-for-hours": Health.LATE,
    "due-and-running": Health.HEALTHY,
    "drift-and-blocked": Health.BLOCKED,
    "incident-is-over": Health.HEALTHY,
}
EXPECTED = {
    **{f"incident-{kind}": health for kind, health in INCIDENTS.items()},
    **{f"coverage-{state}": health for state, health in COVERAGE.items()},
    **FACTS,
}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a database with a source in each state."""
    folder = tmp_path_factory.mktemp("health")
    is_sqlite = request.param == "sqlite"
    url = (
        f"sqlite:///{folder}/news.sqlite"
        if is_sqlite
        else request.getfixturevalue("postgres_tables")
    )
    with open_database(url) as database:
        fill(database)
    yield url
    if not is_sqlite:
        empty(url)


def fill(database: Database) -> None:
    leases = Leases(database, "host:1:x", LeaseTerms(length=timedelta(hours=1)))
    leases.register([Origin(slug, slug, "gb", "en", "https://x.example/") for slug in EXPECTED])
    for slug in EXPECTED.keys() - {"registered", "failed-once"}:
        crawl(database, slug, hours_ago=7 if slug.startswith("due") else 0)
    for state in COVERAGE:
        database.record_coverage(f"coverage-{state}", NOW.date(), state, 1, 1, note=f"was {state}")
    database.record_coverage("drift-and-blocked", NOW.date(), "blocked_by_robots", 0, 0)
    leases.take("failed-once")
    leases.release("failed-once", "failed", 1, "failed-once: 0 found; state failed (no feed)")
    leases.take("due-and-running")
    incidents = [Incident(kind=kind, source=f"incident-{kind}", note=kind) for kind in INCIDENTS]
    incidents.append(Incident(kind="drift", source="drift-and-blocked", note="other texts"))
    over = Incident(kind="stale", source="incident-is-over", note="nothing new")
    record_incidents(database, [*incidents, over], ())
    record_incidents(database, incidents, {over.cause})


def crawl(database: Database, slug: str, *, hours_ago: float) -> None:
    moment = NOW - timedelta(hours=hours_ago)
    run = database.start_run(slug)
    frontier = open_frontier(database, slug, run, SCHEDULE)
    replace(frontier, clock=lambda: moment).finish([])
    database.finish_run(run, "finished", {"newscrawl/listings_read": 1})


@pytest.fixture
def client(url: str) -> Iterator[TestClient]:
    app = create_app(replace(config_of(Path("none")), database_url=url))
    with TestClient(app, base_url="http://127.0.0.1:8300") as opened:
        yield opened


def test_every_state_and_kind_of_incident_occurs_here():
    assert set(EXPECTED.values()) == set(Health)
    assert set(INCIDENTS) == set(get_args(IncidentKind))


def test_python_gives_the_health_of_each_source(url):
    with open_database(url) as database:
        status = watch_status(database, list(EXPECTED))
    assert {source.source: source.health for source in status.sources} == EXPECTED


def test_command_line_gives_the_same_health(url, newscrawl):
    rows = json.loads(newscrawl("status", "--format", "json", "--database", url).out)["sources"]
    assert {row["source"]: row["health"] for row in rows} == EXPECTED


def test_metrics_give_the_same_health(url, newscrawl):
    lines = newscrawl("metrics", "--database", url).out.splitlines()
    sample = re.compile(r'newscrawl_source_health\{health="(.+)",source="(.+)"\} 1\.0')
    matches = [match for match in map(sample.fullmatch, lines) if match]
    assert {match[2]: match[1] for match in matches} == EXPECTED
    assert len(matches) == len(EXPECTED)


def test_api_gives_the_same_health(client):
    rows = client.get("/api/sources/health").json()
    assert {row["source"]: row["health"] for row in rows} == EXPECTED
    order = list(Health)
    assert [order.index(row["health"]) for row in rows] == sorted(
        order.index(health) for health in EXPECTED.values()
    )


def test_dashboard_gives_the_same_health(client):
    page = client.get("/sources").text
    rows = re.findall(
        r'<tr><th scope="row"><a[^>]*><bdi>(.+?)</bdi></a>.*?"state (\w+)"', page, re.DOTALL
    )
    assert dict(rows) == EXPECTED


@pytest.mark.parametrize(
    ("slug", "reason"),
    [
        ("incident-drift", "drift"),
        ("coverage-stale_feed", "was stale_feed"),
        ("coverage-paywalled", ""),
        ("failed-once", "no feed (failed once)"),
        ("due-for-hours", ""),
    ],
)
def test_reason_comes_from_what_decided_the_health(url, slug, reason):
    with open_database(url) as database:
        (source,) = watch_status(database, [slug]).sources
    assert source.reason == reason
