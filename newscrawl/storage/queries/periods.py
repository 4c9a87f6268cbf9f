"""Hours, days, weeks, months, quarters and years, in any time zone."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from newscrawl.storage.documents import minute_of
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.queries.rows import Period, Scope

_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
# A zone may move a time by a day, which must stay within the calendar.
_FIRST, _LAST = date(2, 1, 1), date(9998, 12, 31)

# All zones of today are whole quarters of an hour away from UTC.
QUARTER = 15


def zone_of(scope: Scope) -> ZoneInfo:
    """The scope's time zone; raises QuestionError for one that is not known."""
    try:
        return ZoneInfo(scope.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise QuestionError(
            f"unknown time zone {scope.zone!r}: write it as Europe/Berlin or UTC"
        ) from error


def key_of(local: date, by: Period) -> str:
    """The key of the period in which a local day lies, or a local time for hours."""
    match by:
        case "hour":
            moment = local if isinstance(local, datetime) else datetime.combine(local, time())
            return moment.replace(minute=0, second=0, microsecond=0).isoformat(timespec="minutes")
        case "week":
            return (local - timedelta(days=local.weekday())).isoformat()[:10]
        case "month":
            return local.isoformat()[:7]
        case "quarter":
            return f"{local.isoformat()[:4]}-Q{(local.month + 2) // 3}"
        case "year":
            return local.isoformat()[:4]
    return local.isoformat()[:10]


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """The moment at which a local day begins; the calendar's first and last years are cut off."""
    day = min(max(day, _FIRST), _LAST)
    return datetime.combine(day, time(), zone).astimezone(UTC)


def minutes_of(scope: Scope) -> tuple[int | None, int | None]:
    """The scope's first minute, and the first one behind it; None where it is open."""
    zone = zone_of(scope)
    since = minute_of(midnight(scope.since, zone)) if scope.since else None
    until = minute_of(midnight(_after(scope.until), zone)) if scope.until else None
    return since, until


def local_time(quarter: int, zone: ZoneInfo) -> datetime:
    """The local time of a quarter of an hour, counted from the calendar's beginning."""
    return (_BEGINNING + timedelta(minutes=quarter * QUARTER)).astimezone(zone)


def day_of_minute(minute: int) -> date:
    """The UTC day of a minute, counted from the calendar's beginning."""
    return (_BEGINNING + timedelta(minutes=minute)).date()


@lru_cache(maxsize=4096)
def local_day(day: date, zone: ZoneInfo) -> date:
    """The local day that shares most of its hours with a UTC day: coverage is kept by those."""
    return datetime.combine(day, time(12), UTC).astimezone(zone).date()


def hours_of(day: date, zone: ZoneInfo) -> Iterator[datetime]:
    """The local hours of a local day: 23 or 25 of them where the clocks are changed."""
    moment, end = midnight(day, zone), midnight(_after(day), zone)
    while moment < end:
        yield moment.astimezone(zone)
        moment += timedelta(hours=1)


def bounds_of(key: str, by: Period, zone: ZoneInfo) -> tuple[int, int]:
    """The first minute of a period, and the first one behind it."""
    if by == "hour":
        start = minute_of(datetime.fromisoformat(key))
        return start, start + 60
    first = _first_day(key, by)
    after = _next(first, by)
    return minute_of(midnight(first, zone)), minute_of(midnight(after, zone))


def _after(day: date) -> date:
    return min(day, _LAST) + timedelta(days=1)


def _first_day(key: str, by: Period) -> date:
    if by == "quarter":
        year, quarter = key.split("-Q")
        return date(int(year), int(quarter) * 3 - 2, 1)
    if by in {"month", "year"}:
        return date.fromisoformat(f"{key}-01" if by == "month" else f"{key}-01-01")
    return date.fromisoformat(key)


def _next(first: date, by: Period) -> date:
    if by in {"day", "week"}:
        return first + timedelta(days=1 if by == "day" else 7)
    months = {"month": 1, "quarter": 3, "year": 12}[by]
    return (first + timedelta(days=months * 31)).replace(day=1)
