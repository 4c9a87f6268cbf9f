"""The search page: articles by their words."""

from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from newscrawl.dashboard.filters import Filters, read_filters
from newscrawl.dashboard.pages.choices import choices
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import Database, queries
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.queries import FoundArticle

router = APIRouter()

SHOWN = 20  # articles a page


@router.get("/search", response_class=HTMLResponse)
def search(request: Request) -> HTMLResponse:
    """Articles that hold the words."""
    filters = read_filters(request.query_params, desk_of(request).config.clock())
    words = request.query_params.get("q", "").strip()
    with desk_of(request).store.reading() as database:
        found, fault = _found(database, words, filters)
        return render(
            request,
            "search.html",
            filters=filters,
            choices=choices(database),
            words=words,
            found=found,
            fault=fault,
            shown=SHOWN,
        )


def _found(
    database: Database, words: str, filters: Filters
) -> tuple[Sequence[FoundArticle], str | None]:
    """A page of results, with one more if there is a next page; or why there are none."""
    if not words:
        return (), None
    offset = (filters.page - 1) * SHOWN
    try:
        found = queries.search(
            database, words, scope=filters.scope, limit=SHOWN + 1, offset=offset, each=3
        )
    except QuestionError as error:
        return (), str(error)
    return found, None
