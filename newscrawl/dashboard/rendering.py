"""From answers to HTML: templates that escape whatever they are given."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from newscrawl.dashboard.config import Config
from newscrawl.dashboard.marked import highlighted
from newscrawl.dashboard.registry import RegistryFile
from newscrawl.dashboard.security import FORM_COOKIE, FormSeal
from newscrawl.dashboard.store import Store

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"

# What no document may hold, and marks that turn the direction of all text after them around.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)


@dataclass(frozen=True, slots=True)
class Desk:
    """What every page works with."""

    config: Config
    store: Store
    seal: FormSeal
    templates: Environment
    registry: RegistryFile | None


def desk_of(request: Request) -> Desk:
    """The desk of the application that was asked."""
    desk: Desk = request.app.state.desk
    return desk


def render(request: Request, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """The template as an answer; forms on it carry the seal for this browser."""
    desk = desk_of(request)
    cookie, seal = desk.seal.for_browser(request)
    text = desk.templates.get_template(template).render(
        path=request.url.path,
        seal=seal,
        with_token=desk.config.token is not None,
        **values,
    )
    answer = HTMLResponse(text, status_code=status)
    if request.cookies.get(FORM_COOKIE) != cookie:
        secure = request.url.scheme == "https"
        answer.set_cookie(FORM_COOKIE, cookie, httponly=True, samesite="strict", secure=secure)
    return answer


def make_templates() -> Environment:
    """The templates, with our filters; every value is escaped and freed of what misleads."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "percent": percent,
        "day": day,
        "moment": moment,
        "clock": clock,
        "web": web,
        "highlighted": lambda snippet: highlighted(snippet.text, snippet.marks),
    }
    environment.globals |= {
        "article_address": article_address,
        "company_address": company_address,
        "query": query,
    }
    return environment


def _plain(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return _UNFIT.sub("\ufffd", value)
    return value


def number(value: int | None) -> str:
    """1234567 as 1,234,567; None, where nobody looked, as a dash."""
    return "–" if value is None else f"{value:,}"


def percent(share: float | None) -> str:
    """A share of 1 in per cent, with a decimal where it is small."""
    if share is None:
        return "–"
    return f"{share:.0%}" if abs(share) >= 0.1 or share == 0 else f"{share:.1%}"


def day(value: date) -> str:
    """As 7 Nov 2026."""
    return f"{value.day} {value:%b %Y}"


def moment(value: datetime | None) -> str:
    """As 7 Nov 2026, 09:30 UTC."""
    if value is None:
        return "–"
    at = value.astimezone(UTC)
    return f"{day(at)}, {at:%H:%M} UTC"


def clock(value: datetime | None) -> str:
    """As 7 Nov, 09:30; for what happened lately."""
    if value is None:
        return "–"
    at = value.astimezone(UTC)
    return f"{at.day} {at:%b, %H:%M}"


def web(url: str | None) -> str | None:
    """The URL if it leads to the web; a javascript: or data: link leads nowhere."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in {"http", "https"} and parts.netloc else None


def article_address(url: str) -> str:
    """Where our page about an article stands."""
    return f"/article?{urlencode({'url': url})}"


def company_address(name: str) -> str:
    """Where our page about a company stands."""
    return f"/company/{quote(name, safe='')}"


def query(**values: object) -> str:
    """A query string of the values that are there."""
    return f"?{urlencode({key: value for key, value in values.items() if value not in {None, ''}})}"
