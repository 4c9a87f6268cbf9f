"""Reports, made at one click; and who gets alerts and digests, and what was sent."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from newscrawl.dashboard.filters import MAX_VALUE
from newscrawl.dashboard.rendering import app_state, filters_of, render
from newscrawl.dashboard.security import HEADERS
from newscrawl.reports import (
    MEDIA_TYPES,
    ReportFormat,
    html_report,
    make_report,
    report_policy,
    workbook,
)
from newscrawl.storage import queries
from newscrawl.storage.company_alerts import AlertKind, list_alerts, watched_companies
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.recipients import list_recipients, sent_notices

router = APIRouter()

MAX_SENT = 50
MAX_ALERTS = 20
ALERTS_SHOWN: tuple[AlertKind, ...] = ("spike", "first mention", "first pair")


@router.get("/report", response_class=HTMLResponse)
def report(
    request: Request,
    company: Annotated[list[str], Query(max_length=50)],
    format: ReportFormat = "html",  # noqa: A002 - the name in the address
) -> Response:
    """Return the report on companies or groups over the period of the filters."""
    filters = filters_of(request)
    names = [name for name in company if name.strip()]
    if any(len(name) > MAX_VALUE or "\0" in name for name in names):
        raise QuestionError("company can't have this name: it is too long or holds a NUL")
    with app_state(request).store.reading() as database:
        stored = {*queries.company_names(database)}
        for name in names:
            if stored.isdisjoint(filters.scope.members(name)):
                raise HTTPException(404, f"No company {name!r} was ever mentioned here.")
        made = make_report(database, names, filters.scope)
    if format == "xlsx":
        headers = {"Content-Disposition": f'attachment; filename="{made.file_name}.xlsx"'}
        return Response(workbook(made), media_type=MEDIA_TYPES[format], headers=headers)
    address = str(request.base_url)
    policy = f"{report_policy()}; frame-ancestors 'none'"
    return HTMLResponse(
        html_report(made, address), headers={**HEADERS, "Content-Security-Policy": policy}
    )


@router.get("/alerts", response_class=HTMLResponse)
def alerts(request: Request) -> HTMLResponse:
    """Show what is watched, who gets alerts and digests, and what was sent."""
    with app_state(request).store.reading() as database:
        return render(
            request,
            "alerts.html",
            watched=watched_companies(database),
            recipients=list_recipients(database),
            sent=sent_notices(database, MAX_SENT),
            alerts=[
                stored.alert
                for stored in list_alerts(database, limit=MAX_ALERTS, kinds=ALERTS_SHOWN)
            ],
            shown=MAX_SENT,
        )
