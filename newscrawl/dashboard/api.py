"""The same questions as JSON, described at /api/openapi.json."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import AfterValidator
from starlette.exceptions import HTTPException

from newscrawl.dashboard import answers
from newscrawl.dashboard.filters import LONGEST_PERIOD, LONGEST_VALUE, FilterError
from newscrawl.dashboard.rendering import desk_of
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import By, Measure, Scope

MOST_DAYS_OF_HOURS = 366
MOST_COMPANIES = 20  # in one comparison
_FAULTS: dict[int | str, dict[str, Any]] = {
    401: {"model": answers.Fault, "description": "A token is needed"},
    422: {"model": answers.Fault, "description": "The question can't be meant"},
    503: {"model": answers.Fault, "description": "The database is out of reach"},
}
_NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {"model": answers.Fault, "description": "Not in this database"}
}

router = APIRouter(prefix="/api", responses=_FAULTS, tags=["questions"])


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("a value may not hold the character NUL")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Name = Annotated[Text, Path(max_length=LONGEST_VALUE, description="As in /api/companies")]
Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0, le=10_000)]
Word = Annotated[Text | None, Query(max_length=LONGEST_VALUE)]


def _scope(  # noqa: PLR0913, PLR0917 - one for each field of the scope
    request: Request,
    since: Annotated[date | None, Query(description="first day")] = None,
    until: Annotated[date | None, Query(description="last day")] = None,
    source: Word = None,
    language: Word = None,
    country: Word = None,
    section: Word = None,
    zone: Annotated[Text, Query(max_length=60, description="time zone, as Europe/Berlin")] = "UTC",
) -> Scope:
    now = desk_of(request).config.clock()
    last = until or now.date()
    if since and since > last:
        raise FilterError(f"since {since} lies after until {last}: swap them")
    if since and (last - since).days >= LONGEST_PERIOD:
        raise FilterError(f"a period of over {LONGEST_PERIOD} days: choose a shorter one")
    if min(since or last, last).year < 1000 or last.year > 9000:
        raise FilterError("no such time in the news: choose other days")
    return Scope(
        since=since,
        until=until,
        source=source or None,
        language=language or None,
        country=country or None,
        section=section or None,
        zone=zone,
        now=now,
    )


def _database(request: Request) -> Iterator[Database]:
    with desk_of(request).store.reading() as database:
        yield database


Asked = Annotated[Scope, Depends(_scope)]
Opened = Annotated[Database, Depends(_database)]


@router.get("/facts", response_model=answers.Facts)
def facts(database: Opened) -> Any:
    """How much is in the database, and how fresh it is."""
    return queries.facts(database)


@router.get("/overview", response_model=answers.Overview)
def overview(database: Opened, scope: Asked, limit: Limit = 20) -> Any:
    """The companies by articles, each beside as many days before; without since, the last 30."""
    return queries.overview(database, scope=scope, limit=limit)


@router.get("/reach", response_model=answers.Reach)
def reach(database: Opened, scope: Asked) -> Any:
    """What all counts of this scope rest on."""
    return queries.reach(database, scope=scope)


@router.get("/clutter", response_model=answers.Clutter)
def clutter(database: Opened, scope: Asked, company: Word = None) -> Any:
    """What was left out since it stood in menus, teasers and the like."""
    return queries.clutter(database, company=company, scope=scope)


@router.get("/counts", response_model=list[answers.Count])
def counts(
    database: Opened, scope: Asked, by: By = "day", company: Word = None, stories: bool = False
) -> Any:
    """How often the company, or any, was named, by period or group."""
    scope = _bounded(scope, by)
    return queries.mention_counts(database, by, company=company, scope=scope, stories=stories)


@router.get("/share", response_model=list[answers.Share])
def share(
    database: Opened,
    scope: Asked,
    company: Annotated[list[Text], Query(min_length=2, max_length=MOST_COMPANIES)],
    by: By | None = None,
    measure: Measure = "articles",
) -> Any:
    """The share of voice of companies among each other."""
    if by is not None:
        scope = _bounded(scope, by)
    return queries.share_of_voice(database, company, by=by, measure=measure, scope=scope)


@router.get("/companies", response_model=list[str])
def companies(database: Opened) -> Any:
    """All companies that were ever named."""
    return queries.company_names(database)


@router.get(
    "/companies/{name}/together", response_model=list[answers.CoMention], responses=_NOT_FOUND
)
def together(database: Opened, scope: Asked, name: Name, limit: Limit = 20) -> Any:
    """The companies that are named in the same articles."""
    _check_company(database, name)
    return queries.co_mentions(database, name, scope=scope, limit=limit)


@router.get(
    "/companies/{name}/articles", response_model=list[answers.FoundArticle], responses=_NOT_FOUND
)
def company_articles(
    database: Opened, scope: Asked, name: Name, limit: Limit = 50, offset: Offset = 0
) -> Any:
    """The articles behind a company's numbers, with the sentences that name it."""
    _check_company(database, name)
    return queries.company_articles(database, name, scope=scope, limit=limit, offset=offset)


