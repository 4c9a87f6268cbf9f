"""The pages of an article: its text with the mentions marked, the forms that correct these, its
history, the quarantine, and the explanation of how its text was extracted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal
from urllib.parse import parse_qs, quote

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.answers.proof import evidence_text, quarantine_reason
from newscrawl.dashboard.companies_file import registry_of
from newscrawl.dashboard.config import BusyError, UnexplainedError
from newscrawl.dashboard.rendering import (
    NAME_COOKIE,
    Edit,
    OpenDatabase,
    Sent,
    TextSpan,
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
from newscrawl.extraction.explain_page import AskedSentence, style_sheet
from newscrawl.items import Mention, Section
from newscrawl.mentions import CompanyFinder
from newscrawl.storage import CorrectionError, Database, RevisionError, queries
from newscrawl.storage.corrections import (
    MAX_NAME,
    Judgement,
    add_corrections,
    missed_mentions,
    undo_correction,
    wrong_mentions,
)
from newscrawl.storage.mentions import CORRECTED
from newscrawl.storage.queries import ArticlePage, QuarantineRow, Scope, Version
from newscrawl.storage.queries.article_details import made_together
from newscrawl.storage.revisions import apply_revision, decide_all, discard_revision
from newscrawl.storage.scope import MAX_VALUE
from newscrawl.templating import content_hash
from newscrawl.text import match_name, sentence_around

router = page_router()

MAX_QUARANTINED = 200  # versions on a page
MAX_DECISIONS = 20
BUSY_RETRY_AFTER = 60  # ours: seconds; the limit of a page
NOT_COUNTED = "not counted any more: it was corrected, or the registry or the text has changed"
MAX_SENTENCES = 50  # of an article, in the explanation of one of them
_Place = tuple[Section, int]  # the part and the start of a mention


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
    held = queries.quarantined_text(database, article_page.row.url) if article_page else None
    if article_page is None:
        raise HTTPException(404, "No article with this address is in the database.")
    identity = identity_of_request(request)
    quarantined = held and QuarantinedVersion(
        held.row,
        quarantine_reason(held.row.reason, held.row.note),
        bool(held.text),
        changes(article_page.row.title or "", held.row.new_title or ""),
        changes(article_page.text, held.text) if held.text else [],
    )
    return render(
        request,
        "article.html",
        article=article_page,
        row=article_page.row,
        headline=pieces(article_page.row.title or "", _marks(article_page, "title")),
        paragraphs=paragraphs(article_page.text, _marks(article_page, "body")),
        person=name_of_person(request),
        # A person whom the token or the proxy names can't choose another name.
        is_named=identity is not None and identity.name is not None,
        companies=_companies(article_page),
        corrected=_corrected(article_page),
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
        explains=app_state(request).config.explain is not None,
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


def _marks(article_page: ArticlePage, section: str) -> list[TextSpan]:
    """Return the marks in headline or body: mentions, and corrections with their place; of several
    at one place, counted ones come first."""
    here = [
        correction
        for correction in article_page.corrections
        if correction.section == section and correction.state != "misplaced"
    ]
    missed = [one for one in here if one.kind == "missed"]
    wrong = [one for one in here if one.kind == "wrong"]
    mentions = [
        mention
        for mention in article_page.mentions
        if mention.section == section and mention.rule != CORRECTED
    ]
    return [*missed, *mentions, *wrong]


def _companies(article_page: ArticlePage) -> list[tuple[str, int]]:
    """Return the companies of the article, the most mentioned first."""
    counts: dict[str, int] = {}
    for mention in article_page.mentions:
        counts[mention.company] = counts.get(mention.company, 0) + 1
    return sorted(counts.items(), key=lambda count: (-count[1], count[0]))


def _corrected(article_page: ArticlePage) -> list[tuple[str, int]]:
    """Return the companies with mentions that a person called wrong, and how many are left."""
    companies = dict(_companies(article_page))
    wrong = {
        correction.company for correction in article_page.corrections if correction.kind == "wrong"
    }
    return [(name, companies.get(name, 0)) for name in sorted(wrong)]


@router.get("/quarantine")
def quarantine(
    request: Request,
    database: OpenDatabase,
    source: Annotated[str, Query(max_length=MAX_VALUE)] = "",
) -> HTMLResponse:
    """Show the versions in the quarantine, of one source or of all."""
    wanted = source.replace("\0", "") or None
    rows = queries.quarantined(database, scope=Scope(source=wanted), limit=MAX_QUARANTINED)
    sizes = queries.quarantine_sizes(database)
    decisions = queries.quarantine_decisions(
        database, scope=Scope(source=wanted), limit=MAX_DECISIONS
    )
    return render(
        request,
        "quarantine.html",
        rows=[(row, quarantine_reason(row.reason, row.note)) for row in rows],
        source=wanted,
        sizes=sorted(sizes.items()),
        decisions=decisions,
        number=sizes.get(wanted, 0) if wanted else sum(sizes.values()),
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
    request: Request,
    database: OpenDatabase,
    url: str,
    at: Annotated[PlaceText, Query()] = "",
    left_out: Annotated[str, Query(max_length=MAX_VALUE)] = "",
    proof: Annotated[ProofText, Query()] = "",
) -> Response:
    """Show the explanation of the archived page, or offer to fetch it."""
    form = ExplanationForm.model_construct(url=url, at=at, left_out=left_out, proof=proof)
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
    wanted = form.left_out
    is_query = not saved.isdisjoint(parse_qs(form.proof.removeprefix("?")).get("company", ()))
    asked = (
        _left_out(request, article_page, wanted)
        if wanted
        else _sentence_at(article_page, form.at, is_query=is_query)
    )
    identity = identity_of_request(request)
    asked = replace(
        asked,
        proof=f"/proof{form.proof}" if form.proof else "",
        place=asked.place if identity is not None and identity.right == "edit" else "",
    )
    try:
        explain = state.config.explain or explain_nothing
        return _framed(request, explain(urls, fetch_anew, asked))
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
            asked=asked,
            reason=str(error),
            explains=state.config.explain is not None,
        )


def explain_nothing(_urls: Sequence[str], _fetch_anew: bool, _asked: AskedSentence) -> Markup:
    """Raise UnexplainedError, where no pages are kept."""
    raise UnexplainedError("This dashboard keeps none.")


def _left_out(request: Request, article_page: ArticlePage, company: str) -> AskedSentence:
    """Return the question why a company around the article is not counted."""
    file = app_state(request).registry
    path = file.path if file is not None and file.path.exists() else None
    finds = CompanyFinder(company, article_page.row.language, path)
    return AskedSentence(back=article_address(article_page.row.url), left_out=company, finds=finds)


def _sentence_at(article_page: ArticlePage, at: str, *, is_query: bool) -> AskedSentence:
    """Return the sentence at a place, or else that of the first mention, of the body if it has one,
    with the other sentences that have mentions. Words that a saved query matches are no mention."""
    places = {
        (mention.section, mention.start): (mention.start, mention.end)
        for mention in article_page.mentions
    }
    back = article_address(article_page.row.url)
    place = next((place for place in places if f"{place[0]}:{place[1]}" == at), None)
    if at and place is None:
        part, start = at.split(":")
        unmentioned: _Place = ("title" if part == "title" else "body", int(start))
        place, places[unmentioned] = unmentioned, (int(start), int(start) + 1)
    elif place is None and places:
        place = min(places)
    if place is None:
        return AskedSentence(back=back)
    asked, *others = [
        _sentence(article_page, *span) for span in _spans(article_page, places, place)
    ]
    if not any((mention.section, mention.start) == place for mention in article_page.mentions):
        why = "words of the saved query" if is_query else NOT_COUNTED
        asked = replace(asked, mentions=(why, *asked.mentions))
    section, begin = place
    return replace(asked, others=tuple(others), back=back, place=f"{section}-{begin}")


def _spans(
    article_page: ArticlePage, places: Mapping[_Place, tuple[int, int]], asked: _Place
) -> list[tuple[Section, tuple[int, int]]]:
    """Return the sentences that have mentions, without those within one before: the asked one, then
    the headline, then those of the text in order."""
    spans: list[tuple[Section, tuple[int, int]]] = []
    for section, start in (
        asked,
        *sorted(places, key=lambda place: (place[0] == "body", place[1])),
    ):
        known = any(one == section and first <= start < last for one, (first, last) in spans)
        if not known and len(spans) <= MAX_SENTENCES:
            span = 0, len(article_page.row.title or "")
            if section == "body":
                span = sentence_around(article_page.text, *places[section, start])
            spans.append((section, span))
    return spans


def _sentence(article_page: ArticlePage, section: Section, span: tuple[int, int]) -> AskedSentence:
    """Return a sentence with the companies in it and why they count."""
    first, last = span
    text = article_page.row.title or "" if section == "title" else article_page.text
    inside = (
        f"{mention.company}: {evidence_text(mention)}"
        for mention in article_page.mentions
        if mention.section == section and first <= mention.start and mention.end <= last
    )
    return AskedSentence(
        text=text[first:last].strip(), section=section, mentions=tuple(dict.fromkeys(inside))
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
    made: list[int] = []
    try:
        undone = form.undo or form.undo_all
        if undone is not None:
            name, together = name_of_person(request), form.undo is None
            undo_correction(database, undone, name, together=together)
            made = [undone]
        else:
            judgements = _judgements(request, database, form)
            made = add_corrections(database, form.url, judgements, name_of_person(request))
    except CorrectionError as error:
        raise HTTPException(409, f"{error}.") from error
    back = article_address(form.url)
    if form.proof:
        back = f"/proof{form.proof}" + (f"&corrected={made[0]}" if made else "")
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
    company = _company(request, database, form.company.strip() or surface)
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


def _company(request: Request, database: Database, text: str) -> str:
    """Return the company of this name or form; raise CorrectionError if none or several have it."""
    registry = registry_of(app_state(request).registry)
    names = [company.name for company in registry] + queries.company_names(database)
    name, near = match_name(text, names)
    folded = text.casefold()
    owners = [
        company.name
        for company in registry
        if any(form.casefold() == folded for form in (*company.aliases, *company.ambiguous))
    ]
    if name is not None or len(owners) == 1:
        return name or owners[0]
    advice = f"is it {' or '.join((owners or near)[:3])}?" if owners or near else "see Registry"
    raise CorrectionError(f"no one company is named {text!r}: write its name, {advice}")
