"""Shared by all pages: the database, opened for the first request and again if it was replaced;
marks in texts; the templates and their filters."""

import re
import shlex
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from difflib import SequenceMatcher
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote, unquote, urlencode

from fastapi import APIRouter, Depends, Form
from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from newscrawl.answers import proof, words
from newscrawl.config import user_name
from newscrawl.dashboard.companies_file import CompaniesFile, CompaniesFileError, registry_of
from newscrawl.dashboard.config import Config
from newscrawl.dashboard.filters import FIELDS, Filters, check_values, read_filters
from newscrawl.dashboard.jobs import CountingJobs, RematchJob
from newscrawl.dashboard.security import FORM_COOKIE, FormSeal, Identity, Sessions
from newscrawl.items import Mention, Versions
from newscrawl.mentions import Companies
from newscrawl.reading import versions_of
from newscrawl.reports import period_of_name
from newscrawl.reports.document import HtmlPen
from newscrawl.storage import Database, QuestionError, StorageError, open_database, queries
from newscrawl.storage.corrections import MAX_NAME
from newscrawl.storage.engine import parse_url, sqlite_file
from newscrawl.storage.queries import Scope
from newscrawl.storage.queries.article_details import CorrectionRow
from newscrawl.storage.queries.comparisons import ALPHA
from newscrawl.storage.queries.completeness import first_read_day
from newscrawl.storage.scope import FILTERS, today
from newscrawl.templating import html_templates, marked_pieces
from newscrawl.text import count_of

Change = Literal["same", "gone", "new"]
# A mention or a correction, with offsets in the characters of the title or the text.
Mark = Mention | queries.MarkedMention | CorrectionRow
_WORDS = re.compile(r"\s+|[^\s]+")
# Ours: difflib is quadratic in the words of one paragraph, so a longer one is shown as replaced.
MAX_PARAGRAPH_WORDS = 1500
MAX_PARAGRAPHS = 400


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text and its offset; `mention` is set where it is one."""

    text: str
    start: int
    mention: Mark | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of text that is equal in both versions, deleted, or new."""

    text: str
    change: Change


def pieces(text: str, marks: Sequence[Mark], start: int = 0) -> list[Piece]:
    """Return the text with its marks as pieces of their own, as `marked_pieces` does; `start` is
    the offset of the text in the text that the marks refer to."""
    by_place = {(mark.start, mark.end): mark for mark in reversed(marks)}
    parts, position = [], start
    for part, is_marked in marked_pieces(text, [(a - start, b - start) for a, b in by_place]):
        end = position + len(part)
        parts.append(Piece(part, position, by_place[position, end] if is_marked else None))
        position = end
    return parts


def paragraphs(text: str, marks: Sequence[Mark]) -> list[list[Piece]]:
    """Return the pieces of each paragraph of a body."""
    pieces_by_paragraph, position = [], 0
    for paragraph in text.split("\n\n"):
        pieces_by_paragraph.append(pieces(paragraph, marks, position))
        position += len(paragraph) + 2
    return [paragraph for paragraph in pieces_by_paragraph if paragraph]


def changes(before: str, after: str) -> list[list[Edit]]:
    """Return the edits of each paragraph, word by word where a paragraph was rewritten."""
    old, new = before.split("\n\n")[:MAX_PARAGRAPHS], after.split("\n\n")[:MAX_PARAGRAPHS]
    edits: list[list[Edit]] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            edits += [[Edit(text, "same")] for text in old[i1:i2]]
        elif tag == "replace" and i2 - i1 == j2 - j1:
            pairs = zip(old[i1:i2], new[j1:j2], strict=True)
            edits += [list(_rewritten(period, right)) for period, right in pairs]
        else:
            edits += [[Edit(text, "gone")] for text in old[i1:i2]]
            edits += [[Edit(text, "new")] for text in new[j1:j2]]
    return [[edit for edit in row if edit.text] for row in edits]


