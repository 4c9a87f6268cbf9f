"""A source has one holder at a time, and a holder that died loses it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from newscrawl.items import Origin
from newscrawl.storage import Database
from newscrawl.storage.leases import Leases, LeaseTerms
from newscrawl.storage.models import Lease, Source

LONG = LeaseTerms(length=timedelta(minutes=5), min_pause=timedelta(0))


def facts(*slugs: str) -> list[Origin]:
    return [Origin(slug, slug.upper(), "gb", "en", f"https://{slug}.example/") for slug in slugs]


def leases(database: Database, holder: str = "a", terms: LeaseTerms = LONG) -> Leases:
    opened = Leases(database, holder, terms)
    opened.register(facts("ft", "bbc", "spiegel"))
    return opened


def end_leases(database: Database) -> None:
    """Move the end of all leases and queue entries into the past."""
    moment = datetime.now(UTC) - timedelta(seconds=1)
    for column in ("expires_at", "queued_until"):
        ended = update(Lease).where(getattr(Lease, column).is_not(None)).values({column: moment})
        database.write(lambda session, ended=ended: session.execute(ended))


def lease_of(database: Database, slug: str) -> Lease:
    with database.reading() as session:
        return session.scalars(select(Lease).join(Source).where(Source.slug == slug)).one()


def test_one_worker_holds_a_source_until_it_is_released(database):
    first, second = leases(database, "a"), leases(database, "b")
    assert first.take("ft")
    assert not second.take("ft")
    assert first.place(["ft"], 5) == []
    assert second.take("bbc")
    second.cancel("ft")
    second.release_unused("ft")
    assert lease_of(database, "ft").holder == "a"
    first.release("ft", "done", 0, "3 new")
    assert second.take("ft")


def test_lease_of_a_dead_holder_expires(database):
    dead, second = leases(database, "a"), leases(database, "b")
    dead.take("ft")
    end_leases(database)
    assert second.take("ft")
    assert not dead.renew("ft")
    dead.release("ft", "done", 0, "too late")
    assert lease_of(database, "ft").holder == "b"


def test_renewed_lease_is_kept(database):
    living, second = leases(database, "a"), leases(database, "b")
    living.take("ft")
    end = datetime.now(UTC) + timedelta(minutes=2)
    database.write(lambda session: session.execute(update(Lease).values(expires_at=end)))
    assert living.renew("ft")
    assert lease_of(database, "ft").expires_at > end + timedelta(minutes=1)
    assert not second.take("ft")


def test_source_is_queued_once_unless_its_entry_is_lost(database):
    first, second = leases(database, "a"), leases(database, "b")
    assert first.place(["ft", "bbc", "spiegel"], 2) == ["ft", "bbc"]
    assert second.place(["ft", "bbc", "spiegel"], 2) == ["spiegel"]
    assert first.place(["ft", "bbc", "spiegel"], 2) == []
    end_leases(database)
    assert first.place(["ft"], 1) == ["ft"]


def test_lease_given_back_unused_is_free_at_once(database):
    first, second = leases(database, "a"), leases(database, "b")
    first.place(["ft"], 1)
    first.take("ft")
    first.release_unused("ft")
    assert lease_of(database, "ft").ended_at is None
    assert second.place(["ft"], 1) == ["ft"]


def test_second_task_of_a_source_does_not_release_its_lease(database):
    first, second = leases(database, "a"), leases(database, "b")
    first.take("ft")
    assert not first.take("ft")
    first.cancel("ft")
    assert first.renew("ft")
    assert not second.take("ft")


def test_worker_takes_an_expired_lease_of_its_own_only_after_the_release(database):
    first = leases(database, "a")
    first.take("ft")
    end_leases(database)
    assert not first.take("ft")
    first.release("ft", "failed", 1, "the lease was lost")
    lease = lease_of(database, "ft")
    assert (lease.holder, lease.note) == (None, "the lease was lost")


def test_failed_source_rests_longer_each_time():
    minute = LeaseTerms(length=timedelta(minutes=5), min_pause=timedelta(minutes=1))
    assert [minute.pause_after(n).total_seconds() / 60 for n in (0, 1, 2, 3, 50)] == [
        1,
        2,
        4,
        8,
        360,
    ]


def test_resting_source_is_neither_leased_nor_queued(database):
    pausing = LeaseTerms(length=timedelta(minutes=5), min_pause=timedelta(minutes=1))
    first = leases(database, "a", pausing)
    first.take("ft")
    first.release("ft", "failed", 1, "no feed")
    assert not first.take("ft")
    assert first.place(["ft"], 1) == []
    lease = lease_of(database, "ft")
    assert (lease.failures, lease.code, lease.note) == (1, 1, "no feed")
    assert lease.retry_at is not None
    assert lease.ended_at is not None
    assert lease.retry_at - lease.ended_at == timedelta(minutes=2)


def test_source_is_crawled_after_a_clock_that_was_days_fast(database):
    first, second = leases(database, "a"), leases(database, "b")
    first.take("bbc")
    first.release("bbc", "done", 0, "3 new")
    first.take("ft")  # and its machine dies
    first.place(["spiegel"], 1)
    later = timedelta(days=3)
    for name in ("expires_at", "queued_until", "retry_at", "taken_at", "ended_at"):
        column = getattr(Lease, name)
        with database.reading() as session:
            rows = session.execute(select(Lease.source_id, column).where(column.is_not(None))).all()
        for number, moment in rows:
            moved = update(Lease).where(Lease.source_id == number).values({name: moment + later})
            database.write(lambda session, moved=moved: session.execute(moved))
    assert second.place(["ft", "bbc", "spiegel"], 3) == ["ft", "bbc", "spiegel"]
    assert all(map(second.take, ("ft", "bbc", "spiegel")))


@pytest.mark.parametrize(
    ("outcomes", "failures"),
    [(["failed", "failed"], 2), (["failed", "failed", "done"], 0), (["failed", "stopped"], 1)],
    ids=["in a row", "until one succeeds", "being stopped is not a failure"],
)
def test_consecutive_failures_are_counted(database, outcomes, failures):
    first = leases(database)
    for outcome in outcomes:
        assert first.take("ft")
        first.release("ft", outcome, None, "")
    assert lease_of(database, "ft").failures == failures


def test_interrupted_sources_are_listed(database):
    first, dead = leases(database, "a"), leases(database, "b")
    for slug, outcome, code in (("ft", "done", 0), ("bbc", "stopped", 1)):
        first.take(slug)
        first.release(slug, outcome, code, "")
    dead.take("spiegel")
    assert first.interrupted_sources() == ["bbc"]
    end_leases(database)
    assert first.interrupted_sources() == ["bbc", "spiegel"]


def test_sources_of_one_host_exclude_each_other(database):
    together = {"ft": {"bbc"}, "bbc": {"ft"}}
    first = Leases(database, "a", LONG, together)
    second = Leases(database, "b", LONG, together)
    first.register(facts("ft", "bbc", "spiegel"))
    assert first.take("ft")
    assert second.place(["bbc", "spiegel"], 2) == ["spiegel"]
    assert not second.take("bbc")
    first.release("ft", "done", 0, "")
    assert second.take("bbc")


def test_sources_of_one_host_started_concurrently_exclude_each_other(database):
    slugs = ("ft", "bbc", "spiegel")
    together = {slug: set(slugs) - {slug} for slug in slugs}
    workers = [Leases(database, slug, LONG, together) for slug in slugs]
    workers[0].register(facts(*slugs))
    with ThreadPoolExecutor(3) as pool:
        for _ in range(10):
            results = list(
                pool.map(lambda pair: pair[0].take(pair[1]), zip(workers, slugs, strict=True))
            )
            assert sum(results) == 1
            workers[results.index(True)].release(slugs[results.index(True)], "done", 0, "")
