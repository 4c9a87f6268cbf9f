"""How many articles of a source may be missing after a gap."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from newscrawl.storage.frontier.listings import GapEstimate, in_proportion, most_within
from tests.frontiers import DAY, HOUR, MINUTE, after, entry, next_run, now
from tests.worlds import document, register, save_documents

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MOMENTS = st.lists(st.integers(0, 10_000), max_size=60).map(
    lambda minutes: [NOON + minute * MINUTE for minute in sorted(minutes)]
)


@given(MOMENTS, st.integers(1, 3_000))
def test_no_period_has_more_articles_than_the_most(moments, minutes):
    length = minutes * MINUTE
    most = most_within(moments, length)
    counts = [sum(first <= moment <= first + length for moment in moments) for first in moments]
    assert most == max(counts, default=0)


@pytest.mark.parametrize("pinned", [False, True])
def test_pace_of_few_articles_is_projected(pinned):
    moments = [NOON + 3 * minute * MINUTE for minute in range(10)]
    if pinned:
        moments[0] = NOON - 9 * DAY
    assert in_proportion(moments, HOUR) == pytest.approx(20)


def test_times_without_a_pace_give_no_number():
    assert in_proportion([], HOUR) == in_proportion([NOON], HOUR) == 0
    assert in_proportion([NOON, NOON], HOUR) == 0


@pytest.mark.parametrize(
    ("expected", "recovered", "missing", "filled"),
    [(None, 5, None, False), (16.0, 8, 20, False), (16.0, 15, 13, True), (1.0, 9, 1, True)],
)
def test_upper_bound_is_three_deviations_above_what_is_expected(
    expected, recovered, missing, filled
):
    estimate = GapEstimate(expected=expected, recovered=recovered)
    assert (estimate.missing, estimate.is_filled) == (missing, filled)


def test_gap_is_as_large_as_the_busiest_time_of_its_length(database):
    """Ten articles in one hour a day ago, one in each of the other hours; a gap of an hour."""
    run = register(database)
    start = now() - 2 * DAY
    moments = [start + hour * HOUR for hour in range(47)]
    moments += [start + DAY + (6 * number + 1) * MINUTE for number in range(9)]
    documents = [
        document(f"old-{number}", published=moment, text=f"{number} ships came. " * 20)
        for number, moment in enumerate(moments)
    ]
    save_documents(database, documents, run)
    frontier = next_run(database)
    frontier.enqueue(None, [entry("dated", now() - MINUTE), entry("undated"), entry("other")])
    urls = {entry("undated").url}
    later = after(timedelta(seconds=1), frontier)
    estimate = later.estimate_gap(urls, now() - HOUR)
    assert estimate.recovered == 2
    assert estimate.expected
    assert estimate.expected >= 10


@pytest.mark.parametrize("size", [10, 15, 50])
@pytest.mark.parametrize(
    ("outage", "step"), [(HOUR, 3 * MINUTE), (DAY, 24 * MINUTE), (7 * DAY, 2 * HOUR)]
)
def test_bound_of_a_gap_is_not_below_what_a_feed_has_dropped(new_sqlite, size, outage, step):
    """A feed of this size was read once before the outage and once after it."""
    with new_sqlite() as database:
        run, end = register(database), now()
        since = end - outage
        published = outage // step
        numbers = [*range(-size, 0), *range(max(0, published - size), published)]
        moments = {number: since + (number + 0.5) * step for number in numbers}
        documents = [
            document(
                f"{number}", published=moment, text=f"{number} ships came. " * 20, fetched_at=since
            )
            for number, moment in moments.items()
        ]
        frontier = next_run(database)
        frontier.enqueue(None, [entry(f"{number}", moments[number]) for number in numbers])
        save_documents(database, documents, run)
        estimate = frontier.estimate_gap((), since)
        assert estimate.recovered == min(size, published)
        assert estimate.expected == pytest.approx(published, rel=0.12)
        assert estimate.missing is not None
        missing = published - estimate.recovered
        assert missing <= estimate.missing <= missing + 4 * published**0.5 + 2


def test_moved_article_and_earlier_page_overlap_and_later_ones_of_the_listing_are_new(database):
    frontier = next_run(database)
    (listing,) = frontier.listings(["https://ft.example/feed.xml"])
    frontier.enqueue(None, [entry("earlier")])
    since = now()
    frontier.enqueue(listing.id, [entry("new")])
    frontier.enqueue(None, [entry("elsewhere")])
    names = ("earlier", "new", "elsewhere", "unknown")
    overlap = frontier.overlap(listing.id, [entry(name).url for name in names], since)
    assert overlap.before == {entry("earlier").url}
    assert overlap.since == {entry("new").url}
