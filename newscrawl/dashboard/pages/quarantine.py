"""The quarantine's page: versions that would make articles worse, and wait for somebody."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from newscrawl.dashboard.filters import MAX_VALUE
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import queries
from newscrawl.storage.queries import Scope

router = APIRouter()

SHOWN = 200  # revisions
_WORDS: Mapping[str, str] = {
    "no_article": "there is no article at its address any more",
    "text_shrank": "most of the text is gone",
    "text_replaced": "another text stands under another headline",
    "headline_lost": "the headline is gone",
    "layout_changed": "the site's pages have changed",
}


def why(reason: str, note: str) -> str:
    """Return in words why a revision was not applied."""
    words = _WORDS.get(reason, reason)
    return f"{words}: {note}" if note else words


@router.get("/quarantine", response_class=HTMLResponse)
def quarantine(
    request: Request, source: Annotated[str, Query(max_length=MAX_VALUE)] = ""
) -> HTMLResponse:
    """The revisions in the quarantine, of a source or of all."""
    wanted = source.replace("\0", "") or None
    with desk_of(request).store.reading() as database:
        rows = queries.quarantined(database, scope=Scope(source=wanted), limit=SHOWN)
        sizes = queries.quarantine_sizes(database)
    return render(
        request,
        "quarantine.html",
        rows=[(row, why(row.reason, row.note)) for row in rows],
        source=wanted,
        sizes=sorted(sizes.items()),
        number=sizes.get(wanted, 0) if wanted else sum(sizes.values()),
    )
