"""The search page: articles by their words."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from newscrawl.dashboard.filters import read_filters
from newscrawl.dashboard.pages.choices import choices
from newscrawl.dashboard.rendering import desk_of, render

router = APIRouter()


@router.get("/search", response_class=HTMLResponse)
def search(request: Request) -> HTMLResponse:
    """Articles that hold the words."""
    filters = read_filters(request.query_params)
    words = request.query_params.get("q", "").strip()
    with desk_of(request).store.reading() as database:
        return render(
            request,
            "search.html",
            filters=filters,
            choices=choices(database),
            words=words,
            results=[],
        )
