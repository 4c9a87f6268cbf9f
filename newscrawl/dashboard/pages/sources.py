"""The page of sources: the health of each, whether it was read every day, and whether it had its
usual number of articles."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby
from statistics import median
from typing import Annotated, Any, Literal

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.answers.coverage import unread_sources
from newscrawl.dashboard.charts import Strip, strip
from newscrawl.dashboard.config import SourceEditError
from newscrawl.dashboard.exports import export_format, table_file
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    Sent,
    app_state,
    choices,
    filters_of,
    page_router,
    query,
    render,
)
from newscrawl.reports import Table
from newscrawl.storage import queries
from newscrawl.storage.frontier import pause_source
from newscrawl.storage.queries import CoverageDay
from newscrawl.storage.queries.completeness import COVERED
from newscrawl.storage.queries.left_out import LeftOut, withheld_articles
from newscrawl.storage.scope import MAX_VALUE
from newscrawl.storage.source_stats import last_checkups
from newscrawl.storage.status import Health, SourceStatus, list_incidents

router = page_router()

MAX_DAYS = 31  # a whole month
MAX_ROWS = 40  # sources on a page; ours
LOW = 0.5  # of the expected articles; ours


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The health of a source, and its last days as of `today`. `expected` is the median of the
    articles on its good days; of `paywalled` articles only headline and introduction were read."""

    status: SourceStatus
    days: list[CoverageDay]
    expected: int | None
    today: date
    paywalled: int

    @property
    def last(self) -> CoverageDay | None:
        return self.days[-1] if self.days else None

    @property
    def read(self) -> int:
        return sum(day.state in COVERED for day in self.days)

    @property
    def strip(self) -> Strip:
        return strip(self.days, MAX_DAYS)

    @property
    def faults(self) -> str:
        """Return the days on which the source was not read, and why."""
        return "".join(source.reasons for source in unread_sources(self.days))

    @property
    def is_low(self) -> bool:
        """Return whether the last day had far fewer articles than usual; today may get more."""
        if self.last is None or self.last.day >= self.today:
            return False
        return self.last.found < LOW * (self.expected or 0)


Line = Annotated[str, Field(max_length=MAX_VALUE)]


class SourceForm(BaseModel):
    """The form that adds a site by its `url`, or changes the source `slug`."""

    url: str = Field("", max_length=2000)
    country: str = Field("", pattern=r"^([A-Za-z]{2})?$")
    language: str = Field("", pattern=r"^([A-Za-z]{2})?$")
    slug: Line = ""
    do: Literal["test", "pause", "resume"] = "test"


@dataclass(frozen=True, slots=True)
class Done:
    """The source that was added or tested just before."""

    added: str = ""
    tested: str = ""


# What the sources can be sorted by, beside their state.
ORDERS: dict[str, Callable[[SourceRow], Any]] = {
    "name": lambda row: row.status.source,
    "due": lambda row: (row.status.next_at is None, row.status.next_at),
    "unread": lambda row: row.read - len(row.days),
    "articles": lambda row: -(row.expected or 0),
}


