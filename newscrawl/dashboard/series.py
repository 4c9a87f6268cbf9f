"""A company's counts over time, as one chart: whole, or parted by source, language or country."""

from collections.abc import Sequence
from dataclasses import replace

from newscrawl.dashboard.charts import Chart, Row, first_day, label
from newscrawl.dashboard.filters import Count, Filters
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import Hits, MentionCount

# Ours: colours that can still be told apart; what is left is drawn as "others".
MOST_PARTS = 6
OTHERS = "others"


def over_time(
    database: Database, name: str, filters: Filters, groups: Sequence[MentionCount]
) -> Chart:
    """The chart that the filters ask for; `groups` are the counts of what they part by."""
    whole = _counts(database, name, filters)
    if filters.split == "whole":
        return _whole(whole, filters)
    biggest = sorted(groups, key=lambda group: -number(group.hits, filters.count))
    keys = [group.key for group in biggest if number(group.hits, filters.count)][:MOST_PARTS]
    parts = [_counts(database, name, _narrowed(filters, key)) for key in keys]
    rows = []
    for i, total in enumerate(whole):
        values = [number(part[i].hits, filters.count) for part in parts]
        # Stories don't add up: one that two sources tell counts for both.
        left = number(total.hits, filters.count) - sum(values) if filters.count != "stories" else 0
        rows.append(_row(total, filters, (*values, max(left, 0))))
    if not any(row.values and row.values[-1] for row in rows):
        rows = [replace(row, values=row.values and row.values[:-1]) for row in rows]
        return Chart(tuple(keys), tuple(rows))
    return Chart((*keys, OTHERS), tuple(rows))


def total(counts: Sequence[MentionCount]) -> Hits:
    """All groups together."""
    return sum((count.hits for count in counts if count.hits), Hits())


def total_or_gap(counts: Sequence[MentionCount]) -> Hits | None:
    """All periods together; None where nobody looked in any."""
    return total(counts) if any(count.hits is not None for count in counts) else None


def number(hits: Hits | None, count: Count) -> int:
    """What is counted; 0 where nobody looked."""
    return 0 if hits is None else (getattr(hits, count) or 0)


def _whole(counts: Sequence[MentionCount], filters: Filters) -> Chart:
    if filters.count == "mentions":
        rows = [
            _row(each, filters, (each.hits.in_title, each.hits.in_body) if each.hits else ())
            for each in counts
        ]
        return Chart(("headline", "body"), tuple(rows))
    rows = [_row(each, filters, (number(each.hits, filters.count),)) for each in counts]
    return Chart((filters.count,), tuple(rows))


def _row(count: MentionCount, filters: Filters, values: tuple[int, ...]) -> Row:
    told = values if count.hits is not None else None
    return Row(first_day(count.key), label(count.key, filters.by), told)


def _narrowed(filters: Filters, key: str) -> Filters:
    """The filters for one of the parts."""
    match filters.split:
        case "source":
            return replace(filters, source=key)
        case "language":
            return replace(filters, language=key)
        case _:
            return replace(filters, country=key)


def _counts(database: Database, name: str, filters: Filters) -> list[MentionCount]:
    return queries.mention_counts(
        database,
        filters.by,
        company=name,
        scope=filters.scope,
        stories=filters.count == "stories",
    )
