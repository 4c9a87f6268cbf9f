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
    """The options of one crawl. Feeds or sitemaps given here replace all those of the source.

    With `only_due`, feeds and sitemaps that were polled too recently to have new entries are
    skipped.
    """

    since: datetime | None = None
    limit: int | None = None
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    only_due: bool = False


def parse_arguments(given: Mapping[str, str]) -> CrawlArguments:
    """Parse the arguments of a command line; raise SettingError for an invalid one."""
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
            raise SettingError(f"-a {name}=: unknown argument; as in {_EXAMPLE}")
        try:
            values[fields.get(name, name)] = parsers[name](text.strip())
        except ValueError as error:
            shown = "..." if "@" in text else text  # may be a password
            raise SettingError(f"-a {name}={shown}: {error}; as in {_EXAMPLE}") from None
    return CrawlArguments(**values)


def _since(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("not a date, such as 2026-11-01 or 2026-11-01T09:30+01:00") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > datetime.now(UTC):
        raise ValueError("is in the future")
    return moment


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ValueError("not a whole number above 0")
    return int(text)


def _only_due(text: str) -> bool:
    if text not in {"all", "due"}:
        raise ValueError("write all (every feed and sitemap) or due (only those that are due)")
    return text == "due"


def _urls(text: str) -> tuple[str, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ValueError("contains no URL")
    try:
        return tuple(dict.fromkeys(map(web_url, parts)))
    except UrlError as error:
        raise ValueError(str(error)) from None
