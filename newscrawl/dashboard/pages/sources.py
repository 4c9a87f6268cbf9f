"""The page of sources: whether each was read every day, and whether it had its usual number of
articles."""

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date, timedelta
from statistics import median

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from newscrawl.dashboard.charts import READ, Strip, strip
from newscrawl.dashboard.filters import read_filters
from newscrawl.dashboard.rendering import app_state, choices, render
from newscrawl.storage import queries
from newscrawl.storage.queries import CoverageDay
from newscrawl.storage.status import watch_status

router = APIRouter()

MAX_DAYS = 30
LOW = 0.5  # of the expected articles; ours


@dataclass(frozen=True, slots=True)
class Health:
    """The last days of a source, as of `today`. `expected` is the median of the articles on its
    good days."""

    source: str
    days: list[CoverageDay]
    expected: int | None
    today: date

    @property
    def last(self) -> CoverageDay:
        return self.days[-1]

    @property
    def read(self) -> int:
        return sum(day.state in READ for day in self.days)

    @property
    def strip(self) -> Strip:
        return strip(self.days, MAX_DAYS)

    @property
    def faults(self) -> str:
        """The days on which the source was not read."""
        days = [f"{day.day.day} {day.day:%b}" for day in self.days if day.state not in READ]
        return ", ".join(days)

    @property
    def is_low(self) -> bool:
        """Return whether the last day had far fewer articles than usual; today may get more."""
        over = self.last.day < self.today
        return over and self.last.found < LOW * (self.expected or 0)


@router.get("/sources", response_class=HTMLResponse)
def sources(request: Request) -> HTMLResponse:
    """Show all sources."""
    now = app_state(request).config.clock()
    filters = read_filters(request.query_params, now)
    first = max(filters.since, filters.until - timedelta(days=MAX_DAYS - 1))
    with app_state(request).store.reading() as database:
        found = queries.coverage(database, scope=replace(filters.scope, since=first))
        watch = watch_status(database, sorted({day.source for day in found}))
        return render(
            request,
            "sources.html",
            filters=filters,
            choices=choices(database),
            sources=_health(found, now.date()),
            watch={status.slug: status for status in watch.sources},
            incidents=watch.incidents,
            number=min(MAX_DAYS, filters.length),
        )


def _health(found: list[CoverageDay], today: date) -> list[Health]:
    by_source: dict[str, list[CoverageDay]] = defaultdict(list)
    for day in found:
        by_source[day.source].append(day)
    rows = [
        Health(
            source,
            days,
            round(median(good)) if (good := [d.found for d in days if d.state in READ]) else None,
            today,
        )
        for source, days in by_source.items()
    ]
    return sorted(rows, key=lambda row: (row.last.state in READ, row.source))
