"""newscrawl's own settings: their defaults, and the functions that parse and check their values.

Each can be set in the environment, and for a crawl with `scrapy crawl ft -s NAME=VALUE` as well.
"""

import os
import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from importlib.metadata import version
from typing import Literal
from urllib.parse import unquote
from zoneinfo import ZoneInfo

_DURATION = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DIGEST = re.compile(
    rf"(daily|{'|'.join(_WEEKDAYS)}) ([01]?[0-9]|2[0-3]):([0-5][0-9])( \S+)?", re.IGNORECASE
)

Span = Literal["daily", "weekly"]


class SettingError(ValueError):
    """An invalid setting or argument: one line that names it and says what to do."""


def _env(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


# A URL before its path: user and password, in which signs that end a part are written as %40 and
# the like (RFC 3986, 3.2), host and port. No further @ follows: it would be one of the password.
_NETWORK_URL = re.compile(
    r"[\w+.-]+://(?:(?P<user>[^\s:/?#@]*)(?::[^\s/?#@]*)?@)?"
    r"(?:[\w.,-]+|\[[\w:.%]+\])?(?::\d+)?(?:[/?][^@]*)?"
)


def has_plain_host(url: str) -> bool:
    """Return whether the URL of a server shows where its password ends and its host begins.

    Otherwise a part of the password would be looked up as the host, or shown.
    """
    parts = _NETWORK_URL.fullmatch(url)
    return parts is not None and ":" not in unquote(parts["user"] or "")


def whole_number(name: str, value: object) -> int:
    """Return the value of a setting that is a number; raise SettingError unless it is above 0."""
    text = str(value).strip()
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise SettingError(f"{name}={text}: not a whole number above 0")
    return int(text)


def seconds(name: str, value: object, *, above_zero: bool = False) -> float:
    """Return the value of a setting in seconds, given as a number of them or as in "10m"; raise
    SettingError unless it is 0 or above."""
    text = str(value).strip().lower()
    unit = _DURATION.fullmatch(text)
    try:
        number = float(int(unit[1]) * _UNITS[unit[2]] if unit else text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise SettingError(f"{name}={value}: not a time, as in 30s, 10m or 6h")
    if above_zero and not number:
        raise SettingError(f"{name}={value}: must be above 0 seconds")
    return number


def durations(name: str, value: object) -> tuple[timedelta, ...]:
    """Return the value of a setting that is a list of times, as in "10m 1h 3d".

    Raise SettingError if one is invalid or shorter than the one before it.
    """
    matches = [_DURATION.fullmatch(part) for part in str(value).lower().replace(",", " ").split()]
    if any(part is None for part in matches):
        raise SettingError(f"{name}={value}: not times, as in 30s 10m 6h 3d")
    times = tuple(timedelta(seconds=int(part[1]) * _UNITS[part[2]]) for part in matches if part)
    if list(times) != sorted(times):
        raise SettingError(f"{name}={value}: each time must be longer than the one before it")
    return times


def duration(name: str, value: object) -> timedelta:
    """Return the value of a setting that is a time, as in "10m"; raise SettingError for any
    other."""
    times = durations(name, value)
    if len(times) != 1 or not times[0]:
        raise SettingError(f"{name}={value}: not a time, as in 10m or 6h")
    return times[0]


def days(name: str, value: object) -> timedelta:
    """Return the value of a setting that is a number of days, or a time as in "36h"; raise
    SettingError unless it is above 0."""
    text = str(value).strip()
    return duration(name, f"{text}d" if text.isdecimal() else text)


def yes(name: str, value: object) -> bool:
    """Return the value of a setting that is yes or no; raise SettingError for any other."""
    text = str(value).strip().lower()
    if text not in {"", "no", "0", "false", "yes", "1", "true"}:
        raise SettingError(f"{name}={value}: write yes or no")
    return text in {"yes", "1", "true"}


@dataclass(frozen=True, slots=True)
class DigestTime:
    """A time, in its time zone, at which digests are sent: each day, or on a weekday, 0 for Monday,
    that of the last week."""

    at: time
    weekday: int | None = None

    @property
    def span(self) -> Span:
        return "daily" if self.weekday is None else "weekly"

    @property
    def zone(self) -> str:
        """Return the name of its time zone."""
        return str(self.at.tzinfo)

    def moments(self, now: datetime) -> list[datetime]:
        """Return these times from eight days before `now` to eight days after it."""
        today = now.astimezone(self.at.tzinfo).date()
        days = (today + timedelta(days=number) for number in range(-8, 9))
        chosen = (day for day in days if self.weekday in {None, day.weekday()})
        return [datetime.combine(day, self.at) for day in chosen]


def digest_times(name: str, value: object) -> tuple[DigestTime, ...]:
    """Return the value of a setting that is a daily time, a weekly one, or both; raise SettingError
    for any other."""
    texts = [" ".join(part.split()) for part in str(value).split(",") if part.strip()]
    try:
        times = tuple(map(_digest_time, texts))
    except (KeyError, ValueError, OSError):  # of another form, or no such time zone
        times = ()
    if len({digest.span for digest in times}) < len(texts):
        raise SettingError(
            f"{name}={value}: write daily 07:00, or monday 07:00, or both with a comma; "
            "for another time zone than UTC as in monday 07:00 Europe/Berlin"
        )
    return times


def _digest_time(text: str) -> DigestTime:
    match = _DIGEST.fullmatch(text)
    if match is None:
        raise ValueError(text)
    zone = ZoneInfo((match[4] or "UTC").strip())
    day = match[1].lower()
    weekday = None if day == "daily" else _WEEKDAYS.index(day)
    return DigestTime(time(int(match[2]), int(match[3]), tzinfo=zone), weekday)


def user_name() -> str:
    """Return the name of the user who runs the program; empty if the system knows none."""
    import getpass  # noqa: PLC0415 - only corrections need it

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def user_agent(contact: str) -> str:
    """Return the crawler's user agent; `contact` is a URL or an e-mail address."""
    name = f"newscrawl/{version('newscrawl')}"
    return f"{name} (+{contact})" if contact else name


# --- Settings and their defaults ---------------------------------------------------------------

# Where sites can complain about the crawler: a URL or an e-mail address.
NEWSCRAWL_CONTACT = _env("NEWSCRAWL_CONTACT", "")
NEWSCRAWL_DATABASE_URL = _env("NEWSCRAWL_DATABASE_URL", "sqlite:///newscrawl.sqlite")
# Files of companies and of sources in addition to the bundled ones.
NEWSCRAWL_COMPANIES = _env("NEWSCRAWL_COMPANIES", "")
NEWSCRAWL_SOURCES = _env("NEWSCRAWL_SOURCES", "")
# The token of the dashboard; required if other machines have access.
NEWSCRAWL_SERVE_TOKEN = _env("NEWSCRAWL_SERVE_TOKEN", "")
# Addresses or networks, separated by commas, of proxies that sign users in and name them in the
# header X-Forwarded-User; and the users who may edit, * for all of them.
NEWSCRAWL_SERVE_PROXY = _env("NEWSCRAWL_SERVE_PROXY", "")
NEWSCRAWL_SERVE_EDITORS = _env("NEWSCRAWL_SERVE_EDITORS", "")
NEWSCRAWL_METHOD = _env("NEWSCRAWL_METHOD", "combined")
# Maximum number of articles that a crawl requests; `-a limit=` overrides it.
NEWSCRAWL_LIMIT = _env("NEWSCRAWL_LIMIT", "1000")
# Maximum age, in days, of pages from ordinary sitemaps (which list whole archives) without `-a
# since=`; a source whose newest article is older is stale.
NEWSCRAWL_RECENT_DAYS = _env("NEWSCRAWL_RECENT_DAYS", "7")
# Processes that extract pages if they arrive faster than a thread can read them; 0 for none, auto
# for one on each core, four at most.
NEWSCRAWL_EXTRACTION_PROCESSES = _env("NEWSCRAWL_EXTRACTION_PROCESSES", "auto")
# Maximum seconds of a Retry-After, and seconds of the pause after a 429 or 503 without one.
NEWSCRAWL_RETRY_AFTER_MAX = _env("NEWSCRAWL_RETRY_AFTER_MAX", "120")
NEWSCRAWL_RETRY_PAUSE = _env("NEWSCRAWL_RETRY_PAUSE", "10")
# Maximum seconds of a Crawl-delay; a source with a longer one is not crawled.
NEWSCRAWL_CRAWL_DELAY_MAX = _env("NEWSCRAWL_CRAWL_DELAY_MAX", "120")
# Ages at which a page is fetched again for corrections, and delays of the retries of a page that
# could not be fetched. A server may be down over a weekend.
NEWSCRAWL_REVISITS = _env("NEWSCRAWL_REVISITS", "1h 6h 1d 3d 7d")
NEWSCRAWL_RETRIES = _env("NEWSCRAWL_RETRIES", "10m 1h 6h 1d 3d")
# Bounds of the time between two polls of a feed or sitemap; within them, it is about that between
# two articles.
NEWSCRAWL_POLL_MIN = _env("NEWSCRAWL_POLL_MIN", "10m")
NEWSCRAWL_POLL_MAX = _env("NEWSCRAWL_POLL_MAX", "6h")
# How long data that a watch no longer needs (pages that no feed lists, runs without articles) is
# kept.
NEWSCRAWL_KEEP = _env("NEWSCRAWL_KEEP", "60d")
# Hosts (host, host:port or a network, separated by commas) that may be private addresses.
NEWSCRAWL_ALLOW_PRIVATE = _env("NEWSCRAWL_ALLOW_PRIVATE", "")
# `newscrawl monitor`: the seconds after which the sources of a dead worker are crawled by others;
# the maximum seconds of a crawl; and the seconds between two searches for due sources.
NEWSCRAWL_LEASE = _env("NEWSCRAWL_LEASE", "120")
NEWSCRAWL_LONGEST_CRAWL = _env("NEWSCRAWL_LONGEST_CRAWL", "7200")
# Seconds without a request, response or article after which the monitor ends a crawl. Ours: twice
# the longest pause of a healthy crawl (Retry-After, Crawl-delay and a timeout, 120 + 120 + 30) and
# some more.
NEWSCRAWL_STALL_TIMEOUT = _env("NEWSCRAWL_STALL_TIMEOUT", "600")
NEWSCRAWL_MONITOR_PAUSE = _env("NEWSCRAWL_MONITOR_PAUSE", "10")
# Where alerts are sent besides the log: a mail server, sender and recipients; URLs, separated by
# commas, that accept JSON, the key that signs it, and whether they may be private addresses.
NEWSCRAWL_SMTP_URL = _env("NEWSCRAWL_SMTP_URL", "")
NEWSCRAWL_MAIL_FROM = _env("NEWSCRAWL_MAIL_FROM", "")
NEWSCRAWL_MAIL_TO = _env("NEWSCRAWL_MAIL_TO", "")
NEWSCRAWL_WEBHOOKS = _env("NEWSCRAWL_WEBHOOKS", "")
NEWSCRAWL_WEBHOOK_SECRET = _env("NEWSCRAWL_WEBHOOK_SECRET", "")
NEWSCRAWL_WEBHOOK_PRIVATE = _env("NEWSCRAWL_WEBHOOK_PRIVATE", "no")
# When the monitor sends digests, as in "monday 07:00"; and the report that their e-mails carry:
# html, xlsx or none.
NEWSCRAWL_DIGEST = _env("NEWSCRAWL_DIGEST", "")
NEWSCRAWL_DIGEST_REPORT = _env("NEWSCRAWL_DIGEST_REPORT", "")
# A folder in which every response is archived as WARC, and the maximum megabytes of a file; and a
# folder from which a crawl is replayed instead of using the network.
NEWSCRAWL_ARCHIVE = _env("NEWSCRAWL_ARCHIVE", "")
NEWSCRAWL_ARCHIVE_MB = _env("NEWSCRAWL_ARCHIVE_MB", "1000")
NEWSCRAWL_REPLAY = _env("NEWSCRAWL_REPLAY", "")