@router.get("/sources")
def sources(
    request: Request, database: OpenDatabase, added: Line = "", tested: Line = ""
) -> Response:
    """Show the sources: those whose name has the words, in a state, in an order; or return them all
    as a file."""
    now, done = app_state(request).config.clock(), Done(added, tested)
    filters = filters_of(request)
    is_past = filters.until < now.date()
    first = max(filters.since, filters.until - timedelta(days=MAX_DAYS - 1))
    scope = replace(filters.scope, since=first)
    coverage = queries.coverage(database, scope=scope)
    withheld = withheld_articles(database, scope=scope)
    healths = queries.source_health(database, scope=filters.scope)
    rows = _rows(healths, coverage, withheld, now.date())
    rows = _of_period(rows) if is_past else rows
    asked = request.query_params
    words, state, order = (asked.get(name, "") for name in ("q", "state", "order"))
    names = queries.source_names(database)
    chosen = [
        row
        for row in rows
        if words.casefold() in f"{row.status.source} {names.get(row.status.source)}".casefold()
        and (not state or row.status.health == state)
    ]
    if order in ORDERS:
        chosen.sort(key=ORDERS[order])
    if kind := export_format(request):
        return table_file(kind, {"Sources": _table(chosen, names)}, "sources", filters)
    begin = (filters.page - 1) * MAX_ROWS
    return render(
        request,
        "sources.html",
        filters=filters,
        choices=choices(database, filters),
        sources=chosen[begin : begin + MAX_ROWS],
        more=len(chosen) > begin + MAX_ROWS,
        total=len(chosen),
        words=words,
        state=state,
        order=order,
        is_past=is_past,
        healths=tuple(Health),
        states=[
            ("", "Any state"),
            *((str(health), health.replace("_", " ")) for health in Health),
        ],
        incidents=list_incidents(database),
        done=done,
        next_due=min(
            (row.status for row in rows if row.status.next_at and not row.status.is_paused),
            key=lambda status: status.next_at or now,
            default=None,
        ),
        check=last_checkups(database).get(done.tested),
        may_add=app_state(request).config.add_source is not None,
        may_check=app_state(request).config.check_source is not None,
        unread=withheld,
        first=first,
        number=min(MAX_DAYS, filters.length),
    )


def _table(rows: Iterable[SourceRow], names: Mapping[str, str]) -> Table:
    """Return the sources as a table of a file."""
    head = ("source", "name", "state", "days_read", "days", "found", "usual", "paywalled")
    table = [
        (
            row.status.source,
            names.get(row.status.source),
            str(row.status.health),
            row.read,
            len(row.days),
            row.last.found if row.last else None,
            row.expected,
            row.paywalled,
            row.status.last_end or row.status.last_start,
            row.status.next_at,
            row.faults,
        )
        for row in rows
    ]
    return Table((*head, "last_crawl", "next_due", "not_read"), table)


@router.post("/sources/add")
def add(request: Request, database: OpenDatabase, form: Sent[SourceForm]) -> Response:
    """Add a site by its address, and show it."""
    add_source = app_state(request).config.add_source
    if add_source is None:
        raise HTTPException(404, "Sources can't be added here.")
    try:
        slug = add_source(database, form.url, form.country, form.language)
    except SourceEditError as error:
        raise HTTPException(422, str(error)) from error
    return RedirectResponse(f"/sources{query(q=slug, added=slug)}", status_code=303)


@router.post("/sources/change")
def change(request: Request, database: OpenDatabase, form: Sent[SourceForm]) -> Response:
    """Test, pause or resume a source, and show it."""
    config = app_state(request).config
    if form.slug not in queries.source_names(database):
        raise HTTPException(404, f"No source {form.slug!r} is in the database.")
    if form.do != "test":
        pause_source(database, form.slug, config.clock(), paused=form.do == "pause")
    elif config.check_source is None:
        raise HTTPException(404, "Sources can't be tested here.")
    else:
        try:
            config.check_source(database, form.slug)
        except SourceEditError as error:
            raise HTTPException(422, str(error)) from error
    done = {"tested": form.slug} if form.do == "test" else {}
    return RedirectResponse(f"/sources{query(q=form.slug, **done)}", status_code=303)


def _of_period(rows: list[SourceRow]) -> list[SourceRow]:
    """Return the rows of a period that is over: those of the sources that were to be read on one of
    its days, by the days that were missed, since their present health says nothing of it."""
    watched = [row for row in rows if row.days]
    return sorted(watched, key=lambda row: (row.read - len(row.days), row.status.source))


def _rows(
    statuses: Iterable[SourceStatus],
    coverage: Iterable[CoverageDay],
    withheld: Iterable[LeftOut],
    today: date,
) -> list[SourceRow]:
    by_source = {source: [*days] for source, days in groupby(coverage, lambda day: day.source)}
    paywalled = {
        slug: number
        for one in withheld
        if one.reason == "paywalled"
        for slug, number in one.sources
    }
    rows = []
    for status in statuses:
        days = by_source.get(status.source, [])
        good = [day.found for day in days if day.state in COVERED]
        expected = round(median(good)) if good else None
        hidden = paywalled.get(status.source, 0)
        rows.append(SourceRow(status, days, expected, today, hidden))
    return rows
