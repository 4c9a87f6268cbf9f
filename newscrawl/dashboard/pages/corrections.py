"""The forms on an article's page that correct its mentions, and undo that."""

from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.config import user_name
from newscrawl.dashboard.companies_file import registry_of
from newscrawl.dashboard.filters import MAX_VALUE
from newscrawl.dashboard.rendering import app_state, article_address, check_seal
from newscrawl.items import Mention
from newscrawl.storage import Database, queries
from newscrawl.storage.corrections import (
    MAX_NAME,
    Judgement,
    add_corrections,
    missed_mentions,
    remove_correction,
    wrong_mentions,
)
from newscrawl.storage.errors import CorrectionError
from newscrawl.storage.queries import ArticlePage
from newscrawl.text import match_name

router = APIRouter()

NAME_COOKIE = "newscrawl_name"
_YEAR = 365 * 24 * 3600  # seconds
Line = Annotated[str, Field(max_length=MAX_VALUE)]


class CorrectionForm(BaseModel):
    """A correction, one of four: `wrong` is a mention, as in "body:12:Siemens"; `everywhere` is a
    company of which all mentions are wrong; `missed` are words for a `company`, at a `place` as
    in "body:12" or wherever they stand; `undo` is the number of a correction."""

    seal: Line = ""
    url: str = Field(max_length=4000)
    wrong: str = Field("", pattern=r"^(title|body):\d{1,9}:.", max_length=2 * MAX_VALUE)
    everywhere: Line = ""
    missed: Line = ""
    company: Line = ""
    place: str = Field("", pattern=r"^((title|body):\d{1,9})?$")
    undo: int | None = Field(None, ge=1, le=2**62)


class NameForm(BaseModel):
    """The name of a person who corrects."""

    seal: Line = ""
    url: str = Field(max_length=4000)
    name: str = Field(min_length=1, max_length=MAX_NAME)


def name_of_person(request: Request) -> str:
    """Return the name that the browser was given; else, if only users of this machine have access,
    the one under which we run; else nothing."""
    given = unquote(request.cookies.get(NAME_COOKIE, "")).strip()
    if given or app_state(request).config.token is not None:
        return given[:MAX_NAME]
    return user_name()


@router.post("/article/corrections", response_class=HTMLResponse)
def correct(request: Request, form: Annotated[CorrectionForm, Form()]) -> Response:
    """Correct mentions of an article, or undo that, and show the article."""
    check_seal(request, form.seal)
    try:
        with app_state(request).store.reading() as database:
            if form.undo is not None:
                remove_correction(database, form.undo)
            else:
                judgements = _judgements(request, database, form)
                add_corrections(database, form.url, judgements, name_of_person(request))
    except CorrectionError as error:
        raise HTTPException(409, f"{error}.") from error
    return RedirectResponse(article_address(form.url), status_code=303)


@router.post("/article/name", response_class=HTMLResponse)
def sign(request: Request, form: Annotated[NameForm, Form()]) -> Response:
    """Remember who corrects with this browser."""
    check_seal(request, form.seal)
    answer = RedirectResponse(article_address(form.url), status_code=303)
    name, secure = quote(form.name.strip(), safe=""), request.url.scheme == "https"
    answer.set_cookie(
        NAME_COOKIE, name, max_age=_YEAR, httponly=True, samesite="strict", secure=secure
    )
    return answer


def _judgements(request: Request, database: Database, form: CorrectionForm) -> list[Judgement]:
    """Return what the form says of its article; raise CorrectionError if that is gone."""
    page = queries.article_page(database, form.url)
    if page is None:
        raise HTTPException(404, "No article with this address is in the database.")
    if form.missed.strip():
        return _missed(request, database, page, form)
    section, start, company = form.wrong.split(":", 2) if form.wrong else ("", "", form.everywhere)
    wrong = [
        one
        for one in wrong_mentions(page, company)
        if not form.wrong or (one.mention.section, str(one.mention.start)) == (section, start)
    ]
    if not wrong:
        raise CorrectionError(f"{company or 'the company'} is not found there any more")
    return wrong


def _missed(
    request: Request, database: Database, page: ArticlePage, form: CorrectionForm
) -> list[Judgement]:
    words = form.missed.strip()
    company = _company(request, database, form.company.strip() or words)
    if not form.place:
        return missed_mentions(page, company, words)
    section, _, start = form.place.partition(":")
    mention = Mention(
        company=company,
        surface=words,
        start=int(start),
        end=int(start) + len(words),
        section="title" if section == "title" else "body",
    )
    return [Judgement(kind="missed", mention=mention)]


def _company(request: Request, database: Database, given: str) -> str:
    """Return the company of this name or form; raise CorrectionError if none or several have it."""
    registry = registry_of(app_state(request).registry)
    names = [one.name for one in registry] + queries.company_names(database)
    name, near = match_name(given, names)
    folded = given.casefold()
    owners = [
        one.name
        for one in registry
        if any(form.casefold() == folded for form in (*one.aliases, *one.ambiguous))
    ]
    if name is not None or len(owners) == 1:
        return name or owners[0]
    advice = f"is it {' or '.join((owners or near)[:3])}?" if owners or near else "see Registry"
    raise CorrectionError(f"no one company is named {given!r}: write its name, {advice}")
