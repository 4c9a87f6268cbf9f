"""The first page, with the companies by articles, and the search."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from newscrawl.dashboard.charts import READ, ranking_csv, spark, wants_csv
from newscrawl.dashboard.filters import Filters
from newscrawl.dashboard.rendering import app_state, choices, filters_of, render
from newscrawl.storage import Database, queries
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.queries import CoverageDay, FoundArticle

router = APIRouter()

MAX_COMPANIES = 25
MAX_DOWNLOADED = 10_000  # companies
RESULTS = 20  # articles on a page of the search
# The first page names sources that were not read for more than a day, MAX_SILENT of them.
SILENT_AFTER = 1  # days
MAX_SILENT = 5
SILENCE_DAYS = 14  # days for which a silence is followed back


@dataclass(frozen=True, slots=True)
class Silent:
    """A source that is not read at present; `since` is the first such day within SILENCE_DAYS."""

    source: str
    since: date
    last: CoverageDay


@dataclass(frozen=True, slots=True)
class Silence:
    """The number of sources that are not read at present, and some of them."""

    number: int
    named: tuple[Silent, ...]


@router.get("/", response_class=HTMLResponse)
def overview(request: Request) -> Response:
    """Show the companies by articles, or return all of them as CSV."""
    filters = filters_of(request)
    with app_state(request).store.reading() as database:
        if wants_csv(request):
            ranked = queries.overview(database, scope=filters.scope, limit=MAX_DOWNLOADED)
            return ranking_csv(ranked.companies, filters)
        found = queries.overview(database, scope=filters.scope, limit=MAX_COMPANIES)
        return render(
            request,
            "overview.html",
            filters=filters,
            choices=choices(database),
            found=found,
            shown=MAX_COMPANIES,
            lines={row.company: spark(row.spark) for row in found.companies},
            boilerplate=queries.boilerplate(database, scope=filters.scope),
            silence=_silence(database, filters),
            quarantined=sum(queries.quarantine_sizes(database).values()),
        )


def _silence(database: Database, filters: Filters) -> Silence:
    """Return the sources in scope that are not read on the period's last days."""
    last: dict[str, list[CoverageDay]] = {}
    since = filters.until - timedelta(days=SILENT_AFTER)
    for day in queries.coverage(database, scope=replace(filters.scope, since=since)):
        last.setdefault(day.source, []).append(day)
    # Today's crawl may still come; a failure is shown at once.
    silent = [
        source
        for source, days in last.items()
        if days[-1].state not in READ
        and (days[-1].state is not None or (len(days) > SILENT_AFTER and days[0].state not in READ))
    ]
    named = tuple(_silent(database, filters, source) for source in silent[:MAX_SILENT])
    return Silence(len(silent), named)


def _silent(database: Database, filters: Filters, source: str) -> Silent:
    since = filters.until - timedelta(days=SILENCE_DAYS - 1)
    scope = replace(filters.scope, since=since, source=source)
    bad: list[CoverageDay] = []
    for day in reversed(queries.coverage(database, scope=scope)):
        if day.state in READ:
            break
        bad.append(day)
    return Silent(source, bad[-1].day, next((day for day in bad if day.state), bad[0]))


@router.get("/search", response_class=HTMLResponse)
def search(request: Request) -> HTMLResponse:
    """Show the articles that match the words."""
    filters = filters_of(request)
    words = request.query_params.get("q", "").strip()
    with app_state(request).store.reading() as database:
        found, fault = _search(database, words, filters)
        return render(
            request,
            "search.html",
            filters=filters,
            choices=choices(database),
            words=words,
            found=found,
            fault=fault,
            shown=RESULTS,
        )


def _search(
    database: Database, words: str, filters: Filters
) -> tuple[Sequence[FoundArticle], str | None]:
    """Return a page of results, with one more if there is a next page; or why there are none."""
    if not words:
        return (), None
    offset = (filters.page - 1) * RESULTS
    try:
        found = queries.search(
            database, words, scope=filters.scope, limit=RESULTS + 1, offset=offset, each=3
        )
    except QuestionError as error:
        return (), str(error)
    return found, None
