"""The page of sources: the health of each, whether it was read every day, and whether it had its
usual number of articles."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, Literal

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.answers.coverage import SourceDays, days_of_sources, of_past_period
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
from newscrawl.reports.curves import strip
from newscrawl.sources import SourceError, UrlError
from newscrawl.sources.checks import check_registered
from newscrawl.sources.discovery import add_site
from newscrawl.sources.visits import FetchError
from newscrawl.storage import Database, queries
from newscrawl.storage.frontier.listings import pause_source
from newscrawl.storage.queries.left_out import withheld_articles
from newscrawl.storage.scope import MAX_VALUE
from newscrawl.storage.source_stats import last_checkups
from newscrawl.storage.status import Health, list_incidents

router = page_router()

MAX_DAYS = 31  # a whole month
MAX_ROWS = 40  # sources on a page; ours


Line = Annotated[str, Field(max_length=MAX_VALUE)]


class SourceForm(BaseModel):
    """The form that adds a site by its `url`, or changes the source `slug`."""

    url: str = Field("", max_length=2000)
    country: str = Field("", pattern=r"^([A-Za-z]{2})?$")
    language: str = Field("", pattern=r"^([A-Za-z]{2})?$")
    slug: Line = ""
    do: Literal["test", "pause", "resume"] = "test"


# What the sources can be sorted by, beside their state.
ORDERS: dict[str, Callable[[SourceDays], Any]] = {
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
    return _page(request, database, done={"added": added, "tested": tested})


def _page(
    request: Request,
    database: Database,
    form: SourceForm | None = None,
    fault: str = "",
    *,
    done: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    """Show the sources, and the form to add one, as it was refused."""
    now = app_state(request).config.clock()
    filters = filters_of(request)
    is_past = filters.until < now.date()
    first = max(filters.since, filters.until - timedelta(days=MAX_DAYS - 1))
    scope = replace(filters.scope, since=first)
    coverage = queries.coverage(database, scope=scope)
    withheld = withheld_articles(database, scope=scope)
    healths = queries.source_health(database, scope=filters.scope)
    rows = days_of_sources(healths, coverage, withheld, now.date())
    rows = of_past_period(rows) if is_past else rows
    parameters = request.query_params
    words, state, order = (parameters.get(name, "") for name in ("q", "state", "order"))
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
    shown = chosen[begin : begin + MAX_ROWS]
    return render(
        request,
        "sources.html",
        status=422 if fault else 200,
        form=form or SourceForm.model_construct(),
        fault=fault,
        filters=filters,
        choices=choices(database, filters),
        sources=shown,
        more=len(chosen) > begin + MAX_ROWS,
        total=len(chosen),
        words=words,
        state=state,
        order=order,
        is_past=is_past,
        strips={row.status.source: strip(row.days, MAX_DAYS) for row in shown},
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
        check=last_checkups(database).get(done.get("tested", "")),
        unread=withheld,
        first=first,
        number=min(MAX_DAYS, filters.length),
    )


def _table(rows: Iterable[SourceDays], names: Mapping[str, str]) -> Table:
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
    """Add a site by its address, and show it; or the form again with the reason why not."""
    try:
        slug = add_site(database, form.url, form.country, form.language).slug
    except (SourceError, UrlError, FetchError) as error:
        # The rest is advice for the command line.
        fault = re.split(": newscrawl |, for example --", str(error))[0]
        return _page(request, database, form, f"{fault}.")
    return RedirectResponse(f"/sources{query(q=slug, added=slug)}", status_code=303)


@router.post("/sources/change")
def change(request: Request, database: OpenDatabase, form: Sent[SourceForm]) -> Response:
    """Test, pause or resume a source, and show it."""
    if form.slug not in queries.source_names(database):
        raise HTTPException(404, f"No source {form.slug!r} is in the database.")
    if form.do != "test":
        now = app_state(request).config.clock()
        pause_source(database, form.slug, now, paused=form.do == "pause")
    else:
        try:
            check_registered(database, form.slug)
        except SourceError as error:
            raise HTTPException(422, f"{error}.") from error
    done = {"tested": form.slug} if form.do == "test" else {}
    return RedirectResponse(f"/sources{query(q=form.slug, **done)}", status_code=303)
