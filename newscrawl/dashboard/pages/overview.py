"""The first page: the companies by articles, against the period before."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from newscrawl.dashboard.charts import spark
from newscrawl.dashboard.filters import Filters, read_filters
from newscrawl.dashboard.pages.choices import choices
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import CoverageDay

router = APIRouter()

SHOWN = 25  # companies
# A source whose last good day lies further back than yesterday is told of on the first page.
SILENT_AFTER = 1  # days
LOOKED_BACK = 14  # days for which its silence is followed back
READ = {"ok", "paywalled"}


@dataclass(frozen=True, slots=True)
class Silent:
    """A source that is not read at present; `since` is the first such day, as far as we look."""

    source: str
    since: date
    last: CoverageDay


@router.get("/", response_class=HTMLResponse)
def overview(request: Request) -> HTMLResponse:
    """Companies by articles."""
    filters = read_filters(request.query_params)
    with desk_of(request).store.reading() as database:
        found = queries.overview(database, scope=filters.scope, limit=SHOWN)
        return render(
            request,
            "overview.html",
            filters=filters,
            choices=choices(database),
            found=found,
            lines={row.company: spark(row.spark) for row in found.companies},
            clutter=queries.clutter(database, scope=filters.scope),
            silent=_silent(database, filters),
        )


def _silent(database: Database, filters: Filters) -> list[Silent]:
    """The sources in scope that are not read on the period's last days."""
    since = filters.until - timedelta(days=LOOKED_BACK - 1)
    days: dict[str, list[CoverageDay]] = {}
    for day in queries.coverage(database, scope=replace(filters.scope, since=since)):
        days.setdefault(day.source, []).append(day)
    found = []
    for source, known in days.items():
        bad = 0
        while bad < len(known) and known[-1 - bad].state not in READ:
            bad += 1
        # Today's crawl may be yet to come; a failure is told at once.
        if bad > SILENT_AFTER or (bad and known[-1].state is not None):
            told = next((day for day in reversed(known) if day.state), known[-1])
            found.append(Silent(source, known[-bad].day, told))
    return sorted(found, key=lambda each: each.since)