def _rewritten(before: str, after: str) -> Iterator[Edit]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > MAX_PARAGRAPH_WORDS:
        yield from (Edit(before, "gone"), Edit(after, "new"))
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Edit("".join(old[i1:i2]), "same")
            continue
        yield Edit("".join(old[i1:i2]), "gone")
        yield Edit("".join(new[j1:j2]), "new")


# Ours: seconds that a page waits for a database that is locked and not yet open.
_OPENING_WAIT = 3.0


class Store:
    """Gives the same open database to every request, until its file is deleted or replaced."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._file = sqlite_file(parse_url(url))
        self._lock = Lock()
        self._failed_at = float("-inf")
        self._failure = ""
        self._database: Database | None = None
        self._opened: tuple[int, int] | None = None

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """Yield the database for one request; raise StorageError if it can't be read, after
        which the next request opens it again."""
        database = self._current()
        try:
            yield database
        except QuestionError:
            raise
        except StorageError:
            self._forget(database)
            raise

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database = None

    def _current(self) -> Database:
        """Return the open database, or open it; requests that wait meanwhile share its failure."""
        began = time.monotonic()
        with self._lock:
            if began < self._failed_at:
                raise StorageError(self._failure)
            identity = _identity(self._file)
            if self._database is not None and identity == self._opened:
                return self._database
            if self._database is not None:
                self._database.close()
                self._database = None
            try:
                self._database = open_database(
                    self._url, create=False, keep_answers=True, longest=_OPENING_WAIT
                )
            except StorageError as error:
                self._failed_at, self._failure = time.monotonic(), str(error)
                raise
            self._opened = _identity(self._file)
            return self._database

    def _forget(self, database: Database) -> None:
        with self._lock:
            if self._database is database:
                self._database = None
        database.close()


def _identity(file: Path | None) -> tuple[int, int] | None:
    """Return what identifies a file: an open connection keeps the old one after a replacement."""
    if file is None:
        return None
    try:
        stat = file.stat()
    except OSError:
        return (0, 0)
    return stat.st_dev, stat.st_ino


class SourceNames:
    """Return the name of a source by its slug, from the database when one is asked for first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._names: Mapping[str, str] | None = None

    def __call__(self, slug: str) -> str:
        if self._names is None:
            try:
                with self._store.reading() as database:
                    self._names = queries.source_names(database)
            except StorageError:
                self._names = {}
        return self._names.get(slug) or slug


NAME_COOKIE = "newscrawl_name"
TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
MAX_ROWS = 12  # of a table below a chart or in a proof; longer ones scroll


@dataclass(frozen=True, slots=True)
class AppState:
    """The configuration and the database, for every page."""

    config: Config
    store: Store
    seal: FormSeal
    sessions: Sessions
    registry: CompaniesFile | None
    job: RematchJob
    counting: CountingJobs


def app_state(request: Request) -> AppState:
    """Return the state of the application that serves the request."""
    state: AppState = request.app.state.dashboard
    return state


def identity_of_request(request: Request) -> Identity | None:
    """Return who makes the request; None for visitors without a right, who get only the form to
    sign in."""
    identity: Identity | None = getattr(request.state, "identity", None)
    return identity


def name_of_person(request: Request) -> str:
    """Return the name of the token or of the proxy's user; else the name that the browser was
    given; else, if only users of this machine have access, the one under which we run; else
    nothing."""
    identity = identity_of_request(request)
    if identity is not None and identity.name:
        return identity.name
    name = unquote(request.cookies.get(NAME_COOKIE, "")).strip()
    if name or identity is None or identity.signed_in:
        return name[:MAX_NAME]
    return user_name()


def companies_in_use(request: Request) -> Companies:
    """Return the companies in use; only the bundled ones if the user's file is invalid, which the
    registry's page reports."""
    try:
        return registry_of(app_state(request).registry)
    except CompaniesFileError:
        return registry_of(None)


def versions_in_use(request: Request) -> Versions:
    """Return the versions in use: the program, the companies, the models of extraction."""
    file = app_state(request).registry
    return versions_of(file.path if file is not None and file.path.exists() else None)


