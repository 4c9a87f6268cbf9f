"""A company's page: when, where and beside whom it was in the news."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from newscrawl.dashboard.charts import Chart, Row, first_day, label
from newscrawl.dashboard.filters import Filters, read_filters
from newscrawl.dashboard.pages.choices import choices
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import Hits

router = APIRouter()

LATEST = 20


@router.get("/company/{name:path}", response_class=HTMLResponse)
def company(request: Request, name: str) -> HTMLResponse:
    """One company."""
    filters = read_filters(request.query_params)
    with desk_of(request).store.reading() as database:
        if name not in queries.company_names(database):
            raise HTTPException(404, f"No company {name!r} was ever mentioned in this database.")
        chart = _chart(database, name, filters)
        by_source = queries.mention_counts(database, "source", company=name, scope=filters.scope)
        return render(
            request,
            "company.html",
            name=name,
            filters=filters,
            choices=choices(database),
            chart=chart,
            hits=sum((row.hits for row in by_source if row.hits), Hits()),
            reach=queries.reach(database, scope=filters.scope),
            by_source=by_source,
            by_language=queries.mention_counts(
                database, "language", company=name, scope=filters.scope
            ),
            latest=queries.articles(database, company=name, scope=filters.scope, limit=LATEST),
        )


def _chart(database: Database, name: str, filters: Filters) -> Chart:
    counts = queries.mention_counts(database, filters.by, company=name, scope=filters.scope)
    rows = [
        Row(
            first_day(count.key),
            label(count.key, filters.by),
            (count.hits.in_title, count.hits.in_body) if count.hits else None,
        )
        for count in counts
    ]
    return Chart(("headline", "body"), tuple(rows))
