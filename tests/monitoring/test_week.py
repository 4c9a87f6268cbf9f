"""A few days of four papers, with outages, refusals and wrong clocks: the small version of
`python -m tests.week`."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.week.clock import COMPILER
from tests.week.papers import DAY, HOUR
from tests.week.script import Plan, live_through

_WEEK = datetime(2026, 10, 24, tzinfo=UTC)
_PLAN = Plan(
    week=_WEEK,
    quiet_days=1,
    days=4,
    papers=frozenset({"day-outage", "payment", "forbidden", "moved-news"}),
    wrong=((_WEEK + 3 * DAY + 2 * HOUR, timedelta(days=3)),),
    stopped=_WEEK + 3 * DAY + 12 * HOUR,
)


@pytest.mark.thorough
@pytest.mark.skipif(COMPILER is None, reason="no C compiler, by which the clock is set")
def test_each_article_is_stored_once_or_named_and_each_alarm_has_a_cause(tmp_path):
    verdict = live_through(_PLAN, tmp_path)
    assert verdict.problems == []
    assert verdict.fates["stored"] > 100