def filters_of(request: Request) -> Filters:
    """Return the filters of the request's address; raise QuestionError. A number of last days
    begins with the first of which an article was read, or with the first crawl."""
    check_values(request.query_params.multi_items())
    now = app_state(request).config.clock()
    structure = companies_in_use(request).structure
    filters = read_filters(request.query_params, now, structure, app_state(request).config.catalog)
    if filters.days:
        # Not all pages need a database, and those that do report why it can't be read.
        with suppress(StorageError), app_state(request).store.reading() as database:
            first = queries.first_watched_day(database) or filters.since
            if first > filters.since:  # earlier articles were still listed
                whole = Scope(since=filters.since, until=filters.until, zone=filters.scope.zone)
                first = min(first, first_read_day(database, whole) or first)
            return replace(filters, since=min(max(filters.since, first), filters.until))
    return filters


def usable_filters(request: Request) -> tuple[Filters, list[tuple[str, str]]]:
    """Return the filters of the address without the faulty ones, and its other parameters, which
    the form of the filters has no field for."""
    state, structure = app_state(request), companies_in_use(request).structure
    now, catalog = state.config.clock(), state.config.catalog
    usable: dict[str, str] = {}
    further: list[tuple[str, str]] = []
    for name, value in request.query_params.multi_items():
        tried = {**usable, name: value}
        try:
            read_filters(tried, now, structure, catalog)
        except QuestionError:
            continue
        if name in FIELDS:
            usable = tried
        elif name != "page":
            further.append((name, value))
    return read_filters(usable, now, structure, catalog), further


def page_before(request: Request) -> tuple[str, str]:
    """Return the name and the address of the page that leads to a proof or report of the companies
    in an address, with those of its filters that can be used."""
    filters, further = usable_filters(request)
    names = [value for name, value in further if name == "company" and value]
    if len(names) == 1:
        return names[0], f"{company_address(names[0])}{filters.address()}"
    if names:
        address = filters.address()
        query_of_names = urlencode([("company", name) for name in names])
        return "the comparison", f"/compare{address}{'&' if address else '?'}{query_of_names}"
    return "the overview", f"/{filters.address()}"


async def check_seal(request: Request) -> None:
    """Raise HTTPException for a form without the seal of this browser."""
    if request.method == "POST":
        seal = (await request.form()).get("seal")
        if not isinstance(seal, str) or not app_state(request).seal.holds(request, seal):
            raise HTTPException(403, "Reload the page and send the form again.")


def page_router() -> APIRouter:
    """Return a router for pages, whose forms have the seal of this browser."""
    return APIRouter(include_in_schema=False, dependencies=[Depends(check_seal)])


def open_database_of(request: Request) -> Iterator[Database]:
    """Yield the database for the request; raise StorageError if it can't be read."""
    with app_state(request).store.reading() as database:
        yield database


OpenDatabase = Annotated[Database, Depends(open_database_of)]
_T = TypeVar("_T")
Sent = Annotated[_T, Form()]  # what a form has sent


