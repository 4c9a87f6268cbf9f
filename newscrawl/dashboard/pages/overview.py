"""The first page: the companies by mentions, against the period before."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from newscrawl.dashboard.charts import articles_of, spark
from newscrawl.dashboard.filters import Filters, read_filters
from newscrawl.dashboard.pages.choices import choices
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import Hits

router = APIRouter()

SHOWN = 25  # companies; more are a click away


@dataclass(frozen=True, slots=True)
class Standing:
    """A company's line on the page."""

    company: str
    hits: Hits
    sources: int
    before: int | None
    line: list[str]

    @property
    def change(self) -> float | None:
        """Of its articles, as a share of those in the period before; None where there were none."""
        return self.hits.articles / self.before - 1 if self.before else None


@router.get("/", response_class=HTMLResponse)
def overview(request: Request) -> HTMLResponse:
    """Companies by mentions."""
    filters = read_filters(request.query_params)
    with desk_of(request).store.reading() as database:
        reach = queries.reach(database, scope=filters.scope)
        return render(
            request,
            "overview.html",
            filters=filters,
            choices=choices(database),
            standings=_standings(database, filters),
            reach=reach,
            reach_before=queries.reach(database, scope=filters.before.scope),
            facts=queries.facts(database),
        )


def _standings(database: Database, filters: Filters) -> list[Standing]:
    now = queries.company_ranking(database, scope=filters.scope, limit=SHOWN)
    before = {
        row.company: row.hits.articles
        for row in queries.company_ranking(database, scope=filters.before.scope)
    }
    return [
        Standing(
            row.company,
            row.hits,
            row.sources,
            before.get(row.company),
            spark(
                articles_of(
                    queries.mention_counts(
                        database, "day", company=row.company, scope=filters.scope
                    )
                )
            ),
        )
        for row in now
    ]
