"""Render answers as HTML: the dashboard's templates and their filters."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from urllib.parse import quote, urlencode

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from newscrawl.dashboard.companies_file import CompaniesFile, CompaniesFileError, registry_of
from newscrawl.dashboard.config import Config
from newscrawl.dashboard.filters import Filters, read_filters
from newscrawl.dashboard.rematch_job import RematchJob
from newscrawl.dashboard.security import FORM_COOKIE, FormSeal
from newscrawl.dashboard.store import Store
from newscrawl.mentions import Companies
from newscrawl.storage import Database, queries
from newscrawl.templating import html_templates, marked_pieces

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True)
class AppState:
    """What every page needs: the configuration, the database, and the templates."""

    config: Config
    store: Store
    seal: FormSeal
    templates: Environment
    registry: CompaniesFile | None
    job: RematchJob | None


def app_state(request: Request) -> AppState:
    """Return the state of the application that serves the request."""
    state: AppState = request.app.state.dashboard
    return state


def companies_in_use(request: Request) -> Companies:
    """Return the companies in use; the bundled ones while the user's file has a fault, which the
    registry's page shows."""
    try:
        return registry_of(app_state(request).registry)
    except CompaniesFileError:
        return registry_of(None)


def filters_of(request: Request) -> Filters:
    """Return the filters of the request's address; raise QuestionError."""
    now = app_state(request).config.clock()
    return read_filters(request.query_params, now, companies_in_use(request).structure)


def check_seal(request: Request, seal: str) -> None:
    """Raise HTTPException for a form without the seal of this browser."""
    if not app_state(request).seal.holds(request, seal):
        raise HTTPException(403, "Reload the page and send the form again.")


def render(request: Request, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """Return the rendered template; its forms carry the seal for this browser."""
    state = app_state(request)
    cookie, seal = state.seal.for_browser(request)
    text = state.templates.get_template(template).render(
        path=request.url.path,
        seal=seal,
        with_token=state.config.token is not None,
        **values,
    )
    answer = HTMLResponse(text, status_code=status)
    if request.cookies.get(FORM_COOKIE) != cookie:
        secure = request.url.scheme == "https"
        answer.set_cookie(FORM_COOKIE, cookie, httponly=True, samesite="strict", secure=secure)
    return answer


def make_templates() -> Environment:
    """Return the dashboard's templates with its filters."""
    templates = html_templates(TEMPLATES)
    templates.filters |= {
        "number": number,
        "percent": percent,
        "day": day,
        "moment": moment,
        "clock": clock,
        "pieces": lambda snippet: marked_pieces(snippet.text, snippet.marks),
    }
    templates.globals |= {
        "article_address": article_address,
        "company_address": company_address,
        "query": query,
    }
    return templates


def number(value: int | None) -> str:
    """Return 1234567 as "1,234,567", and None as a dash."""
    return "–" if value is None else f"{value:,}"


def percent(share: float | None) -> str:
    """Return a share in percent, with a decimal where it is small."""
    if share is None:
        return "–"
    return f"{share:.0%}" if abs(share) >= 0.1 or share == 0 else f"{share:.1%}"


def day(value: date) -> str:
    """Return a day as "7 Nov 2026"."""
    return f"{value.day} {value:%b %Y}"


def moment(value: datetime | None) -> str:
    """Return a moment as "7 Nov 2026, 09:30 UTC"."""
    if value is None:
        return "–"
    at = value.astimezone(UTC)
    return f"{day(at)}, {at:%H:%M} UTC"


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


def query(**values: object) -> str:
    """Return a query string of the values that are not empty."""
    return f"?{urlencode({key: value for key, value in values.items() if value not in {None, ''}})}"


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters of a page offer: the sources, languages and countries in the database."""

    sources: list[str]
    languages: list[str]
    countries: list[str]


def choices(database: Database) -> Choices:
    """Return the choices of the filters."""
    return Choices(
        queries.source_slugs(database), queries.languages(database), queries.countries(database)
    )