def render(request: Request, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """Return the rendered template; its forms carry the seal for this browser."""
    state, identity = app_state(request), identity_of_request(request)
    cookie, seal = state.seal.for_browser(request)
    source_name = SourceNames(state.store)
    text = (
        page_templates()
        .get_template(template)
        .render(
            source_name=source_name,
            pen=partial(_pen, source_name),
            parameters=request.query_params.multi_items(),
            path=request.url.path,
            seal=seal,
            with_token=identity is not None and identity.signed_in,
            may_edit=identity is not None and identity.right == "edit",
            **values,
        )
    )
    answer = HTMLResponse(text, status_code=status)
    if request.cookies.get(FORM_COOKIE) != cookie:
        secure = request.url.scheme == "https"
        answer.set_cookie(FORM_COOKIE, cookie, httponly=True, samesite="strict", secure=secure)
    return answer


@cache
def page_templates() -> Environment:
    """Return the dashboard's templates with its filters, compiled once."""
    templates = html_templates(TEMPLATES)
    templates.filters |= {
        "number": words.number,
        "count_of": count_of,
        "percent": words.percent,
        "day": words.day,
        "moment": moment,
        "clock": clock,
        "chance": words.chance_text,
        "verdict": words.verdict_text,
        "versions": queries.versions_text,
        "evidence": proof.evidence_text,
        "method_words": proof.method_words,
        "shell_word": shlex.quote,
    }
    templates.globals |= {
        "article_address": article_address,
        "company_address": company_address,
        "proof_address": proof_address,
        "period_address": period_address,
        "last_month": lambda filters: period_of_name("last-month", today(filters.scope)),
        "query": query,
        "sentences": words,
        "correction_text": proof.correction_text,
        "scope_filters": FILTERS,
        "most_rows": MAX_ROWS,
        "alpha": ALPHA,
    }
    return templates


def moment(value: datetime | None) -> str:
    """Return a moment as "7 Nov 2026, 09:30 UTC"."""
    if value is None:
        return "–"
    at = value.astimezone(UTC)
    return f"{words.day(at)}, {at:%H:%M} UTC"


def clock(value: datetime | None) -> str:
    """Return a recent moment as "7 Nov, 09:30"."""
    if value is None:
        return "–"
    at = value.astimezone(UTC)
    return f"{at.day} {at:%b, %H:%M}"


def article_address(url: str) -> str:
    """Return the address of the page about an article."""
    return f"/article?{urlencode({'url': url})}"


def company_address(name: str) -> str:
    """Return the address of the page about a company."""
    return f"/company/{quote(name, safe='')}"


def proof_address(
    filters: Filters,
    counted: str,
    company: str = "",
    *,
    without: Sequence[str] = (),
    **more: object,
) -> str:
    """Return the address of the proof of a number. It names the days, so that it leads to the same
    number tomorrow."""
    values = {"days": "", "since": filters.since, "until": filters.until}
    values |= {"count": "", "split": "", "by": "", "counted": counted, "company": company, **more}
    return f"/proof{filters.address(**values)}" + "".join(
        f"&{urlencode({'without': group})}" for group in without
    )


def _pen(source_name: SourceNames, filters: Filters, company: str = "", **parts: object) -> HtmlPen:
    """Return the pen for sentences about a company's numbers, which lead to their proofs."""

    def address(counted: str, **of: object) -> str:
        if counted == "quarantined":
            return f"/quarantine{query(source=filters.scope.source)}"
        return proof_address(filters, counted, company, **{**parts, **of})  # type: ignore[arg-type]

    return HtmlPen(source_name, address)


def period_address(filters: Filters, first: date, column: Mapping[str, Any]) -> str:
    """Return the address of the proof of a number in a chart: of the days of its period that lie
    within those of the filters."""
    if filters.by == "month":
        after = (first + timedelta(days=31)).replace(day=1)
    else:
        after = first + timedelta(days=7 if filters.by == "week" else 1)
    last = min(after - timedelta(days=1), filters.until)
    return proof_address(filters, **column, since=max(first, filters.since), until=last)


def query(**values: object) -> str:
    """Return a query string of the values that are not empty."""
    return f"?{urlencode({key: value for key, value in values.items() if value not in {None, ''}})}"


def choices(database: Database, filters: Filters) -> dict[str, list[tuple[Any, str]]]:
    """Return the choices of filters with their texts, from what is in the database; a filter that
    is not among them takes what is written."""
    scope, names = filters.scope, queries.source_names(database)
    groups = {
        name for name, slugs in scope.catalog.groups.items() if not names.keys().isdisjoint(slugs)
    }
    values: dict[str, Collection[Any]] = {
        "group": groups | {*filter(None, [scope.group])},
        "language": queries.languages(database),
        "country": queries.countries(database),
    }
    sources = sorted(names.items(), key=lambda source: source[1].casefold())
    return {
        "source": sources,
        **{name: [(value, str(value)) for value in sorted(each)] for name, each in values.items()},
    }
