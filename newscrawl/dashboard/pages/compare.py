"""Companies beside each other: their shares of voice, and how they rose and fell."""

from collections import defaultdict

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from newscrawl.dashboard.charts import Chart, Row, first_day, label
from newscrawl.dashboard.downloads import chart_csv, wants_csv
from newscrawl.dashboard.filters import MAX_VALUE, Filters, read_filters
from newscrawl.dashboard.pages.choices import choices
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import Database, queries
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.queries import Share

router = APIRouter()

MOST = 6  # companies; more lines can't be told apart
SUGGESTED = 4  # where none is named


@router.get("/compare", response_class=HTMLResponse)
def compare(request: Request) -> Response:
    """Shares of voice, or their chart's numbers as CSV."""
    filters = read_filters(request.query_params, desk_of(request).config.clock())
    given = [name.strip() for name in request.query_params.getlist("company") if name.strip()]
    if any(len(name) > MAX_VALUE or "\0" in name for name in given):
        raise QuestionError("company can't have this name: it is too long or holds a NUL")
    with desk_of(request).store.reading() as database:
        names = queries.company_names(database)
        known = [name for name in dict.fromkeys(given) if name in names][:MOST]
        unknown = [name for name in dict.fromkeys(given) if name not in names]
        chosen = known if given else _suggested(database, filters)
        shares: list[Share] = []
        chart = Chart((), ())
        if len(chosen) > 1:
            shares = queries.share_of_voice(
                database, chosen, measure=filters.count, scope=filters.scope
            )
            chart = _chart(database, chosen, filters)
        if wants_csv(request):
            return chart_csv(chart, "compare", filters)
        return render(
            request,
            "compare.html",
            filters=filters,
            choices=choices(database),
            chosen=chosen,
            unknown=unknown,
            names=names,
            most=MOST,
            shares=shares,
            chart=chart,
            completeness=queries.completeness(database, scope=filters.scope),
        )


def _suggested(database: Database, filters: Filters) -> list[str]:
    ranked = queries.company_ranking(database, scope=filters.scope, limit=SUGGESTED)
    return [row.company for row in ranked]


def _chart(database: Database, chosen: list[str], filters: Filters) -> Chart:
    """A series for each company; a row without numbers where nobody looked."""
    by_key: dict[str, list[int | None]] = defaultdict(list)
    found = queries.share_of_voice(
        database, chosen, by=filters.by, measure=filters.count, scope=filters.scope
    )
    for share in found:
        by_key[str(share.key)].append(share.number)
    rows = [
        Row(
            first_day(key),
            label(key, filters.by),
            None if None in numbers else tuple(number or 0 for number in numbers),
        )
        for key, numbers in by_key.items()
    ]
    return Chart(tuple(chosen), tuple(rows))
