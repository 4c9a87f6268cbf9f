"""An article's page: its text with the mentions marked, and what became of it over time."""

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from newscrawl.dashboard.marked import Edit, changes, paragraphs, pieces
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage.queries.reading import FullArticle, full_article

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Revised:
    """What a version changed of the one before it."""

    number: int
    at: datetime
    title: list[list[Edit]]
    text: list[list[Edit]]


@router.get("/article", response_class=HTMLResponse)
def article(request: Request, url: str) -> HTMLResponse:
    """One article."""
    with desk_of(request).store.reading() as database:
        found = full_article(database, url)
    if found is None:
        raise HTTPException(404, "No article with this address is in the database.")
    title = [mention for mention in found.mentions if mention.section == "title"]
    body = [mention for mention in found.mentions if mention.section == "body"]
    return render(
        request,
        "article.html",
        article=found,
        headline=pieces(found.title or "", title),
        paragraphs=paragraphs(found.text, body),
        companies=_companies(found),
        revised=_revised(found),
        explains=desk_of(request).config.explain is not None,
    )


def _companies(found: FullArticle) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for mention in found.mentions:
        counts[mention.company] = counts.get(mention.company, 0) + 1
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def _revised(found: FullArticle) -> list[Revised]:
    """The newest change first."""
    titles = [*(each.title or "" for each in found.revisions), found.title or ""]
    texts = [*(each.text for each in found.revisions), found.text]
    return [
        Revised(
            former.number + 1,
            former.replaced_at,
            changes(titles[i], titles[i + 1]),
            changes(texts[i], texts[i + 1]),
        )
        for i, former in enumerate(found.revisions)
    ][::-1]
