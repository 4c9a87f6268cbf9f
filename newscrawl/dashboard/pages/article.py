"""The pages of an article: its text with the mentions marked, the forms that correct these, its
history, the quarantine, and the explanation of how its text was extracted."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal
from urllib.parse import parse_qs, quote

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.answers.proof import (
    companies_of,
    corrected_companies,
    marks_in,
    quarantine_reason,
)
from newscrawl.dashboard.explanations import (
    BusyError,
    UnexplainedError,
    left_out_sentence,
    sentence_at,
)
from newscrawl.dashboard.names import company_named
from newscrawl.dashboard.rendering import (
    NAME_COOKIE,
    Edit,
    OpenDatabase,
    Sent,
    app_state,
    article_address,
    changes,
    identity_of_request,
    name_of_person,
    page_router,
    paragraphs,
    pieces,
    query,
    render,
)
from newscrawl.dashboard.security import POLICY
from newscrawl.extraction.explain_page import style_sheet
from newscrawl.items import Mention
from newscrawl.storage import CorrectionError, Database, RevisionError, queries
from newscrawl.storage.corrections import (
    MAX_NAME,
    Judgement,
    add_corrections,
    missed_mentions,
    undo_correction,
    wrong_mentions,
)
from newscrawl.storage.queries import ArticlePage, QuarantineRow, Scope, Version
from newscrawl.storage.queries.article_details import made_together
from newscrawl.storage.revisions import apply_revision, decide_all, discard_revision
from newscrawl.storage.scope import MAX_VALUE
from newscrawl.templating import content_hash

router = page_router()

MAX_QUARANTINED = 200  # versions on a page
MAX_DECISIONS = 20
BUSY_RETRY_AFTER = 60  # ours: seconds; the limit of a page


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """The changes of a version against the one before it."""

    version: Version
    title: list[list[Edit]]
    text: list[list[Edit]]


@dataclass(frozen=True, slots=True)
class QuarantinedVersion:
    """A version in the quarantine, and its changes against the article."""

    row: QuarantineRow
    why: str
    can_be_applied: bool
    title: list[list[Edit]]
    text: list[list[Edit]]


class Decision(BaseModel):
    """The form with the decision on a quarantined version."""

    number: int = Field(ge=1, le=2**62)
    decision: Literal["apply", "discard"]


@router.get("/article")
def article(request: Request, database: OpenDatabase, url: str) -> HTMLResponse:
    """Show an article."""
    article_page = queries.article_page(database, url)
    versions = queries.history(database, url)
    version = queries.quarantined_text(database, article_page.row.url) if article_page else None
    if article_page is None:
        raise HTTPException(404, "No article with this address is in the database.")
    identity = identity_of_request(request)
    quarantined = version and QuarantinedVersion(
        version.row,
        quarantine_reason(version.row.reason, version.row.note),
        bool(version.text),
        changes(article_page.row.title or "", version.row.new_title or ""),
        changes(article_page.text, version.text) if version.text else [],
    )
    return render(
        request,
        "article.html",
        article=article_page,
        row=article_page.row,
        headline=pieces(article_page.row.title or "", marks_in(article_page, "title")),
        paragraphs=paragraphs(article_page.text, marks_in(article_page, "body")),
        person=name_of_person(request),
        # A person whom the token or the proxy names can't choose another name.
        is_named=identity is not None and identity.name is not None,
        companies=companies_of(article_page),
        corrected=corrected_companies(article_page),
        corrections=made_together(article_page.corrections),
        # The changes of each version, the newest first.
        revised=[
            VersionChanges(
                new, changes(old.title or "", new.title or ""), changes(old.text, new.text)
            )
            for old, new in pairwise(versions)
        ][::-1],
        held=quarantined,
        aliases=[address for address in article_page.addresses if address != article_page.row.url],
    )


@router.post("/article/quarantine")
def decide(request: Request, database: OpenDatabase, form: Sent[Decision]) -> Response:
    """Apply or discard a quarantined version, and show its article."""
    do = apply_revision if form.decision == "apply" else discard_revision
    try:
        url = do(database, form.number, name_of_person(request))
    except RevisionError as error:
        raise HTTPException(409, str(error)) from error
    return RedirectResponse(article_address(url), status_code=303)


@router.get("/quarantine")
def quarantine(
    request: Request,
    database: OpenDatabase,
    source: Annotated[str, Query(max_length=MAX_VALUE)] = "",
) -> HTMLResponse:
    """Show the versions in the quarantine, of one source or of all."""
    source_or_all = source.replace("\0", "") or None
    rows = queries.quarantined(database, scope=Scope(source=source_or_all), limit=MAX_QUARANTINED)
    sizes = queries.quarantine_sizes(database)
    decisions = queries.quarantine_decisions(
        database, scope=Scope(source=source_or_all), limit=MAX_DECISIONS
    )
    return render(
        request,
        "quarantine.html",
        rows=[(row, quarantine_reason(row.reason, row.note)) for row in rows],
        source=source_or_all,
        sizes=sorted(sizes.items()),
        decisions=decisions,
        number=sizes.get(source_or_all, 0) if source_or_all else sum(sizes.values()),
    )


class Discarded(BaseModel):
    """The form that discards all versions that a page lists, of one source or of all."""

    source: str = Field("", max_length=MAX_VALUE)
    numbers: list[Annotated[int, Field(ge=1, le=2**62)]] = Field([], max_length=MAX_QUARANTINED)


@router.post("/quarantine/discard")
def discard(request: Request, database: OpenDatabase, form: Sent[Discarded]) -> Response:
    """Discard the versions that the page listed; those on which somebody else has decided in the
    meantime stay as decided."""
    decide_all(database, form.numbers, discard_revision, name_of_person(request))
    return RedirectResponse(f"/quarantine{query(source=form.source)}", status_code=303)


# The place of a mention, as in "body:126": the sentence there is explained first.
PlaceText = Annotated[str, Field(pattern=r"^((title|body):\d{1,9})?$")]
# The query of the proof from which an explanation was opened.
ProofText = Annotated[str, Field(max_length=4000, pattern=r"^(\?[^\n]*)?$")]


class ExplanationForm(BaseModel):
    """An article, and the place of a mention in it or a company outside its text."""

    url: str = Field(max_length=4000)
    at: PlaceText = ""
    left_out: str = Field("", max_length=MAX_VALUE)
    proof: ProofText = ""


@router.get("/article/explanation")
def explanation(
    request: Request, database: OpenDatabase, form: Annotated[ExplanationForm, Query()]
) -> Response:
    """Show the explanation of the archived page, or offer to fetch it."""
    return _explain_article(request, database, form, fetch_anew=False)


@router.post("/article/explanation")
def fetch_explanation(
    request: Request, database: OpenDatabase, form: Sent[ExplanationForm]
) -> Response:
    """Fetch the page, and show its explanation."""
    return _explain_article(request, database, form, fetch_anew=True)


def _explain_article(
    request: Request, database: Database, form: ExplanationForm, *, fetch_anew: bool
) -> Response:
    """Return the explanation of an article's page. Only pages of stored articles are explained, so
    that requests can't make us fetch other pages."""
    state = app_state(request)
    article_page = queries.article_page(database, form.url)
    saved = {row.name for row in queries.saved_queries(database)}
    if article_page is None:
        raise HTTPException(404, "No article with this address is in the database.")
    urls = list(dict.fromkeys((article_page.row.url, *article_page.addresses)))
    reason = form.left_out
    is_query = not saved.isdisjoint(parse_qs(form.proof.removeprefix("?")).get("company", ()))
    sentence = (
        left_out_sentence(state.registry, article_page, reason)
        if reason
        else sentence_at(article_page, form.at, is_query=is_query)
    )
    identity = identity_of_request(request)
    sentence = replace(
        sentence,
        back=article_address(article_page.row.url),
        proof=f"/proof{form.proof}" if form.proof else "",
        place=sentence.place if identity is not None and identity.right == "edit" else "",
    )
    try:
        return _framed(request, state.config.explain(urls, fetch_anew, sentence))
    except BusyError as error:
        again = {"Retry-After": str(BUSY_RETRY_AFTER)}
        raise HTTPException(503, str(error), again) from error
    except UnexplainedError as error:
        # Without the archived page, the database still has the sentence and its rule.
        return render(
            request,
            "explanation.html",
            status=502 if fetch_anew else 200,
            form=form,
            asked=sentence,
            reason=str(error),
        )


