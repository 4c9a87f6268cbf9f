"""The first page: the companies by articles, against the period before."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from newscrawl.dashboard.charts import READ, spark
from newscrawl.dashboard.downloads import ranking_csv, wants_csv
from newscrawl.dashboard.filters import Filters, read_filters
from newscrawl.dashboard.pages.choices import choices
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import CoverageDay

router = APIRouter()

SHOWN = 25  # companies
DOWNLOADED = 10_000  # companies
# A source whose last good day lies further back than yesterday is told of on the first page.
SILENT_AFTER = 1  # days
TOLD = 5  # silent sources by name
LOOKED_BACK = 14  # days for which its silence is followed back


@dataclass(frozen=True, slots=True)
class Silent:
    """A source that is not read at present; `since` is the first such day, as far as we look."""

    source: str
    since: date
    last: CoverageDay


@dataclass(frozen=True, slots=True)
class Silence:
    """The number of sources that are not read at present, and some of them."""

    number: int
    told: tuple[Silent, ...]


@router.get("/", response_class=HTMLResponse)
def overview(request: Request) -> Response:
    """Companies by articles, or all of them as CSV."""
    filters = read_filters(request.query_params, desk_of(request).config.clock())
    with desk_of(request).store.reading() as database:
        if wants_csv(request):
            ranked = queries.overview(database, scope=filters.scope, limit=DOWNLOADED)
            return ranking_csv(ranked.companies, filters)
        found = queries.overview(database, scope=filters.scope, limit=SHOWN)
        return render(
            request,
            "overview.html",
            filters=filters,
            choices=choices(database),
            found=found,
            shown=SHOWN,
            lines={row.company: spark(row.spark) for row in found.companies},
            boilerplate=queries.boilerplate(database, scope=filters.scope),
            silence=_silence(database, filters),
            quarantined=sum(queries.quarantine_sizes(database).values()),
        )


def _silence(database: Database, filters: Filters) -> Silence:
    """The sources in scope that are not read on the period's last days."""
    last: dict[str, list[CoverageDay]] = {}
    since = filters.until - timedelta(days=SILENT_AFTER)
    for day in queries.coverage(database, scope=replace(filters.scope, since=since)):
        last.setdefault(day.source, []).append(day)
    # Today's crawl may be yet to come; a failure is told at once.
    found = [
        source
        for source, days in last.items()
        if days[-1].state not in READ
        and (days[-1].state is not None or (len(days) > SILENT_AFTER and days[0].state not in READ))
    ]
    return Silence(len(found), tuple(_told(database, filters, source) for source in found[:TOLD]))


def _told(database: Database, filters: Filters, source: str) -> Silent:
    since = filters.until - timedelta(days=LOOKED_BACK - 1)
    scope = replace(filters.scope, since=since, source=source)
    bad: list[CoverageDay] = []
    for day in reversed(queries.coverage(database, scope=scope)):
        if day.state in READ:
            break
        bad.append(day)
    return Silent(source, bad[-1].day, next((day for day in bad if day.state), bad[0]))
