"""Dates as news pages write them: ISO, RFC 2822, epoch seconds, month names of 45 languages.

Other languages, calendars, figures and day periods are in `calendars.py`.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from importlib.resources import files
from typing import Final

from newscrawl.extraction.metadata import calendars

MAX_LENGTH: Final = 400
"""Ours: characters of a value or text that are looked at; a date line has about 60."""

MAX_DATE_LINE: Final = 80
"""Ours: characters of a line that is a date in other figures."""

EARLIEST: Final = 1800
"""Ours: newspapers' archives reach back into the 19th century; year 1 is a program's default."""

EARLIEST_VISIBLE: Final = 1991
"""The first web page; an earlier date in a text or URL is part of the story."""

_NAMES: Final = json.loads(files(__package__).joinpath("months.json").read_text("utf-8"))
_MONTHS: Final[dict[str, int]] = _NAMES["months"]
_MONTHS_BY_LANGUAGE: Final[dict[str, dict[str, int]]] = _NAMES["by_language"]
DAYS: Final = frozenset(_NAMES["days"])
MONTHS_AND_DAYS: Final = frozenset(_MONTHS) | DAYS
"""Words that show a text to be a date, not a name, in lower case."""

_ZONE_HOURS: Final = {
    **dict.fromkeys(("z", "ut", "utc", "gmt", "wet"), 0.0),
    **dict.fromkeys(("cet", "mez", "bst", "west", "wib"), 1.0),
    **dict.fromkeys(("cest", "mesz", "eet", "sast"), 2.0),
    **dict.fromkeys(("eest", "msk", "мск", "trt"), 3.0),
    "wib": 7.0, "ist": 5.5, "hkt": 8.0, "sgt": 8.0, "jst": 9.0, "kst": 9.0,
    "aest": 10.0, "aedt": 11.0, "nzst": 12.0, "nzdt": 13.0,
    "edt": -4.0, "est": -5.0, "et": -5.0, "cdt": -5.0, "cst": -6.0, "mdt": -6.0, "mst": -7.0,
    "pdt": -7.0, "pst": -8.0, "pt": -8.0,
}  # fmt: skip

YEAR: Final = re.compile(r"(?:18|19|20)\d\d|\d\.\d{1,2}\.\d\d")
"""What every date holds: a year in full, or a day with full stops."""
# As above, or a year of two figures; no date is without either.
_PART_OF_DATE: Final = re.compile(
    r"(?:18|19|20)\d\d|\d[./-]\s?\d\d?[./-]\s?\d\d|[^\W\d][-/. ]\s?['’]?\d\d(?!\d)"
)
_SHORT_YEAR: Final = re.compile(r"(?:(?<=\w[\s.,])|(?<=[^\W\d]))\s?['’‘](?=[0-3]\d(?!\d))")
# Other figures than those of a year: a day like 10/11/26, and those of other scripts.
_OTHER_DAY: Final = re.compile(
    r"\d[/-]\d\d?[/-]\d\d(?!\d)|['’]\d\d|[^\W\d][- ]\d\d$|(?![0-9])\d|[年년]"
)
_PERSIAN_YEAR: Final = re.compile(r"(?<!\d)1[34]\d\d(?!\d)")
# All begin with a digit; to ask for it first takes a quarter less of `find`.
_NUMERIC: Final = re.compile(
    r"(?=\d)(?:"
    r"(?<![\d.])(?P<y>(?:18|19|20)\d\d)\s?[-/.]\s?(?P<m>\d{1,2})\s?[-/.]\s?(?P<d>\d{1,2})(?!\d)"
    r"|(?<!\d)(?P<a>\d{1,2})\s?[./-]\s?(?P<b>\d{1,2})(?:\s?[./-]\s?|(?<=/\d\d)\s)(?P<y2>(?:19|20)\d\d)(?!\d)"
    r"|(?<!\d)(?P<y3>(?:19|20)\d\d)\)?\s?(?:[年년]|оны)\s?(?P<m3>\d{1,2})\s?(?:[月월]|(?:-р\s)?сарын)"
    r"\s?(?P<d3>\d{1,2})"
    r"|(?<!\d)(?P<y4>(?:19|20)\d\d)(?P<m4>[01]\d)(?P<d4>[0-3]\d)(?:T?\d{4,6})?(?!\d)"
    r"|(?<![\d.:])(?P<d5>\d{1,2})\.(?P<m5>\d{1,2})\.(?P<y5>[012]\d)(?![\d.])"
    r"|(?<![\d./:-])(?P<a7>\d{1,2})(?P<sign>[/-])(?P<b7>\d{1,2})(?P=sign)(?P<y7>[012]\d)(?![\d/-])"
    r"|(?<!\d)(?P<d6>\d{1,2})\s(?:tháng|thg)\s(?P<m6>\d{1,2})(?:,|\snăm)?\s(?P<y6>(?:19|20)\d\d)(?!\d))"
)
# Vowel signs, as in Hindi, are no letters for the patterns of Python.
_NAME: Final = r"[^\s\d!-@\[-`{-¿\u2000-\u206f]{2,14}+"
_DAY_FIRST: Final = re.compile(
    r"(?<!\d)(?P<d>\d{1,2})(?:st|nd|rd|th|er|e|\.|º|ª|-?(?:го|a))?[\s\-/]+"
    r"(?:de\s+|d['’]|di\s+|of\s+|ta['’]\s+|ב)?"
    rf"(?P<m>{_NAME})\.?[\s,\-/]+(?:de\s+|del\s+|года\s+)?"
    r"(?P<y>(?:19|20)\d\d)(?!\d)"
)
_SHORT: Final = re.compile(
    rf"(?<!\d)(?P<d>\d{{1,2}})(?P<sign>[-/ ])(?P<m>{_NAME})\.?(?P=sign)(?P<y>[0-3]\d)"
    r"(?=\s*(?:$|[|·•(,–—]))(?!,?\s?(?:19|20)\d\d)"
)
_MONTH_FIRST: Final = re.compile(
    rf"(?<![^\W\d_])(?P<m>{_NAME})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?"
    r"(?:\s+(?:at\s+)?\d{1,2}:\d\d(?::\d\d)?)?(?:,\s*|\s+)(?P<y>(?:19|20)\d\d)(?!\d)"
)
# As in Hungarian, Lithuanian, Basque and Latvian; not the 2023 of "© 2023 March 5, 2024".
_YEAR_FIRST: Final = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)(?:\.(?:\s?gada)?|\sm\.|(?:\(e\))?ko)?\s"
    rf"(?:(?P<d2>\d{{1,2}})\.\s)?(?P<m>{_NAME})\.?(?(d2)|\s(?P<d>\d{{1,2}})(?!\d))"
    r"(?!,?\s(?:19|20)\d\d)"
)
_CLOCK: Final = re.compile(
    r"(?<![\d:.])(?P<h>[01]?\d|2[0-4])\s?[:h.：]\s?(?P<min>[0-5]\d)(?:[:.](?P<s>[0-5]\d)(?:\.\d+)?)?"
    r"(?![\d.:])\s*(?P<half>[apAP]\.?\s?[mM]\b\.?)?(?:\s*(?:Uhr|Uhr\.|hrs|hs|ч)\b)?"
    r"\s*\(?(?P<zone>(?:UTC|GMT)?\s?[+-]\d\d?(?::?\d\d)?|[A-Za-zМмСсКк]{1,4}\b)?",
)
# As in "3시 18분", "午後3時", "1518hrs", "3 p.m." and "18 Uhr".
_OTHER_CLOCK: Final = re.compile(
    r"(?<![\d:.])(?:(\d\d?)\s?(?:[時时點点시]|giờ)\s?(?:(\d\d?)\s?(?:[分분]|phút)?|([半반]))?"
    r"|([01]\d|2[0-3])([0-5]\d)\s?(?=h(?:ou)?rs?\b)|(\d\d?)\s?(?=[ap]\.?\s?m\b|Uhr\b|h(?!\s?\d)\b))",
    re.IGNORECASE,
)
# "20261112083000", "Thu Nov 12 08:30:00 CET 2026": as databases, Unix and Java write moments.
_COMPACT: Final = re.compile(r"^((?:19|20)\d{6})(\d{4}(?:\d\d)?)$")
_YEAR_LAST: Final = re.compile(
    r"([A-Z][a-z]{2} \d{1,2}),? (\d\d:\d\d(?::\d\d)?)( [A-Z]{2,5}| [+-]\d{4})? ((?:19|20)\d\d)$"
)
_EPOCH: Final = re.compile(r"(\d{10})(?:\d{3})?(?:\.\d+)?")
_OFFSET: Final = re.compile(r"([+-])(\d\d?):?(\d\d)?")
_IN_PATH: Final = re.compile(
    r"/(?P<y>(?:19|20)\d\d)[/\-_.](?P<m>0?[1-9]|1[0-2])[/\-_.](?P<d>0?[1-9]|[12]\d|3[01])(?!\d)"
    r"|/(?P<y2>(?:19|20)\d\d)/(?P<m2>[a-z]{3,9})/(?P<d2>\d{1,2})(?!\d)"
    r"|(?<!\d)(?P<y3>(?:19|20)\d\d)[-_](?P<m3>0[1-9]|1[0-2])[-_](?P<d3>0[1-9]|[12]\d|3[01])(?!\d)"
    r"|(?<!\d)(?P<y4>20[0-3]\d)(?P<m4>0[1-9]|1[0-2])(?P<d4>0[1-9]|[12]\d|3[01])(?!\d)"
)
# What may also be the number of an article, or the day of an event: it overrides nothing.
_Y, _M, _D = r"20[0-3]\d", "(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_MAYBE_IN_PATH: Final = re.compile(
    rf"/(?P<y>{_Y})(?P<m>{_M})/(?P<d>{_D})(?!\d)|/(?P<y2>{_Y})/(?P<m2>{_M})(?P<d2>{_D})(?!\d)"
    rf"|(?<!\d)(?P<a>\d{{1,2}})[._-](?P<b>\d{{1,2}})[._-](?P<y3>{_Y})(?!\d)"
    rf"|/(?P<d3>{_D})/(?P<m3>{_M})/(?P<y4>{_Y})(?!\d)|/(?P<d4>{_D})(?P<m4>{_M})(?P<y5>{_Y})(?!\d)"
    rf"|/(?P<d5>\d{{1,2}})-(?P<m5>[a-z]{{3,9}})-(?P<y6>{_Y})(?!\d)"
    rf"|/(?P<m6>[a-z]{{3,9}})-(?P<d6>\d{{1,2}})-(?P<y7>{_Y})(?!\d)"
    rf"|(?<!\d)(?P<y8>{_Y})(?P<m7>{_M})(?P<d7>{_D})(?=\d{{3}})"
    rf"|(?<=\d)(?P<y9>{_Y})(?P<m8>{_M})(?P<d8>{_D})(?=\d{{4}})"
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A moment as a page gives it.

    `moment` is aware if the page names a zone; `timed` says whether it names a time of day.
    """

    moment: datetime
    timed: bool

    @property
    def day(self) -> date:
        return self.moment.date()

    @property
    def zone(self) -> tzinfo | None:
        return self.moment.tzinfo if self.timed else None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a page writes days: its language, and whether 3/4 is the 4th of March."""

    language: str | None = None
    month_first: bool = False


ISO: Final = Dialect()


def read(value: str | None, dialect: Dialect = ISO) -> Stamp | None:
    """Read a value that is meant to be a date, as in an attribute or JSON-LD."""
    if not value:
        return None
    value = value[:MAX_LENGTH].strip()
    if not value or not any(map(str.isdigit, value)):
        return None
    if epoch := _EPOCH.fullmatch(value):
        return _stamp(datetime.fromtimestamp(int(epoch[1]), UTC), timed=True)
    value = _COMPACT.sub(r"\1T\2", _YEAR_LAST.sub(r"\1 \4 \2\3", value))
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return find(value, dialect, earliest=EARLIEST)
    return _stamp(moment, timed=len(value) > 10)


def find(text: str, dialect: Dialect = ISO, *, earliest: int = EARLIEST_VISIBLE) -> Stamp | None:
    """Find the first date in a text, with the time of day that follows or precedes it."""
    text = calendars.in_common_era(text[:MAX_LENGTH], dialect.language)
    if "'" in text or "’" in text:
        text = _SHORT_YEAR.sub(" 20", text)
    if not _PART_OF_DATE.search(text) and (text.isascii() or not _PERSIAN_YEAR.search(text)):
        return None
    days = [
        (match.start(), match.end(), day)
        for pattern in (_NUMERIC, _DAY_FIRST, _MONTH_FIRST, _YEAR_FIRST, _SHORT)
        for match in pattern.finditer(text)
        if (day := _day(match, dialect)) and day.year >= earliest
    ]
    if not days:
        days = [
            (word.start, word.end, datetime.combine(word.day, time()))
            for word in calendars.days_in_words(text, dialect.language)
            if word.day.year >= earliest
        ]
    if not days:
        return None
    start, end, day = min(days, key=lambda each: each[0])
    around = (text[end : end + 40], text[start:end], text[max(0, start - 20) : start])
    return _with_clock(day, around, dialect.language)


def holds_other_day(line: str) -> bool:
    """Return whether a short line may hold a day without a year of our era in four figures."""
    return len(line) <= MAX_DATE_LINE and _OTHER_DAY.search(line) is not None


def from_url(url: str | None, *, maybe: bool = False) -> Stamp | None:
    """Read a day from an address, as in /2026/11/03/; a month alone is not enough.

    With `maybe`, read also what may be the number of an article or the day of an event, as in
    /03-11-2026/ or /view/AKR20261103001234.
    """
    if not url:
        return None
    address = url[:MAX_LENGTH].lower().rpartition("/http")[2]  # archives put theirs before
    for match in (_MAYBE_IN_PATH if maybe else _IN_PATH).finditer(address):
        day = _day(match, ISO)
        if day and day.year >= EARLIEST_VISIBLE:
            return Stamp(day, timed=False)
    return None


def resolve(stamp: Stamp | None, zone: tzinfo | None, now: datetime) -> datetime | None:
    """Make an aware moment that isn't in the future, or None.

    A moment without zone gets `zone` (what other dates of the page show), else UTC. One that
    would then lie up to 14 hours ahead was written east of Greenwich: it gets the nearest
    whole-hour zone that is not ahead.
    """
    if stamp is None:
        return None
    moment = stamp.moment
    if moment.tzinfo is None:
        try:
            moment = moment.replace(tzinfo=zone or UTC)
            ahead = moment - now
        except OverflowError:
            return None
        if timedelta(0) < ahead <= timedelta(hours=14) and not zone:
            moment = moment.replace(
                tzinfo=timezone(timedelta(hours=-(-ahead // timedelta(hours=1))))
            )
    return moment if moment <= now else None


def _stamp(moment: datetime, *, timed: bool) -> Stamp | None:
    # 1 January 1970 is the zero of clocks, not a day on which the page appeared.
    if moment.year < EARLIEST or (moment.year, moment.month, moment.day) == (1970, 1, 1):
        return None
    return Stamp(moment, timed)


def _day(match: re.Match[str], dialect: Dialect) -> datetime | None:
    groups = {key.rstrip("23456789"): value for key, value in match.groupdict().items() if value}
    year = int(groups["y"])
    if year < 100:
        year += 2000
    if "a" in groups:
        day, month = int(groups["a"]), int(groups["b"])
        if month > 12 or (dialect.month_first and "." not in match[0] and day <= 12):
            day, month = month, day
    else:
        day = int(groups["d"])
        month_number = _month(groups["m"], dialect.language)
        if month_number is None:
            return None
        month = month_number
    try:
        return datetime(year, month, day)  # noqa: DTZ001 - the zone is added later
    except ValueError:
        return None


def _month(word: str, language: str | None) -> int | None:
    if word.isdigit():
        return int(word)
    name = word.lower()
    special = _MONTHS_BY_LANGUAGE.get(language[:2] if language else "", {})
    return special.get(name) or _MONTHS.get(name)


def _with_clock(day: datetime, texts: Iterable[str], language: str | None) -> Stamp:
    """Return a day with the first time of day that these texts around it give."""
    for around in texts:
        text = around
        if words := _OTHER_CLOCK.search(text):
            minutes = "30" if words[3] else (words[2] or words[5] or "0").zfill(2)
            hours = words[1] or words[4] or words[6]
            text = f"{text[: words.start()]}{hours}:{minutes} {text[words.end() :]}"
        if clock := _CLOCK.search(text):
            hour, minute = int(clock["h"]), int(clock["min"])
            if clock["half"]:
                hour = hour % 12 + (12 if clock["half"][0] in "pP" else 0)
            else:
                after = text[clock.end("s") if clock["s"] else clock.end("min") :]
                hour = calendars.hour_of(hour, text[: clock.start()], after, language)
            if hour > 23:
                break
            moment = day.replace(hour=hour, minute=minute, second=int(clock["s"] or 0))
            return Stamp(moment.replace(tzinfo=_zone(clock["zone"])), timed=True)
    return Stamp(day, timed=False)


def _zone(zone: str | None) -> tzinfo | None:
    if not zone:
        return None
    if offset := _OFFSET.search(zone):
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        if minutes > 14 * 60:
            return None
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    hours = _ZONE_HOURS.get(zone.lower())
    return None if hours is None else timezone(timedelta(hours=hours))
