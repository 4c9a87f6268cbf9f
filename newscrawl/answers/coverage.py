"""Sources that were not read on all of their days: which days, and why."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

from newscrawl.storage import Database, queries
from newscrawl.storage.queries import CoverageDay, Scope
from newscrawl.storage.queries.completeness import COVERED, source_completeness
from newscrawl.text import count_of

# Ours: spans of days in a reason, and sources that an answer names.
MAX_SPANS = 10
MAX_UNREAD = 5


@dataclass(frozen=True, slots=True)
class UnreadSource:
    """A source that was not read on all of its days: how many it was not read on and how many there
    are, and `reasons`, as in "4 to 8 Nov 2026 (failed: timed out)"."""

    source: str
    missed: int
    days: int
    reasons: str


def unread_sources(days: Iterable[CoverageDay]) -> tuple[UnreadSource, ...]:
    """Return the sources that were not read on all of these days, which are in order, those with
    most such days first."""
    days_by_source: dict[str, list[CoverageDay]] = defaultdict(list)
    for day in days:
        days_by_source[day.source].append(day)
    sources = [
        UnreadSource(source, sum(day.state not in COVERED for day in each), len(each), reasons)
        for source, each in days_by_source.items()
        if (reasons := _reasons(each))
    ]
    return tuple(sorted(sources, key=lambda source: -source.missed))


def most_unread(
    database: Database, scope: Scope, having: Collection[str] = ()
) -> tuple[UnreadSource, ...]:
    """Return the sources that were not read on the most days of the scope, MAX_UNREAD of them; only
    of those `having` articles of a company, if one of these was not read."""
    completeness = source_completeness(database, scope)
    missed = {slug: days.expected - days.covered for slug, days in completeness.items()}
    unread = {slug: number for slug, number in missed.items() if number > 0}
    candidates = {slug: unread[slug] for slug in unread if slug in having} or unread
    most = sorted(candidates, key=lambda slug: -candidates[slug])
    return unread_sources(
        day
        for slug in most[:MAX_UNREAD]
        for day in queries.coverage(database, scope=replace(scope, source=slug))
    )


def days_text(first: date, last: date) -> str:
    """Return consecutive days as "4 to 8 Nov 2026"."""
    if first == last:
        return f"{last.day} {last:%b %Y}"
    form = " %b %Y" if first.year != last.year else " %b" if first.month != last.month else ""
    return f"{first.day}{first.strftime(form)} to {last.day} {last:%b %Y}"


def _reasons(days: Sequence[CoverageDay]) -> str:
    """Return on which days a source was not read, and why; of many spans the last ones."""
    spans = [(why, [day.day for day in each]) for why, each in groupby(days, key=_reason) if why]
    texts = [f"{days_text(each[0], each[-1])} ({why})" for why, each in spans[-MAX_SPANS:]]
    earlier = sum(len(each) for _, each in spans[:-MAX_SPANS])
    return "; ".join([*([count_of(earlier, "earlier day")] if earlier else []), *texts])


def _reason(day: CoverageDay) -> str:
    """Return why a source was not read on a day; nothing if it was."""
    if day.state in COVERED:
        return ""
    if day.state is None:
        return "not crawled"
    return f"{day.state.replace('_', ' ')}{f': {day.note}' if day.note else ''}"
