"""The queue, the listings and the polls of a source, on both databases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from newscrawl.items import Hints
from newscrawl.sources.urls import main_addresses
from newscrawl.storage import Database
from newscrawl.storage.frontier.listings import (
    due_sources,
    next_crawls,
    pause_source,
    publishing_interval,
    reschedule,
)
from newscrawl.storage.frontier.queue import (
    DequeuedPage,
    EnqueueCounts,
    Frontier,
    FrontierEntry,
    open_frontier,
)
from tests.frontiers import (
    AT_ONCE,
    DAY,
    HOUR,
    MINUTE,
    SCHEDULE,
    after,
    article,
    entry,
    next_run,
    now,
    reading,
    store,
    urls,
)
from tests.worlds import document, known_urls, register, save_document


@pytest.fixture
def frontier(database: Database) -> Frontier:
    return next_run(database)


# --- The queue ----------------------------------------------------------------------------------


def test_page_is_queued_and_dequeued_once(frontier):
    assert frontier.enqueue(None, [entry("a"), entry("b")]) == EnqueueCounts(known=0, fresh=2)
    assert frontier.enqueue(None, [entry("a"), entry("c"), entry("c")]).fresh == 1
    assert urls(frontier.dequeue(10)) == ["a", "b", "c"]
    assert frontier.dequeue(10) == []


def test_hints_are_stored_with_their_page(frontier):
    moment = now() - HOUR
    listed = entry("a", moment, title="Ein Titel 😀", authors=("Jo", "Al"), language="de")
    frontier.enqueue(None, [listed])
    (page,) = frontier.dequeue(1)
    assert page.hints == listed.hints
    assert page.fetch_url == listed.fetch_url
    assert page.attempt.born == moment
    assert page.attempt.first


def test_newest_pages_come_first_and_undated_ones_last(frontier):
    pages = [entry("undated"), entry("old", now() - DAY), entry("new", now() - MINUTE)]
    frontier.enqueue(None, pages)
    assert urls(frontier.dequeue(2)) == ["new", "old"]
    assert urls(frontier.dequeue(2)) == ["undated"]


def test_stored_article_is_not_queued(database, frontier):
    save_document(database, document("a"), frontier.run_id)
    assert frontier.enqueue(None, [entry("a"), entry("b")]) == EnqueueCounts(known=1, fresh=1)
    assert urls(frontier.dequeue(10)) == ["b"]


TWIN = "https://m.ft.example/a"


def twin(url: str = TWIN) -> FrontierEntry:
    return FrontierEntry(url=url, fetch_url=url, hints=Hints(), twin_of=main_addresses(url))


def test_mobile_page_of_a_stored_article_is_its_alias(database, frontier):
    save_document(database, document("a"), frontier.run_id)
    assert frontier.enqueue(None, [twin()]) == EnqueueCounts(known=1, fresh=0)
    assert frontier.dequeue(10) == []
    assert known_urls(database, [TWIN]) == {TWIN}


def test_mobile_page_of_a_queued_page_is_not_queued(frontier):
    frontier.enqueue(None, [entry("a")])
    assert frontier.enqueue(None, [twin()]) == EnqueueCounts(known=1, fresh=0)
    twins = [twin("https://ft.example/amp/b-1"), entry("b-1")]
    assert frontier.enqueue(None, twins) == EnqueueCounts(known=1, fresh=1)
    assert urls(frontier.dequeue(10)) == ["a", "b-1"]


def test_mobile_page_without_a_known_main_page_is_queued(frontier):
    frontier.enqueue(None, [entry("b")])
    assert frontier.enqueue(None, [twin()]).fresh == 1
    assert TWIN in [page.attempt.url for page in frontier.dequeue(10)]


def test_pages_before_since_stay_queued(database, frontier):
    frontier.enqueue(None, [entry("old", now() - 3 * DAY), entry("new", now() - HOUR)])
    since = now() - DAY
    assert urls(frontier.dequeue(10, since)) == ["new"]
    assert frontier.count_waiting(since) == 0
    assert frontier.count_waiting() == 1
    assert "old" in urls(next_run(database).dequeue(10))


def test_url_too_long_for_an_index_is_skipped(frontier):
    assert frontier.enqueue(None, [entry("x" * 2_700), entry("a")]).fresh == 1


def test_pages_in_flight_in_a_killed_run_come_last(database, frontier):
    frontier.enqueue(None, [entry("deadly", now()), entry("b", now() - HOUR)])
    frontier.dequeue(1)
    assert urls(next_run(database).dequeue(2)) == ["b", "deadly"]


def test_page_is_done_only_when_its_article_is_stored(database, frontier):
    frontier.enqueue(None, [entry("a")])
    (page,) = frontier.dequeue(1)
    refused = replace(article(page), page=replace(article(page).page, source="unknown"))
    with pytest.raises(Exception, match="no source"):
        store(frontier, page.attempt, refused)
    assert urls(next_run(database).dequeue(1)) == ["a"]


def test_alias_of_a_stored_article_leaves_the_queue(database, frontier):
    frontier.enqueue(None, [entry("amp/a"), entry("a")])
    page = next(p for p in frontier.dequeue(1))
    saved = article(page)
    saved = replace(saved, article=replace(saved.article, url="https://ft.example/a"))
    store(frontier, page.attempt, saved)
    assert frontier.dequeue(10) == []
    assert next_run(database).dequeue(10) == []


@pytest.mark.parametrize(
    ("reason", "title", "waits"),
    [("paywalled", "Told", True), ("paywalled", None, False), ("NotHtml", "Told", False)],
)
def test_closed_page_is_queued_again_with_its_headline(database, frontier, reason, title, waits):
    frontier.enqueue(None, [entry("a")])
    (page,) = frontier.dequeue(1)
    frontier.mark_done(frontier.fetch_result(page.attempt, "closed", reason))
    frontier.enqueue(None, [entry("a", title=title)])
    again = next_run(database).dequeue(1)
    assert [queued_page.hints.title for queued_page in again] == ([title] if waits else [])


# --- Retries and revisits -----------------------------------------------------------------------


def test_failed_page_is_retried_a_limited_number_of_times(database):
    frontier = next_run(database, AT_ONCE)
    frontier.enqueue(None, [entry("a")])
    tries = 0
    while pages := frontier.dequeue(1):
        tries += 1
        frontier.mark_done(frontier.fetch_result(pages[0].attempt, "failed", "timeout"))
    assert tries == 3
    assert next_run(database, AT_ONCE).dequeue(1) == []


def test_failed_page_is_not_retried_at_once(database, frontier):
    frontier.enqueue(None, [entry("a")])
    (page,) = frontier.dequeue(1)
    frontier.mark_done(frontier.fetch_result(page.attempt, "failed", "timeout"))
    assert next_run(database).dequeue(1) == []


def test_page_that_waits_for_robots_txt_is_not_given_up(database):
    frontier = next_run(database)
    frontier = replace(frontier, began=now())
    frontier.enqueue(None, [entry("a", now() - 2 * HOUR, title="Told")])
    (page,) = frontier.dequeue(9)
    for _ in range(9):
        frontier.mark_done(frontier.fetch_result(page.attempt, "deferred", "any"))
        assert after(59 * MINUTE, frontier).dequeue(9) == []
        assert after(2 * HOUR, frontier).dequeue(9) == []  # not twice in one run
        later = after(2 * HOUR, next_run(database))
        (page,) = replace(later, began=later.clock()).dequeue(9)
        assert (page.attempt.failures, page.hints.title) == (0, "Told")


def test_old_page_that_waits_for_robots_txt_counts_as_failed(database):
    frontier = next_run(database, AT_ONCE)
    frontier.enqueue(None, [entry("a", now() - 31 * DAY)])
    for failures in range(3):
        (page,) = next_run(database, AT_ONCE).dequeue(9)
        assert page.attempt.failures == failures
        frontier.mark_done(frontier.fetch_result(page.attempt, "deferred", "any"))
    assert next_run(database, AT_ONCE).dequeue(9) == []


def test_revisit_that_waits_for_robots_txt_stays_a_revisit(database):
    frontier = next_run(database)
    frontier.enqueue(None, [entry("a", now())])
    (page,) = frontier.dequeue(1)
    attempt = replace(page.attempt, etag='"1"')
    frontier.mark_done(frontier.fetch_result(attempt, "read", "stored"))
    (page,) = after(2 * HOUR, next_run(database)).dequeue(9)
    assert not page.attempt.first
    frontier.mark_done(frontier.fetch_result(page.attempt, "deferred", "any"))
    (again,) = after(4 * HOUR, next_run(database)).dequeue(9)
    assert (again.attempt.first, again.attempt.etag) == (False, '"1"')


@pytest.mark.parametrize("outcome", ["closed", "hopeless"])
def test_page_can_be_given_up(database, outcome):
    frontier = next_run(database, AT_ONCE)
    frontier.enqueue(None, [entry("a", now() - MINUTE)])
    (page,) = frontier.dequeue(1)
    frontier.mark_done(frontier.fetch_result(page.attempt, outcome, "told"))  # type: ignore[arg-type]
    assert next_run(database, AT_ONCE).dequeue(1) == []


def test_postponed_page_stays_queued(database, frontier):
    frontier.enqueue(None, [entry("a")])
    (page,) = frontier.dequeue(1, now() - DAY)
    old = now() - 9 * DAY
    frontier.mark_done(frontier.fetch_result(page.attempt, "postponed", "TooOld", published=old))
    assert frontier.dequeue(1, now() - DAY) == []
    assert urls(frontier.dequeue(1)) == ["a"]


def test_read_page_is_revisited_with_its_validators(database):
    frontier = next_run(database)
    frontier.enqueue(None, [entry("a", now())])
    (page,) = frontier.dequeue(1)
    attempt = replace(page.attempt, etag='"abc"', last_modified="Sun, 22 Nov 2026 06:00:00 GMT")
    store(frontier, attempt, article(page))
    assert after(HOUR - MINUTE, frontier).dequeue(1) == []
    (later,) = after(HOUR + MINUTE, frontier).dequeue(1)
    assert not later.attempt.first
    assert (later.attempt.etag, later.attempt.last_modified) == (
        attempt.etag,
        attempt.last_modified,
    )


def changed(path: str, moment: datetime) -> FrontierEntry:
    """An offer that says when its page was last changed."""
    return replace(entry(path, now() - DAY), modified=moment)


def stored(database: Database, frontier: Frontier, path: str = "a") -> DequeuedPage:
    """A page of the queue that was read and stored just now."""
    frontier.enqueue(None, [entry(path, now() - DAY)])
    (page,) = frontier.dequeue(1)
    store(frontier, page.attempt, article(page))
    return page


@pytest.mark.parametrize(
    ("since_the_visit", "changed_pages"),
    [(30 * MINUTE, 1), (-MINUTE, 0), (2 * HOUR, 0)],
    ids=["later", "before", "in the future"],
)
def test_page_with_a_later_lastmod_is_revisited_early(
    database, frontier, since_the_visit, changed_pages
):
    stored(database, frontier)
    later = after(HOUR, next_run(database))
    result = later.enqueue(None, [changed("a", now() + since_the_visit)])
    assert result == EnqueueCounts(known=1, fresh=0, changed=changed_pages)
    assert urls(later.dequeue(10)) == ["a"][:changed_pages]


def test_lastmod_of_an_unmodified_page_is_ignored_later(database, frontier):
    stored(database, frontier)
    later = after(HOUR, next_run(database))
    later.enqueue(None, [changed("a", now() + 30 * MINUTE)])
    (page,) = later.dequeue(10)
    later.mark_done(later.fetch_result(page.attempt, "read", "unmodified"))
    latest = after(2 * HOUR, next_run(database))
    assert latest.enqueue(None, [changed("a", now() + 90 * MINUTE)]).changed == 0
    assert latest.dequeue(10) == []


def test_alias_is_not_revisited(database):
    frontier = next_run(database)
    frontier.enqueue(None, [entry("a", now()), entry("print/a", now() - MINUTE)])
    for page in frontier.dequeue(2):
        store(frontier, page.attempt, article(page))
    assert urls(after(DAY, frontier).dequeue(10)) == ["a"]


def test_new_pages_come_before_revisits(database):
    frontier = next_run(database)
    frontier.enqueue(None, [entry("a", now())])
    (page,) = frontier.dequeue(1)
    frontier.mark_done(frontier.fetch_result(page.attempt, "read", "stored"))
    frontier.enqueue(None, [entry("b", now() - DAY)])
    assert urls(after(2 * HOUR, frontier).dequeue(10)) == ["b", "a"]


# --- Times --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age", "next_age"),
    [
        (timedelta(), HOUR),
        (HOUR, 6 * HOUR),
        (2 * HOUR, 6 * HOUR),
        (23 * HOUR, DAY),
        (DAY, None),
        (400 * DAY, None),
        (-DAY, HOUR),  # a date in the future counts as now
    ],
)
def test_revisit_interval_grows_with_age(age, next_age):
    moment = now()
    born = moment - age
    expected = None if next_age is None else min(born, moment) + next_age
    assert SCHEDULE.revisit_at(born, moment) == expected


@given(st.timedeltas(timedelta(), 900 * DAY), st.integers(0, 10**6), st.integers(0, 10**6))
def test_poll_interval_is_within_its_limits(interval, quiet, failures):
    moment = now()
    pause = SCHEDULE.poll_at(interval, quiet, failures, moment) - moment
    assert SCHEDULE.poll_min <= pause <= SCHEDULE.poll_max


def test_quiet_listing_is_polled_less_often():
    moment = now()
    rests = [SCHEDULE.poll_at(20 * MINUTE, quiet, 0, moment) - moment for quiet in range(4)]
    assert rests[0] == 20 * MINUTE
    assert rests == sorted(set(rests))


NOW = now()
HOURLY = [NOW - number * HOUR for number in range(50)]
SHORT = [NOW - number * MINUTE for number in range(1, 11)]


@pytest.mark.parametrize(
    ("moments", "by_feed", "interval"),
    [
        (HOURLY, None, HOUR),
        (HOURLY, 2 * HOUR, 2 * HOUR),
        (HOURLY, MINUTE, HOUR),
        (SHORT, DAY, 5 * MINUTE),  # before its entries leave the feed
        ([], None, None),
        ([], 2 * HOUR, 2 * HOUR),
        ([NOW - DAY], None, None),
        ([NOW - DAY], 2 * HOUR, 2 * HOUR),
    ],
)
def test_feed_is_polled_as_often_as_it_publishes_or_says(moments, by_feed, interval):
    assert publishing_interval(moments, by_feed, NOW) == interval


def test_listing_without_dates_is_polled_by_its_new_pages(frontier):
    (listing,) = frontier.listings(["https://ft.example/rss"])
    rests = []
    for hours, fresh in ((0, 9), (2, 12), (3, 0), (5, 4)):
        at = now() + hours * HOUR
        then = replace(frontier, clock=lambda at=at: at)  # type: ignore[misc]
        then.record_reading(listing.id, reading(interval=None, fresh=fresh))
        (present,) = frontier.listings(["https://ft.example/rss"])
        assert present.next_poll_at is not None
        rests.append((present.next_poll_at - at) / MINUTE)
    # An hour at first; 12 in two hours; none, so half as long again; 4 in two hours.
    assert rests == pytest.approx([60, 35, 52.5, 32.5], abs=0.1)


# --- Listings -----------------------------------------------------------------------------------


def test_reading_of_a_listing_is_stored(database, frontier):
    (new,) = frontier.listings(["https://ft.example/rss"])
    assert (new.etag, new.checked_at) == (None, None)
    frontier.record_reading(
        new.id, reading(etag='"7"', last_modified="then", entry_count=5, newest_at=now())
    )
    (present,) = next_run(database).listings(["https://ft.example/rss"])
    assert (present.id, present.etag, present.last_modified) == (new.id, '"7"', "then")
    assert (present.entry_count, present.body_hash) == (5, "h")
    assert present.checked_at is not None
    assert present.next_poll_at is not None
    assert present.next_poll_at - present.checked_at == 30 * MINUTE


def test_listings_keep_their_order(frontier):
    frontier.listings(["https://ft.example/b"])
    listed_urls = ["https://ft.example/c", "https://ft.example/b", "https://ft.example/a"]
    assert [listing.url for listing in frontier.listings(listed_urls)] == listed_urls


def test_unchanged_and_failing_listings_rest_longer(frontier):
    (listing,) = frontier.listings(["https://ft.example/rss"])
    frontier.record_reading(listing.id, reading())
    rests = []
    for happens in (
        frontier.record_unchanged,
        frontier.record_unchanged,
        frontier.record_failure,
        frontier.record_failure,
    ):
        happens(listing.id)
        (present,) = frontier.listings(["https://ft.example/rss"])
        assert present.next_poll_at is not None
        rests.append((present.next_poll_at - now()) / MINUTE)
    assert rests == pytest.approx([45, 67.5, 20, 40], abs=0.1)


def test_index_stores_its_sitemaps(frontier):
    (index,) = frontier.listings(["https://ft.example/index"])
    at = "https://ft.example/"
    frontier.listings([f"{at}1", f"{at}2"], index.id)
    frontier.listings([f"{at}2", f"{at}3"], index.id)
    assert [child.url for child in frontier.children(index.id)] == [f"{at}2", f"{at}3"]


@pytest.mark.parametrize(
    ("read_from", "asked_from", "enough"),
    [(None, None, True), (None, 1, True), (2, 1, False), (1, 2, True), (1, None, False)],
)
def test_reading_covers_a_later_since(frontier, read_from, asked_from, enough):
    def day(number: int | None) -> datetime | None:
        return None if number is None else datetime(2026, 11, number, tzinfo=UTC)

    (listing,) = frontier.listings(["https://ft.example/rss"])
    assert not listing.covers(day(asked_from))
    frontier.record_reading(listing.id, reading(skipped_before=day(read_from)))
    (listing,) = frontier.listings(["https://ft.example/rss"])
    assert listing.covers(day(asked_from)) is enough


# --- Which sources are due ----------------------------------------------------------------------


def test_source_is_due_with_the_first_of_its_listings(database, frontier):
    slow, fast = frontier.listings(["https://ft.example/slow", "https://ft.example/fast"])
    frontier.record_reading(slow.id, reading(interval=5 * HOUR))
    frontier.record_reading(fast.id, reading(interval=HOUR))
    due_at = frontier.finish([slow.id, fast.id])
    assert (due_at - now()) / MINUTE == pytest.approx(60, abs=0.1)
    assert due_sources(database, due_at - MINUTE, ["ft"]) == []
    (due,) = due_sources(database, due_at, ["ft"])
    assert due.due_at == due_at


def test_source_is_due_soon_after_one_of_its_pages(database, frontier):
    frontier.enqueue(None, [entry("a")])
    frontier.finish([])
    assert due_sources(database, now() + MINUTE, ["ft"]) == []
    (due,) = due_sources(database, now() + 11 * MINUTE, ["ft"])
    assert due.waiting == 1


def test_source_that_is_paused_during_a_crawl_stays_so(database, frontier):
    frontier.finish([])
    pause_source(database, "ft", now(), paused=True)
    frontier.enqueue(None, [entry("a")])
    frontier.finish([])
    reschedule(database, ["ft"], replace(SCHEDULE, poll_min=HOUR))
    assert due_sources(database, now() + 400 * DAY, ["ft"]) == []
    pause_source(database, "ft", now(), paused=False)
    assert len(due_sources(database, now() + HOUR, ["ft"])) == 1


def test_source_is_due_after_a_clock_that_was_days_fast(database):
    number = register(database, "ft")
    fast = replace(open_frontier(database, "ft", number, SCHEDULE), clock=lambda: now() + 3 * DAY)
    (listing,) = fast.listings(["https://ft.example/rss"])
    fast.record_reading(listing.id, reading(interval=HOUR))
    fast.finish([listing.id])
    (due,) = due_sources(database, now(), ["ft"])
    assert due.due_at is not None
    assert due.due_at <= now()
    (listing,) = fast.listings(["https://ft.example/rss"])
    assert SCHEDULE.is_due(listing.next_poll_at, now())


@pytest.mark.parametrize(
    ("poll_min", "interval", "hours"),
    # The interval of a listing counts again with a shorter minimum; a poll that is late is due.
    [(HOUR, 5 * MINUTE, 1), (10 * MINUTE, 5 * MINUTE, 1 / 6), (3 * HOUR, HOUR, 3)],
)
def test_changed_minimum_of_polls_counts_at_once(database, poll_min, interval, hours):
    at = now() - 30 * MINUTE
    before = replace(SCHEDULE, poll_min=2 * HOUR, poll_max=6 * HOUR)
    number = register(database, "ft")
    frontier = replace(open_frontier(database, "ft", number, before), clock=lambda: at)
    feed, broken = frontier.listings(["https://ft.example/rss", "https://ft.example/gone"])
    frontier.record_reading(feed.id, reading(interval=interval))
    frontier.record_failure(broken.id)
    frontier.finish([feed.id, broken.id])
    assert next_crawls(database) == {"ft": at + 2 * HOUR}
    for _ in range(2):  # of several monitors, the second changes nothing
        reschedule(database, ["ft", "new"], replace(before, poll_min=poll_min))
        due_at = min(at + hours * HOUR, at + 4 * HOUR)
        assert next_crawls(database) == {"ft": due_at}
        (feed, broken) = frontier.listings([feed.url, broken.url])
        assert feed.next_poll_at == due_at
        assert broken.next_poll_at == at + min(2 * poll_min, 4 * HOUR)
        due = due_sources(database, now(), ["ft"])
        assert [source.due_at for source in due] == ([due_at] if due_at <= now() else [])


def test_changed_minimum_leaves_sources_that_are_due(database):
    frontier = open_frontier(database, "ft", register(database, "ft"), SCHEDULE)
    (unread,) = frontier.listings(["https://ft.example/rss"])
    at = frontier.finish([unread.id])
    register(database, "bbc")
    reschedule(database, ["ft", "bbc"], replace(SCHEDULE, poll_min=HOUR))
    (due,) = due_sources(database, now(), ["ft"], pause=timedelta(0))
    assert due.due_at == at


def test_source_rests_no_longer_than_its_listings(database):
    short = replace(SCHEDULE, poll_min=2 * MINUTE)
    frontier = open_frontier(database, "ft", register(database, "ft"), short)
    (feed,) = frontier.listings(["https://ft.example/rss"])
    frontier.enqueue(None, [entry("a")])
    frontier.record_reading(feed.id, reading(interval=MINUTE))
    due_at = frontier.finish([feed.id])
    assert next_crawls(database) == {"ft": due_at}
    (due,) = due_sources(database, due_at, ["ft"])
    assert due.due_at == due_at
    assert due_sources(database, due_at - MINUTE, ["ft"]) == []


def test_new_and_overdue_sources_come_first(database):
    for slug, interval in (("ft", 2 * HOUR), ("bbc", HOUR)):
        frontier = open_frontier(database, slug, register(database, slug), SCHEDULE)
        (listing,) = frontier.listings([f"https://{slug}.example/rss"])
        frontier.record_reading(listing.id, reading(interval=interval))
        frontier.finish([listing.id])
    due = due_sources(database, now() + DAY, ["ft", "bbc", "new"])
    assert [listing.slug for listing in due] == ["new", "bbc", "ft"]


# --- Headlines that come late --------------------------------------------------------------------


def test_later_hints_complete_those_of_a_queued_page(frontier):
    moment = now() - HOUR
    frontier.enqueue(None, [entry("a", title="First")])
    listed = entry("a", moment, title="Second", standfirst="More", authors=("Jo",), section="Ports")
    frontier.enqueue(None, [listed])
    (page,) = frontier.dequeue(1)
    assert page.hints == replace(listed.hints, title="First")
    assert page.attempt.born == moment


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [("closed", "paywalled"), ("closed", "refused"), ("read", "ConsentOrPaywall")],
)
@pytest.mark.parametrize("order", ["told first", "left first"])
def test_page_without_a_headline_is_queued_again_with_it(frontier, outcome, reason, order):
    frontier = replace(frontier, began=now())
    frontier.enqueue(None, [entry("a")])
    (page,) = frontier.dequeue(1)
    attempt = replace(page.attempt, etag='"1"')
    if order == "told first":
        frontier.add_hints([entry("a", title="Late")])
    frontier.mark_done(frontier.fetch_result(attempt, outcome, reason))  # type: ignore[arg-type]
    if order == "left first":
        assert frontier.dequeue(1) == []
        frontier.add_hints([entry("a", title="Late")])
    (again,) = frontier.dequeue(1)
    assert (again.hints.title, again.again, again.attempt.etag) == ("Late", True, None)
    # Once is enough: who brings nothing then is left.
    frontier.mark_done(frontier.fetch_result(again.attempt, outcome, reason))  # type: ignore[arg-type]
    assert frontier.dequeue(1) == []


def test_stored_article_is_not_queued_again_for_its_headline(frontier):
    frontier.enqueue(None, [entry("a")])
    (page,) = frontier.dequeue(1)
    store(frontier, page.attempt, article(page))
    later = after(2 * HOUR, frontier)
    (page,) = later.dequeue(1)
    later.mark_done(later.fetch_result(page.attempt, "closed", "paywalled"))
    later.add_hints([entry("a", title="Late")])
    later.enqueue(None, [entry("a", title="Late")])
    assert later.dequeue(1) == []
