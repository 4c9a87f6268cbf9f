"""What the address of a page asks for."""

from datetime import UTC, date, datetime
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, strategies as st

from newscrawl.dashboard.filters import read_filters
from newscrawl.query import QuestionError

TODAY = date(2026, 11, 22)
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_default_period_is_the_last_thirty_days():
    filters = read_filters({}, NOW)
    assert (filters.since, filters.until, filters.days) == (date(2026, 10, 24), TODAY, 30)
    assert filters.address() == ""


def test_period_before_has_the_same_length():
    before = read_filters({"days": "7"}, NOW).before
    assert (before.since, before.until) == (date(2026, 11, 9), date(2026, 11, 15))


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ({"since": "2026-11-01", "until": "2026-11-03"}, date(2026, 11, 1), date(2026, 11, 3)),
        ({"since": "2026-11-01"}, date(2026, 11, 1), TODAY),
        ({"until": "2026-11-03"}, date(2026, 10, 5), date(2026, 11, 3)),
        ({"days": "90", "since": "2026-11-01"}, date(2026, 11, 1), TODAY),
        ({"days": " 1 "}, TODAY, TODAY),
        ({"since": "2026-11-01", "until": "2027-01-01"}, date(2026, 11, 1), TODAY),
    ],
    ids=["both", "first day", "last day", "days and first day", "one day", "days to come"],
)
def test_period(query, since, until):
    filters = read_filters(query, NOW)
    assert (filters.since, filters.until) == (since, until)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"days": "0"}, "days '0': write a number"),
        ({"days": "x"}, "days 'x': write a number"),
        ({"days": "٣"}, "days '٣': write a number"),
        ({"since": "yesterday"}, "since 'yesterday' is not a day"),
        ({"since": "2026-11-05", "until": "2026-11-01"}, "swap them"),
        ({"since": "1866-10-14"}, "over 3,660 days"),
        ({"since": "0001-01-01", "until": "0001-01-02"}, "no news of that time"),
        ({"until": "9999-12-31"}, "no news of that time"),
        ({"language": "<b>"}, "unknown language '<b>'"),
        (
            {"zone": "Europe/Berlim"},
            "unknown time zone 'Europe/Berlim': did you mean Europe/Berlin",
        ),
        (
            {"zone": "../../etc/passwd"},
            "unknown time zone '../../etc/passwd': write it as Europe/Berlin",
        ),
        ({"count": "likes"}, "choose among articles, mentions, stories"),
        ({"page": "-1"}, "page '-1'"),
        ({"source": "a\0b"}, "source can't have this value"),
        ({"source": "a" * 300}, "source can't have this value"),
    ],
)
def test_invalid_filter_is_named(query, message):
    with pytest.raises(QuestionError, match=message):
        read_filters(query, NOW)


@pytest.mark.parametrize(
    ("days", "split", "by"),
    [
        ("100", "whole", "day"),
        ("101", "whole", "week"),
        ("100", "source", "day"),
        ("101", "source", "month"),
    ],
)
def test_stories_of_a_long_time_are_counted_by_longer_periods(days, split, by):
    query = {"count": "stories", "by": "day", "days": days, "split": split}
    assert read_filters(query, NOW).by == by


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "days": st.sampled_from(["7", "30", "365"]),
            "source": st.text(st.characters(exclude_characters="\0"), max_size=20),
            "language": st.sampled_from(["de", "en", ""]),
            "country": st.sampled_from(["de", "gb"]),
            "zone": st.sampled_from(["UTC", "Europe/Berlin", "america/new york"]),
            "count": st.sampled_from(["articles", "mentions", "stories"]),
            "split": st.sampled_from(["whole", "source", "language", "country"]),
            "by": st.sampled_from(["day", "week", "month"]),
        },
    )
)
def test_address_of_filters_gives_the_same_filters(query):
    filters = read_filters(query, NOW)
    again = dict(parse_qsl(filters.address().removeprefix("?")))
    assert read_filters(again, NOW) == filters