@router.get("/articles", response_model=list[answers.Article])
def articles(database: Opened, scope: Asked, limit: Limit = 50, offset: Offset = 0) -> Any:
    """The newest articles."""
    return queries.articles(database, scope=scope, limit=limit, offset=offset)


@router.get("/article", response_model=answers.FullArticle, responses=_NOT_FOUND)
def article(database: Opened, url: Annotated[Text, Query(max_length=4000)]) -> Any:
    """One article in full, by any address it was met under."""
    found = queries.article_page(database, url)
    if found is None:
        raise HTTPException(404, "no article with this address in this database")
    return found


@router.get("/article/history", response_model=list[answers.Version], responses=_NOT_FOUND)
def history(database: Opened, url: Annotated[Text, Query(max_length=4000)]) -> Any:
    """The versions of an article, the first one first, each with what it changed."""
    found = queries.history(database, url)
    if not found:
        raise HTTPException(404, "no article with this address in this database")
    return found


@router.get("/stories", response_model=list[answers.Story])
def stories(database: Opened, scope: Asked, company: Word = None, limit: Limit = 20) -> Any:
    """The stories that were told most often."""
    return queries.stories(database, company=company, scope=scope, limit=limit)


@router.get("/search", response_model=list[answers.FoundArticle])
def search(
    database: Opened,
    scope: Asked,
    q: Annotated[Text, Query(max_length=LONGEST_VALUE, description='words, "a phrase", -not, a*')],
    limit: Limit = 50,
    offset: Offset = 0,
) -> Any:
    """The articles in which the words stand."""
    return queries.search(database, q, scope=scope, limit=limit, offset=offset)


@router.get("/quarantine", response_model=list[answers.QuarantinedRevision])
def quarantine(database: Opened, scope: Asked, limit: Limit = 50, offset: Offset = 0) -> Any:
    """The versions of articles that were not applied since they would make them worse."""
    return queries.quarantined(database, scope=scope, limit=limit, offset=offset)


@router.get("/sources", response_model=list[str])
def sources(database: Opened) -> Any:
    """All sources that were ever crawled."""
    return queries.source_slugs(database)


@router.get("/coverage", response_model=list[answers.CoverageDay])
def coverage(database: Opened, scope: Asked) -> Any:
    """What became of each source on each day."""
    return queries.coverage(database, scope=_bounded(scope, "day"))


def _check_company(database: Database, name: str) -> None:
    if name not in queries.company_names(database):
        raise HTTPException(404, f"no company {name!r} in this database: /api/companies lists them")


def _bounded(scope: Scope, by: str) -> Scope:
    """The scope with a first day, where a row for each period since ever would be too many;
    raises FilterError where the hours would be."""
    last = scope.until or (scope.now or datetime.now(UTC)).date()
    if by == "hour" and scope.since and (last - scope.since).days > MOST_DAYS_OF_HOURS:
        raise FilterError(f"hours of over {MOST_DAYS_OF_HOURS} days: ask for fewer, or by day")
    if scope.since is not None or by not in {"hour", "day"}:
        return scope
    return replace(scope, since=date.fromordinal(max(last.toordinal() - 365, 1)))
