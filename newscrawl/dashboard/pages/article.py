"""The pages of an article: its text with the mentions marked, its history, the quarantine, and the
explanation of how its text was extracted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.dashboard.config import Explain, UnexplainedError
from newscrawl.dashboard.filters import MAX_VALUE
from newscrawl.dashboard.pages.corrections import name_of_person
from newscrawl.dashboard.rendering import (
    Edit,
    TextSpan,
    app_state,
    article_address,
    changes,
    check_seal,
    paragraphs,
    pieces,
    render,
)
from newscrawl.storage import queries
from newscrawl.storage.errors import RevisionError
from newscrawl.storage.mentions import CORRECTED
from newscrawl.storage.queries import ArticlePage, HeldText, QuarantineRow, Scope, Version
from newscrawl.storage.revisions import apply_revision, discard_revision
from newscrawl.templating import content_hash

router = APIRouter()

MAX_QUARANTINED = 200  # versions on a page
_REASONS: Mapping[str, str] = {
    "no_article": "there is no article at its address any more",
    "text_shrank": "most of the text is gone",
    "text_replaced": "headline and text are those of another article",
    "headline_lost": "the headline is gone",
    "layout_changed": "the site's pages have changed",
}
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """What a version changed of the one before it."""

    version: Version
    title: list[list[Edit]]
    text: list[list[Edit]]


@dataclass(frozen=True, slots=True)
class QuarantinedVersion:
    """A version in the quarantine, and what it would change of the article."""

    row: QuarantineRow
    why: str
    can_be_applied: bool
    title: list[list[Edit]]
    text: list[list[Edit]]


class Decision(BaseModel):
    """The form with the decision on a quarantined version."""

    seal: str = Field("", max_length=200)
    number: int = Field(ge=1, le=2**62)
    decision: Literal["apply", "discard"]


@router.get("/article", response_class=HTMLResponse)
def article(request: Request, url: str) -> HTMLResponse:
    """Show an article."""
    with app_state(request).store.reading() as database:
        found = queries.article_page(database, url)
        versions = queries.history(database, url)
        held = queries.quarantined_text(database, found.row.url) if found else None
    if found is None:
        raise HTTPException(404, "No article with this address is in the database.")
    return render(
        request,
        "article.html",
        article=found,
        row=found.row,
        headline=pieces(found.row.title or "", _marks(found, "title")),
        paragraphs=paragraphs(found.text, _marks(found, "body")),
        person=name_of_person(request),
        companies=_companies(found),
        revised=_revised(versions),
        held=held and _held(found, held),
        aliases=[address for address in found.addresses if address != found.row.url],
        explains=app_state(request).config.explain is not None,
    )


@router.post("/article/quarantine", response_class=HTMLResponse)
def decide(request: Request, form: Annotated[Decision, Form()]) -> Response:
    """Apply or discard a quarantined version, and show its article."""
    check_seal(request, form.seal)
    do = apply_revision if form.decision == "apply" else discard_revision
    try:
        with app_state(request).store.reading() as database:
            url = do(database, form.number)
    except RevisionError as error:
        raise HTTPException(409, str(error)) from error
    return RedirectResponse(article_address(url), status_code=303)


def _held(found: ArticlePage, held: HeldText) -> QuarantinedVersion:
    return QuarantinedVersion(
        held.row,
        why(held.row.reason, held.row.note),
        bool(held.text),
        changes(found.row.title or "", held.row.new_title or ""),
        changes(found.text, held.text) if held.text else [],
    )


def _marks(found: ArticlePage, section: str) -> list[TextSpan]:
    """Return what is marked in headline or body: mentions, and corrections that have their place;
    where several are in one place, what counts comes first."""
    here = [one for one in found.corrections if one.section == section and one.state != "misplaced"]
    missed = [one for one in here if one.kind == "missed"]
    wrong = [one for one in here if one.kind == "wrong"]
    mentions = [one for one in found.mentions if one.section == section and one.rule != CORRECTED]
    return [*missed, *mentions, *wrong]


def _companies(found: ArticlePage) -> list[tuple[str, int]]:
    """Return the companies of the article, the most mentioned first."""
    counts: dict[str, int] = {}
    for mention in found.mentions:
        counts[mention.company] = counts.get(mention.company, 0) + 1
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def _revised(versions: Sequence[Version]) -> list[VersionChanges]:
    """Return the changes of each version, the newest first."""
    return [
        VersionChanges(new, changes(old.title or "", new.title or ""), changes(old.text, new.text))
        for old, new in pairwise(versions)
    ][::-1]


def why(reason: str, note: str) -> str:
    """Return in words why a version was not applied."""
    words = _REASONS.get(reason, reason)
    return f"{words}: {note}" if note else words


@router.get("/quarantine", response_class=HTMLResponse)
def quarantine(
    request: Request, source: Annotated[str, Query(max_length=MAX_VALUE)] = ""
) -> HTMLResponse:
    """Show the versions in the quarantine, of one source or of all."""
    wanted = source.replace("\0", "") or None
    with app_state(request).store.reading() as database:
        rows = queries.quarantined(database, scope=Scope(source=wanted), limit=MAX_QUARANTINED)
        sizes = queries.quarantine_sizes(database)
    return render(
        request,
        "quarantine.html",
        rows=[(row, why(row.reason, row.note)) for row in rows],
        source=wanted,
        sizes=sorted(sizes.items()),
        number=sizes.get(wanted, 0) if wanted else sum(sizes.values()),
    )


@router.get("/article/explanation", response_class=HTMLResponse)
def explanation(request: Request, url: str) -> Response:
    """Show the explanation of the archived page, or offer to fetch it."""
    explain, urls = _explain(request, url)
    try:
        return _document(explain(urls, False).document)
    except UnexplainedError as error:
        return render(request, "explanation.html", status=404, url=url, reason=str(error))


@router.post("/article/explanation", response_class=HTMLResponse)
def fetch_explanation(
    request: Request,
    url: Annotated[str, Form(max_length=4000)],
    seal: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Fetch the page, and show its explanation."""
    check_seal(request, seal)
    explain, urls = _explain(request, url)
    try:
        return _document(explain(urls, True).document)
    except UnexplainedError as error:
        return render(request, "explanation.html", status=502, url=url, reason=str(error))


def _explain(request: Request, url: str) -> tuple[Explain, list[str]]:
    """Return the function that explains pages, and the article's addresses. Only pages of stored
    articles are explained, so that nobody can have us fetch any page."""
    state = app_state(request)
    with state.store.reading() as database:
        found = queries.article_page(database, url)
    if found is None:
        raise HTTPException(404, "No article with this address is in the database.")
    if state.config.explain is None:
        raise HTTPException(404, "This dashboard was started without explanations.")
    return state.config.explain, list(dict.fromkeys((found.row.url, *found.addresses)))


def _document(document: str) -> HTMLResponse:
    """Return the document as it is; the policy allows its one style sheet and nothing else."""
    found = _STYLE.search(document)
    style = content_hash(found[1] if found else "")
    policy = (
        f"default-src 'none'; style-src {style}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return HTMLResponse(document, headers={"Content-Security-Policy": policy})
