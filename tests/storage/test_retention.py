"""What a watch forgets, and what it never does: on both databases."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import func, insert, select, update

from newscrawl.storage import Database, open_database
from newscrawl.storage.batch import FinishedPage, write_batch
from newscrawl.storage.deletion import MIN_KEEP, Pruning, prune_daily
from newscrawl.storage.frontier.queue import EnqueueCounts, Frontier
from newscrawl.storage.models import (
    ArticleUrl,
    Base,
    FrontierUrl,
    Incident,
    Listing,
    Poll,
    Run,
    Worker,
)
from tests.frontiers import DAY, HOUR, article, entry, next_run, now, reading, urls

KEEP = 30 * DAY
FEED = "https://ft.example/feed"


def at(moment: datetime, frontier: Frontier) -> Frontier:
    return replace(frontier, clock=lambda: moment)


def rows(database: Database, table: type[Base]) -> int:
    with database.reading() as session:
        return session.scalars(select(func.count()).select_from(table)).one()


def prune(database: Database, at: datetime | None = None) -> dict[str, int]:
    return Pruning(database=database, keep=KEEP, now=at or now()).run()


@pytest.fixture
def crawl(database: Database) -> Callable[..., EnqueueCounts]:
    """A crawl at a moment, to whose end the feed lists paths: those that begin with "x" are no
    articles, all others are stored."""

    def crawl(moment: datetime, *paths: str, feed: str = FEED) -> EnqueueCounts:
        run = at(moment, next_run(database))
        (listing,) = run.listings([feed])
        offer = run.enqueue(listing.id, [entry(path, moment) for path in paths])
        for page in run.dequeue(100):
            path = page.attempt.url.rpartition("/")[2]
            if path.startswith("x"):
                run.mark_done(run.fetch_result(page.attempt, "closed", "NotAnArticle"))
                continue
            document = article(page, text=f"Of {path}.", fetched_at=moment, published=moment)
            arrival = FinishedPage(
                document=document, result=run.fetch_result(page.attempt, "read", "new")
            )
            write_batch(database, run.run_id, [arrival])
        run.record_reading(listing.id, reading(fresh=offer.fresh))
        run.finish([listing.id])
        database.finish_run(run.run_id, "finished", {"newscrawl/found": len(paths)})
        with_start = update(Run).where(Run.id == run.run_id).values(started_at=moment)
        database.write(lambda session: session.execute(with_start))
        return offer

    return crawl


def test_pruned_pages_of_stored_articles_are_not_requested_again(database, crawl):
    for days in (100, 90):  # by the second no further look at them is due
        crawl(now() - days * DAY, "a", "b")
    crawl(now() - HOUR, "c")
    assert prune(database)["pages"] == 2
    assert rows(database, FrontierUrl) == 1
    assert crawl(now(), "a", "b", "c") == EnqueueCounts(known=3, fresh=0)


def test_dropped_page_is_kept_while_a_feed_lists_it(database, crawl):
    for days in range(100, 0, -10):
        crawl(now() - days * DAY, "x", f"news-{days}")
    assert prune(database)["pages"] > 0
    assert crawl(now(), "x").fresh == 0


def test_dropped_page_is_pruned_when_no_feed_lists_it(database, crawl):
    crawl(now() - 100 * DAY, "x", "x-2")
    crawl(now() - DAY, "b")
    assert prune(database)["pages"] == 2
    assert rows(database, FrontierUrl) == 1


def test_pages_of_an_unchanged_listing_are_kept(database, crawl):
    crawl(now() - 100 * DAY, "x")
    run = next_run(database)
    (listing,) = run.listings([FEED])
    run.record_unchanged(listing.id)
    run.finish([listing.id])
    assert prune(database)["pages"] == 0


def test_paused_source_keeps_pages_that_it_would_request_again(database, crawl):
    crawl(now() - 101 * DAY, "x")
    crawl(now() - 100 * DAY, "y-x")
    result = prune(database)
    assert (result["listings"], rows(database, Listing)) == (0, 1)
    assert crawl(now(), "x").fresh == 0


def test_pending_pages_are_never_pruned(database):
    long_ago = at(now() - 100 * DAY, next_run(database))
    long_ago.enqueue(None, [entry("a"), entry("b")])
    (first, _) = long_ago.dequeue(10)
    long_ago.mark_done(long_ago.fetch_result(first.attempt, "failed", "timeout"))
    assert prune(database)["pages"] == 0
    assert urls(next_run(database).dequeue(10)) == ["a", "b"]


def test_dated_listings_of_past_days_are_pruned(database, crawl):
    crawl(now() - 100 * DAY, "x-2", "x", feed=f"{FEED}/of-a-day")
    crawl(now() - HOUR, "b")
    result = prune(database)
    assert (result["listings"], result["pages"]) == (1, 2)
    with database.reading() as session:
        assert session.scalars(select(Listing.url)).all() == [FEED]


def test_runs_without_articles_are_pruned_and_others_lose_their_stats(database, crawl):
    crawl(now() - 100 * DAY, "a")
    crawl(now() - 99 * DAY)
    crawl(now() - DAY)
    assert prune(database)["runs"] == 2
    with database.reading() as session:
        counts = session.execute(select(Run.counts).order_by(Run.id)).scalars().all()
    assert counts == [None, {"newscrawl/found": 0}]
    assert prune(database)["runs"] == 0


def test_last_run_and_poll_of_a_source_are_kept(database, crawl):
    crawl(now() - 100 * DAY)
    assert prune(database)["runs"] == 0
    assert (rows(database, Run), rows(database, Poll)) == (1, 1)


def test_old_monitors_and_closed_incidents_are_pruned(database):
    old = now() - 100 * DAY
    monitor = {"host": "h", "pid": 1, "slots": 1, "version": "1", "started_at": old}
    incident = {"kind": "stale", "note": "", "facts": {}, "opened_at": old, "seen_at": old}

    def fill(session: object) -> None:
        connection = session.connection()  # type: ignore[attr-defined]
        for name, seen_at in (("gone", old), ("up", now())):
            connection.execute(insert(Worker), {**monitor, "name": name, "seen_at": seen_at})
        for cause, end in (("over", old), ("open", None)):
            connection.execute(insert(Incident), {**incident, "cause": cause, "recovered_at": end})

    database.write(fill)
    result = prune(database)
    assert (result["monitors"], result["incidents"]) == (1, 1)
    with database.reading() as session:
        assert session.scalars(select(Worker.name)).all() == ["up"]
        assert session.scalars(select(Incident.cause)).all() == ["open"]


def test_database_size_is_limited_over_a_year(database, crawl):
    """Each time three articles and a page that is none, beside one that its feed always names."""
    begin = now() - 365 * DAY
    times = range(0, 365, 15)
    for number in times:
        day = begin + number * DAY
        paths = [f"{number}-{letter}" for letter in "abc"]
        again = crawl(day, *paths, f"x-{number}", "x-always")
        assert again.fresh == (5 if number == 0 else 4)
        prune(database, day)
    rounds = KEEP.days // times.step + 2
    assert rows(database, FrontierUrl) <= 4 * rounds + 1
    assert rows(database, ArticleUrl) == 3 * len(times)
    assert crawl(now(), *(f"{number}-a" for number in times)).fresh == 0


def test_stopped_prune_ends_between_two_batches(database, crawl):
    crawl(now() - 100 * DAY, "x", "x-2")
    crawl(now() - HOUR, "b")
    stopped = Pruning(database=database, keep=KEEP, is_stopping=lambda: True).run()
    assert stopped["pages"] == 0
    assert prune(database)["pages"] == 2


def test_one_monitor_prunes_once_a_day(database):
    assert set(prune_daily(database, KEEP).values()) == {0}
    assert prune_daily(database, KEEP) is None


def test_retention_below_the_minimum_is_refused(database):
    with pytest.raises(ValueError, match="less than"):
        Pruning(database=database, keep=MIN_KEEP - timedelta(seconds=1))


# --- The command --------------------------------------------------------------------------------


def test_command_reports_the_pruned_rows(newscrawl):
    with open_database("sqlite:///newscrawl.sqlite") as database:
        run = at(now() - 100 * DAY, next_run(database))
        run.enqueue(None, [entry("a")])
        (page,) = run.dequeue(1)
        run.mark_done(run.fetch_result(page.attempt, "closed", "NotHtml"))
        at(now(), next_run(database)).finish([])
    ran = newscrawl("db", "prune", "--keep", "30d")
    assert ran.code == 0
    assert "Deleted: 1 pages, 0 listings, 0 runs, 0 monitors, 0 incidents, " in ran.err


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ("soon", "NEWSCRAWL_KEEP=soon: not times, as in"),
        ("7d", "NEWSCRAWL_KEEP=7d: too short, since pages in feeds are recorded once a week"),
    ],
)
def test_invalid_retention_is_refused_in_one_line(newscrawl, keep, message):
    ran = newscrawl("db", "prune", "--keep", keep)
    assert ran.code == 2
    assert message in ran.err