def _framed(request: Request, content: Markup) -> HTMLResponse:
    """Return an explanation in the frame of the other pages, whose policy also allows its style
    sheet, limited to it; its colours are those chosen in the dashboard."""
    style = Markup("@scope (.explained) {{{}}}").format(style_sheet())
    styled = Markup("<style>{}</style>{}").format(style, content)
    answer = render(request, "explained.html", content=styled)
    allowed = POLICY.replace("style-src 'self'", f"style-src 'self' {content_hash(style)}")
    answer.headers["Content-Security-Policy"] = allowed
    return answer


_YEAR = 365 * 24 * 3600  # seconds
Line = Annotated[str, Field(max_length=MAX_VALUE)]


class CorrectionForm(BaseModel):
    """A correction, one of five: `wrong` is a mention, as in "body:12:Siemens"; `everywhere` is a
    company of which all mentions are wrong; `missed` are words for a `company`, at a `place` as
    in "body:12" or everywhere; `undo` is the number of a correction, `undo_all` that of one of
    those that a click made. `proof` is the query of the proof from which it was sent, if from
    there."""

    url: str = Field("", max_length=4000)
    wrong: str = Field("", pattern=r"^(title|body):\d{1,9}:.", max_length=2 * MAX_VALUE)
    everywhere: Line = ""
    missed: Line = ""
    company: Line = ""
    place: str = Field("", pattern=r"^((title|body):\d{1,9})?$")
    undo: int | None = Field(None, ge=1, le=2**62)
    undo_all: int | None = Field(None, ge=1, le=2**62)
    proof: ProofText = ""


