"""An article's page: its text with the mentions marked, and what became of it over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.dashboard.marked import Edit, changes, paragraphs, pieces
from newscrawl.dashboard.pages.quarantine import why
from newscrawl.dashboard.rendering import article_address, desk_of, render
from newscrawl.storage import queries
from newscrawl.storage.errors import RevisionError
from newscrawl.storage.queries import ArticlePage, HeldText, QuarantineRow, Version
from newscrawl.storage.revisions import apply_revision, discard_revision

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Revised:
    """What a version changed of the one before it."""

    version: Version
    title: list[list[Edit]]
    text: list[list[Edit]]


@dataclass(frozen=True, slots=True)
class Held:
    """A revision in the quarantine, and what it would change of the article."""

    row: QuarantineRow
    why: str
    can_be_applied: bool
    title: list[list[Edit]]
    text: list[list[Edit]]


class Decision(BaseModel):
    """The form on which somebody decides on a revision."""

    seal: str = Field("", max_length=200)
    number: int = Field(ge=1, le=2**62)
    decision: Literal["apply", "discard"]


@router.get("/article", response_class=HTMLResponse)
def article(request: Request, url: str) -> HTMLResponse:
    """One article."""
    with desk_of(request).store.reading() as database:
        found = queries.article_page(database, url)
        versions = queries.history(database, url)
        held = queries.quarantined_text(database, found.row.url) if found else None
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
        held=held and _held(found, held),
        aliases=[address for address in found.addresses if address != found.row.url],
        explains=desk_of(request).config.explain is not None,
    )


@router.post("/article/quarantine", response_class=HTMLResponse)
def decide(request: Request, form: Annotated[Decision, Form()]) -> Response:
    """Applies or discards a revision in the quarantine, and shows its article."""
    desk = desk_of(request)
    if not desk.seal.holds(request, form.seal):
        raise HTTPException(403, "Load the page anew and send the form again.")
    do = apply_revision if form.decision == "apply" else discard_revision
    try:
        with desk.store.reading() as database:
            url = do(database, form.number)
    except RevisionError as error:
        raise HTTPException(409, str(error)) from error
    return RedirectResponse(article_address(url), status_code=303)


def _held(found: ArticlePage, held: HeldText) -> Held:
    return Held(
        held.row,
        why(held.row.reason, held.row.note),
        bool(held.text),
        changes(found.row.title or "", held.row.new_title or ""),
        changes(found.text, held.text) if held.text else [],
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
