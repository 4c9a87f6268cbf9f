"""Numbers over time, with how complete each of them is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from newscrawl.storage import Database, queries
from newscrawl.storage.queries import Completeness, Group, Hits, Measure, MentionCount, Scope
from newscrawl.storage.scope import today
from newscrawl.text import count_of

Step = Literal["day", "week", "month"]
# Ours: the maximum number of distinguishable colours; the rest is drawn as "others".
MAX_PARTS = 6
OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A period of a chart: its first day, and a number for each series, None where nothing was
    read. `days_left_out` are the days of a week or month that are not counted; `running` says that
    its last day is today."""

    first: date
    numbers: tuple[int | None, ...]
    completeness: Completeness
    by: Step
    days_left_out: int = 0
    running: bool = False

    @property
    def label(self) -> str:
        """Return the name of the period."""
        first = self.first
        if self.by == "month":
            return f"{first:%B %Y}"
        name = f"{first:%a} {first.day} {first:%b %Y}"
        return f"week of {name}" if self.by == "week" else name

    @property
    def values(self) -> tuple[int, ...] | None:
        """Return the numbers; None if one of them is not known."""
        values = tuple(number for number in self.numbers if number is not None)
        return values if len(values) == len(self.numbers) else None

    @property
    def total(self) -> int:
        return sum(self.values or ())

    @property
    def is_partial(self) -> bool:
        """Return whether the period is incomplete, so that a smaller number is not a decrease."""
        return bool(self.days_left_out) or self.running

    @property
    def is_unread(self) -> bool:
        """Return whether sources were not read, on a period with numbers."""
        completeness = self.completeness
        has_number = any(number is not None for number in self.numbers)
        return has_number and (
            completeness.covered < completeness.expected or completeness.unwatched > 0
        )

    @property
    def notes(self) -> str:
        """Return in words why its numbers are incomplete."""
        completeness, left_out = self.completeness, self.days_left_out
        notes = [f"{count_of(left_out, 'day')} left out"] if left_out else []
        notes += ["today, so far"] if self.running and not left_out else []
        if self.is_unread and completeness.unwatched:
            notes.append("begins before the first crawl")
        if self.is_unread and completeness.covered < completeness.expected:
            days = "sources" if self.by == "day" else "source-days"
            notes.append(f"{completeness.covered:,} of {completeness.expected:,} {days} read")
        return "; ".join(notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Series over time, with a row for each period; `undrawn` is the number of parts that are in no
    series."""

    series: tuple[str, ...]
    rows: tuple[Row, ...]
    undrawn: int = 0

    @property
    def total(self) -> int:
        return sum(row.total for row in self.rows)

    @property
    def gaps(self) -> int:
        return sum(row.values is None for row in self.rows)

    @property
    def partial(self) -> int:
        return sum(row.is_partial for row in self.rows)

    @property
    def unread(self) -> int:
        return sum(row.is_unread for row in self.rows)

    @property
    def peaks(self) -> tuple[Row, ...]:
        """Return the periods with the highest sum, none if all are 0."""
        highest = max((row.total for row in self.rows), default=0)
        return tuple(row for row in self.rows if highest and row.total == highest)

    def marks(self, by: Step) -> list[tuple[str, str]]:
        """Return the marks in the chart, "partial", "unread" or "gap", each with its meaning."""
        marks = [
            (self.partial, "partial", "Today so far" if by == "day" else f"Incomplete {by}"),
            (self.unread, "unread", "Some sources missing"),
            (self.gaps, "gap", "No data"),
        ]
        return [(mark, meaning) for number, mark, meaning in marks if number]


def number_of(hits: Hits | None, measure: Measure) -> int | None:
    """Return what is counted; None without coverage."""
    return None if hits is None else (getattr(hits, measure) or 0)


def make_row(period: MentionCount, numbers: Sequence[int | None], by: Step, scope: Scope) -> Row:
    """Return the row of a period with the numbers of its series."""
    first = date.fromisoformat(period.key if len(period.key) > 7 else f"{period.key}-01")
    return Row(
        first=first,
        numbers=tuple(numbers),
        completeness=period.completeness,
        by=by,
        days_left_out=period.days_left_out or 0,
        running=by == "day" and first == today(scope),
    )


def company_chart(
    database: Database,
    company: str,
    scope: Scope,
    *,
    by: Step,
    measure: Measure,
    split: Group | None = None,
    parts: Sequence[MentionCount] = (),
) -> Chart:
    """Return the chart of a company; `parts` are its counts by the group that splits it. Parts
    overlap where a story is in two sources, or a source in two groups."""

    def counts(within: Scope) -> list[MentionCount]:
        stories = measure == "stories"
        return queries.mention_counts(database, by, company=company, scope=within, stories=stories)

    periods = counts(scope)
    if split is None:
        series: tuple[str, ...] = (measure,)
        numbers = [[number_of(period.hits, measure)] for period in periods]
        if measure == "mentions":
            series = ("headline", "body")
            places = [
                (period.hits.in_title, period.hits.in_body) if period.hits else (None, None)
                for period in periods
            ]
            numbers = [[*place] for place in places]
        rows = [make_row(key, each, by, scope) for key, each in zip(periods, numbers, strict=True)]
        return Chart(series=series, rows=tuple(rows))
    biggest = sorted(parts, key=lambda part: -(number_of(part.hits, measure) or 0))
    keys = [part.key for part in biggest if number_of(part.hits, measure)]
    drawn = keys[:MAX_PARTS]
    within = [{split: key} for key in drawn]
    counts_by_part = [counts(replace(scope, **filters)) for filters in within]  # type: ignore[arg-type]
    overlaps = measure == "stories" or split == "group"
    rows = []
    for place, period in enumerate(periods):
        total = number_of(period.hits, measure)
        values = [number_of(each[place].hits, measure) or 0 for each in counts_by_part]
        spare = 0 if overlaps else max((total or 0) - sum(values), 0)
        rows.append(
            make_row(period, [None if total is None else n for n in (*values, spare)], by, scope)
        )
    if any(row.numbers[-1] for row in rows):
        return Chart(series=(*drawn, OTHERS), rows=tuple(rows))
    rows = [replace(row, numbers=row.numbers[:-1]) for row in rows]
    return Chart(series=tuple(drawn), rows=tuple(rows), undrawn=len(keys) - len(drawn))


def proof_columns(
    chart: Chart, company: str, measure: Measure, split: Group | None
) -> list[Mapping[str, Any]]:
    """Return what each series of a company's chart counts, for its proof."""
    if split is None:
        counted = chart.series if measure == "mentions" else (measure,)
        return [{"counted": each, "company": company} for each in counted]
    keys = [key for key in chart.series if key != OTHERS]
    columns: list[Mapping[str, Any]] = [
        {"counted": measure, "company": company, split: key} for key in keys
    ]
    if len(keys) < len(chart.series):
        columns.append({"counted": measure, "company": company, "split": split, "without": keys})
    return columns
