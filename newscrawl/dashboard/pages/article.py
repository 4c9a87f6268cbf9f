"""An article's page: its text with the mentions marked, and what became of it over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from newscrawl.dashboard.marked import Edit, changes, paragraphs, pieces
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import queries
from newscrawl.storage.queries import ArticlePage, Version

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Revised:
    """What a version changed of the one before it."""

    version: Version
    title: list[list[Edit]]
    text: list[list[Edit]]


@router.get("/article", response_class=HTMLResponse)
def article(request: Request, url: str) -> HTMLResponse:
    """One article."""
    with desk_of(request).store.reading() as database:
        found = queries.article_page(database, url)
        versions = queries.history(database, url)
    if found is None:
        raise HTTPException(404, "No article with this address is in the database.")
    title = [mention for mention in found.mentions if mention.section == "title"]
    body = [mention for mention in found.mentions if mention.section == "body"]
    return render(
        request,
        "article.html",
        article=found,
        row=found.row,
        headline=pieces(found.row.title or "", title),
        paragraphs=paragraphs(found.text, body),
        companies=_companies(found),
        revised=_revised(versions),
        aliases=[address for address in found.addresses if address != found.row.url],
        explains=desk_of(request).config.explain is not None,
    )


def _companies(found: ArticlePage) -> list[tuple[str, int]]:
    """The companies of the article, the most mentioned first."""
    counts: dict[str, int] = {}
    for mention in found.mentions:
        counts[mention.company] = counts.get(mention.company, 0) + 1
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def _revised(versions: Sequence[Version]) -> list[Revised]:
    """The newest change first."""
    return [
        Revised(new, changes(old.title or "", new.title or ""), changes(old.text, new.text))
        for old, new in pairwise(versions)
    ][::-1]
