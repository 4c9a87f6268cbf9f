"""The spider arguments of `scrapy crawl`: -a NAME=VALUE."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from newscrawl.config import SettingError
from newscrawl.sources import UrlError, web_url

_EXAMPLE = "scrapy crawl ft -a since=2026-11-01 -a limit=100 -a feeds=URL,URL -a sitemaps=URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlArguments:
    """How one crawl differs from a source's usual one.

    Feeds or sitemaps given here replace all those of the source. With `only_due`, those that
    were polled too recently to have something new are skipped.
    """

    since: datetime | None = None
    limit: int | None = None
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    only_due: bool = False


def parse_arguments(given: Mapping[str, str]) -> CrawlArguments:
    """Read the arguments as they were typed; SettingError names a bad one and what to do."""
    parsers: dict[str, Callable[[str], Any]] = {
        "since": _since,
        "limit": _limit,
        "feeds": _urls,
        "sitemaps": _urls,
        "polls": _only_due,
    }
    fields = {"polls": "only_due"}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name.startswith("_"):
            continue  # Scrapyd adds its job's number as _job
        if name not in parsers:
            raise SettingError(f"-a {name}=: no such argument; as in {_EXAMPLE}")
        try:
            values[fields.get(name, name)] = parsers[name](text.strip())
        except ValueError as error:
            shown = "..." if "@" in text else text  # which may be a password
            raise SettingError(f"-a {name}={shown}: {error}; as in {_EXAMPLE}") from None
    return CrawlArguments(**values)


def _since(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("not a date like 2026-11-01 or 2026-11-01T09:30+01:00") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > datetime.now(UTC):
        raise ValueError("lies in the future")
    return moment


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ValueError("not a whole number above 0")
    return int(text)


def _only_due(text: str) -> bool:
    if text not in {"all", "due"}:
        raise ValueError("write all (every feed and sitemap) or due (only those that are)")
    return text == "due"


def _urls(text: str) -> tuple[str, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ValueError("names no URL")
    try:
        return tuple(dict.fromkeys(map(web_url, parts)))
    except UrlError as error:
        raise ValueError(str(error)) from None
