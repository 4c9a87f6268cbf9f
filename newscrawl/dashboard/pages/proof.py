"""The proof of a number: the articles behind it, what it leaves out, and the sources' coverage."""

import re
from typing import get_args

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from newscrawl.dashboard.filters import LAST_PAGE, MAX_VALUE, Filters
from newscrawl.dashboard.pages.overview import check_is_named
from newscrawl.dashboard.rendering import (
    app_state,
    filters_of,
    number,
    proof_address,
    render,
    versions_in_use,
)
from newscrawl.storage import queries
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.queries import Counted, Proof
from newscrawl.storage.queries.proof_target import LEFT_OUT
from newscrawl.storage.saved_queries import list_queries

router = APIRouter()

ARTICLES = 50  # on a page
MAX_WORDS = 4  # doubtful words in a sentence
MAX_LEFT_OUT = 20  # sources, languages or countries that a number leaves out


@router.get("/proof", response_class=HTMLResponse)
def show_proof(request: Request) -> HTMLResponse:
    """Show the proof of a number, with the filters of its page."""
    filters = filters_of(request)
    company, beside = _name(request, "company"), _name(request, "beside")
    without = [one for one in request.query_params.getlist("without") if one][:MAX_LEFT_OUT]
    split = filters.split if filters.split != "whole" else None
    counted = _parse_counted(request.query_params.get("counted", "articles"))
    story = _parse_story(request.query_params.get("story", ""))
    with app_state(request).store.reading() as database:
        names = queries.company_names(database)
        for name in filter(None, (company, beside)):
            check_is_named(request, name, names, filters.scope)
        is_query = company is not None and list_queries(database, named=company)
        found = queries.proof(
            database,
            versions_in_use(request),
            counted=counted,
            company=company,
            beside=beside,
            split=split,
            without=without,
            story=story,
            scope=filters.scope,
            limit=ARTICLES,
            offset=(filters.page - 1) * ARTICLES,
        )
    pages = -(-found.total // ARTICLES)
    named = {"without": without, "split": split or "", "beside": beside or ""}
    here = proof_address(filters, counted, company or "", story=story or "", **named)
    return render(
        request,
        "proof.html",
        filters=filters,
        found=found,
        title=_title(found, "match" if is_query else "name"),
        company=company or "",
        split=split or "",
        without=without,
        narrowed=[*_describe_filters(filters), *(["one story"] if story else [])],
        here=here,
        # The query of this page, to which its explanations lead back.
        asked=here.removeprefix("/proof") + (f"&page={filters.page}" if filters.page > 1 else ""),
        pages=min(pages, LAST_PAGE),
        beyond=pages > LAST_PAGE,
        shown=ARTICLES,
        max_words=MAX_WORDS,
        shows_left_out=counted not in LEFT_OUT and story is None,
        explains=app_state(request).config.explain is not None,
    )


def _name(request: Request, parameter: str) -> str | None:
    """Return the company of a parameter; raise QuestionError."""
    name = request.query_params.get(parameter, "").strip()
    if len(name) > MAX_VALUE or "\0" in name:
        raise QuestionError(f"{parameter} can't have this name: it is too long or holds a NUL")
    return name or None


def _parse_counted(given: str) -> Counted:
    for one in get_args(Counted):
        if one == given:
            counted: Counted = one
            return counted
    raise QuestionError(f"counted {given!r}: choose among {', '.join(get_args(Counted))}")


def _parse_story(given: str) -> int | None:
    if given and not re.fullmatch(r"[1-9][0-9]{0,17}", given):
        raise QuestionError(f"story {given!r}: write its number")
    return int(given) if given else None


def _title(found: Proof, verb: str) -> str:
    """Return the number in words; articles "name" a company, and "match" a saved query."""
    does = "matches" if verb == "match" else "names"
    singular, plural = {
        "articles": (f"article {does}", f"articles {verb}"),
        "mentions": ("mention of", "mentions of"),
        "headline": ("time in headlines:", "times in headlines:"),
        "body": ("time in the body:", "times in the body:"),
        "stories": (f"story {does}", f"stories {verb}"),
        "read": ("article read", "articles read"),
        "boilerplate": ("hit in menus and teasers:", "hits in menus and teasers:"),
        "doubtful": ("article may name", "articles may name"),
        "paywalled": ("article behind a paywall may name", "articles behind a paywall may name"),
        "disallowed": ("unread article may name", "unread articles may name"),
        "corrected": ("mention called wrong:", "mentions called wrong:"),
        "kind": ("mention outside articles:", "mentions outside articles:"),
    }[found.counted]
    words = f"{number(found.number)} {singular if found.number == 1 else plural}"
    if found.counted == "read":
        return words
    beside = f" and {found.beside}" if found.beside else ""
    return f"{words} {found.company or 'any company'}{beside}"


def _describe_filters(filters: Filters) -> list[str]:
    """Return the filters for languages, countries, groups and tiers."""
    values = (filters.language, filters.country, filters.group, filters.tier)
    names = ("language", "country", "group", "tier")
    return [f"{name} {value}" for name, value in zip(names, values, strict=True) if value]