class NameForm(BaseModel):
    """The name of the person who makes a correction."""

    url: str = Field(max_length=4000)
    name: str = Field(min_length=1, max_length=MAX_NAME)


@router.post("/article/corrections")
def correct(request: Request, database: OpenDatabase, form: Sent[CorrectionForm]) -> Response:
    """Correct mentions of an article, or undo that, and show the article, or the proof again."""
    numbers: list[int] = []
    try:
        undone = form.undo or form.undo_all
        if undone is not None:
            name, together = name_of_person(request), form.undo is None
            undo_correction(database, undone, name, together=together)
            numbers = [undone]
        else:
            judgements = _judgements(request, database, form)
            numbers = add_corrections(database, form.url, judgements, name_of_person(request))
    except CorrectionError as error:
        raise HTTPException(409, f"{error}.") from error
    back = article_address(form.url)
    if form.proof:
        back = f"/proof{form.proof}" + (f"&corrected={numbers[0]}" if numbers else "")
    return RedirectResponse(back, status_code=303)


@router.post("/article/name")
def sign(request: Request, form: Sent[NameForm]) -> Response:
    """Store the person's name in a cookie of this browser."""
    answer = RedirectResponse(article_address(form.url), status_code=303)
    name, secure = quote(form.name.strip(), safe=""), request.url.scheme == "https"
    answer.set_cookie(
        NAME_COOKIE, name, max_age=_YEAR, httponly=True, samesite="strict", secure=secure
    )
    return answer


def _judgements(request: Request, database: Database, form: CorrectionForm) -> list[Judgement]:
    """Return the corrections of the form; raise CorrectionError if the article is no longer
    stored."""
    page = queries.article_page(database, form.url)
    if page is None:
        raise HTTPException(404, "No article with this address is in the database.")
    if form.missed.strip():
        return _judge_missed(request, database, page, form)
    section, start, company = form.wrong.split(":", 2) if form.wrong else ("", "", form.everywhere)
    wrong = [
        mention
        for mention in wrong_mentions(page, company)
        if not form.wrong
        or (mention.mention.section, str(mention.mention.start)) == (section, start)
    ]
    if not wrong:
        raise CorrectionError(f"{company or 'the company'} is no longer found there")
    return wrong


def _judge_missed(
    request: Request, database: Database, page: ArticlePage, form: CorrectionForm
) -> list[Judgement]:
    surface = form.missed.strip()
    company = company_named(request, database, form.company.strip() or surface)
    if not form.place:
        return missed_mentions(page, company, surface)
    section, _, start = form.place.partition(":")
    mention = Mention(
        company=company,
        surface=surface,
        start=int(start),
        end=int(start) + len(surface),
        section="title" if section == "title" else "body",
    )
    return [Judgement(kind="missed", mention=mention)]
