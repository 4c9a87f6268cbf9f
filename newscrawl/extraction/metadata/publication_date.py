"""When a page was published and last changed.

The places that may give a date are functions. `STATED_IN` and the tuples below it list them, the
most trusted first: to change what is trusted, move a name. `publication_dates` asks them in turn;
rules that override the order are functions below them (docs/metadata.md lists them). Crawls use
the feed's date where the page has none (`newscrawl.reading.with_feed_hints`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Final

from newscrawl.extraction.metadata import dates, jsonld, markup
from newscrawl.extraction.metadata.dates import Dialect, Stamp
from newscrawl.extraction.metadata.meanings import rank_of
from newscrawl.extraction.metadata.page_signals import PageSignals
from newscrawl.extraction.metadata.places import Candidate, Evidence, Place, Rank, candidates_in
from newscrawl.extraction.metadata.vocabulary import any_of, tables

_Places = Sequence[Place[PageSignals, Stamp]]

_A_ZONE_AWAY: Final = timedelta(days=1)
_SAME_DAY: Final = range(8, 22)
"""Ours: hours in UTC that fall on the same day where most news is read."""
_QUARTER: Final = timedelta(minutes=15)
_WESTERNMOST, _EASTERNMOST = timedelta(hours=-12), timedelta(hours=14)
_GENERIC: Final = "date"
_DAY_FIRST: Final = re.compile(any_of(tables("properties")["day_first"]))


# --- Places --------------------------------------------------------------------------------------


def json_ld_of_article(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read the JSON-LD node of the page's article."""
    keys = ("datePublished", "dateCreated", "uploadDate")
    return (_date_in(signals, signals.article, key) for key in keys)


def metas(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read meta elements whose name says so; of equally sure ones the earliest day, since the
    others may be that of the last publication. "publicado_em" puts the day first."""
    english, other = signals.dialect, Dialect(signals.dialect.language)
    ranked = (
        (rank_of(name, "published"), stamp)
        for name in signals.metas_that_state("published")
        if (
            stamp := dates.read(
                signals.metas[name][0], other if _DAY_FIRST.search(name) else english
            )
        )
    )
    return (stamp for _, stamp in sorted(ranked, key=lambda pair: (pair[0], pair[1].day)))


def json_ld_of_page(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read the JSON-LD nodes of the page other than articles."""
    nodes = signals.data.of_types(jsonld.PAGE_TYPES, jsonld.WORK_TYPES)
    return (_date_in(signals, node, "datePublished") for node in nodes)


def objects_in_scripts(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read objects in scripts and metas, as for analytics (`dataLayer`, `parsely-page`)."""
    values = signals.stated_in_scripts("published")
    return (dates.read(value, signals.dialect) for value in values)


def modified_in_json_ld(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read the date of change in the JSON-LD node of the page's article."""
    return [_date_in(signals, signals.article, "dateModified")]


def modified_in_metas(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read dates of change in meta elements."""
    return (dates.read(value, signals.dialect) for value in signals.stated("modified"))


def address(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read the page's address, as in /2026/11/03/."""
    return [dates.from_url(signals.url)]


def number_in_address(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read what may be a day in the page's address, as in /view/AKR20261103001234."""
    return [dates.from_url(signals.url, maybe=True)]


def around_heading(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read a date line around the headline."""
    return [signals.surroundings.sightings.best_date()]


def marked_anywhere(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read an element marked as a date anywhere, unless one is around the headline."""
    return [] if signals.surroundings.sightings.published else [signals.anywhere.best_date()]


def shown_change(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read dates of change that the page shows."""
    return [*signals.surroundings.sightings.modified, *signals.anywhere.modified]


def text(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read a date that follows a word for publishing or changing, anywhere in the text."""
    is_labelled = markup.labelled_date(signals.text, signals.dialect)
    return [is_labelled and markup.labelled_date(signals.own_text, signals.dialect)]


def only_day(signals: PageSignals) -> Iterable[Stamp | None]:
    """Read the one day that short lines of the page name, if they name no other; those of lists,
    captions and quotations alone are none."""
    has_day = any(markup.days_in(signals.text, signals.dialect))
    if not has_day or markup.only_day(signals.own_text, signals.dialect) is None:
        return []
    text_alone = markup.without_lists(signals.tree, signals.own_text)
    return [markup.only_day(text_alone, signals.dialect)]


def _date_in(signals: PageSignals, node: jsonld.Node, key: str) -> Stamp | None:
    value = node.get(key)
    text = str(value) if type(value) is int else jsonld.text_of(value)
    return dates.read(text, signals.dialect)


# --- The order of trust --------------------------------------------------------------------------

# Fields that state the date of publication. If the first one gives only the day, a later place in
# this order that gives the same day with a time wins.
STATED_IN: Final[_Places] = (
    json_ld_of_article,
    metas,
    json_ld_of_page,
)
# Asked where these state none.
DATA_IN: Final[_Places] = (objects_in_scripts,)
# Asked where no field states one.
SHOWN_IN: Final[_Places] = (address, around_heading, marked_anywhere, number_in_address)
# Fields that state the last change, which is used where no other place gives the publication.
MODIFIED_IN: Final[_Places] = (modified_in_json_ld, modified_in_metas)
# Asked where none of these gives a date.
LAST_RESORTS: Final[_Places] = (shown_change, text, only_day)


# What is asked, place by place, where none is stated.
_RANKS: Final[tuple[tuple[Rank, _Places], ...]] = (
    ("shown", SHOWN_IN),
    ("change", MODIFIED_IN),
    *(("text", (place,)) for place in LAST_RESORTS),
)


@dataclass(frozen=True, slots=True)
class Dates:
    """Publication and last change, aware, and whether a field states a date of publication."""

    published: datetime | None
    modified: datetime | None
    are_stated: bool
    evidence: Evidence


def publication_dates(signals: PageSignals, now: datetime) -> Dates:
    """Return a page's dates, none of them after `now`."""
    statements = [*candidates_in(STATED_IN, signals)] or [*candidates_in(DATA_IN, signals)]
    declared = [candidate.value for candidate in statements]
    changed = _ask(MODIFIED_IN, signals)
    zone = next((stamp.zone for stamp in (*declared, *changed) if stamp.zone), None)
    modified = _first_past(changed, zone, now)
    shown = _ask(SHOWN_IN, signals) if declared and not declared[0].timed else []
    published = _first_past([*_shown_day(declared, changed, signals), *declared, *shown], zone, now)
    evidence = _evidence("stated", statements, published)
    for rank, places in _RANKS:
        if published is None:
            candidates = [*candidates_in(places, signals)]
            published = _first_past([each.value for each in candidates], zone, now)
            evidence = _evidence(rank, candidates, published)
    if published and declared and declared[0].timed and published.utcoffset() == timedelta(0):
        published = _in_zone_of_page(published, signals)
    if modified is not None and published is not None and modified < published:
        modified = None
    return Dates(published, modified, bool(declared), evidence)


def _evidence(
    rank: Rank, candidates: Sequence[Candidate[Stamp]], published: datetime | None
) -> Evidence:
    """Return the rank of a date and the first place that gives its day."""
    if published is None:
        return Evidence()
    day = published.date()
    return Evidence(rank, next((each.place for each in candidates if each.value.day == day), ""))


def _ask(places: _Places, signals: PageSignals) -> list[Stamp]:
    return [candidate.value for candidate in candidates_in(places, signals)]


def _shown_day(
    published: Sequence[Stamp], changed: Sequence[Stamp], signals: PageSignals
) -> list[Stamp]:
    """Return the day that the address or the page shows, where it overrides the stated one.

    The address keeps the day on which it was made, while systems that move or rebuild a page
    date it anew. The page's own date line is believed if it is earlier and what is stated may be
    the last building; and if it is later, but not the day of the change: the page was published
    again.
    """
    in_address = dates.from_url(signals.url)
    if not published or (in_address and in_address.day == published[0].day):
        return []
    if in_address and published[0].day - in_address.day > _A_ZONE_AWAY:
        return [in_address]
    is_changed = bool(changed) and _is_before(published[0], changed[0])
    is_same = bool(changed) and changed[0] == published[0]
    if is_changed and not is_same and changed[0].day == published[0].day:
        return []
    shown = signals.other_day_shown(published[0].day)
    if shown is None:
        return []
    if shown.day < published[0].day:
        is_built = is_same and published[0].day - shown.day > _A_ZONE_AWAY
        is_surer = changed and not is_changed
        is_finer = shown.timed and not published[0].timed
        # The meta "date" alone may be the day of the last building.
        names = signals.metas_that_state("published")
        is_generic = names == [_GENERIC] and not any(json_ld_of_article(signals))
        return [shown] if is_built or is_surer or is_finer or is_generic else []
    is_later = shown.day - published[0].day > _A_ZONE_AWAY
    is_change = any(shown.day == stamp.day for stamp in changed)
    # 3/4 may be read in the wrong order.
    is_swapped = (shown.day.month, shown.day.day) == (published[0].day.day, published[0].day.month)
    return [shown] if is_later and not is_change and not is_swapped else []


def _in_zone_of_page(published: datetime, signals: PageSignals) -> datetime:
    """Return the same moment in a zone in which it falls on the day that the page shows.

    Systems state 03:37 of the 4th in UTC where readers see 23:37 of the 3rd.
    """
    in_address = dates.from_url(signals.url)
    if in_address and in_address.day == published.date():
        return published
    is_same_day = published.hour in _SAME_DAY
    for stamp in (in_address, signals.other_day_shown(published.date())):
        if stamp is None or abs(stamp.day - published.date()) != _A_ZONE_AWAY:
            continue
        if stamp.timed and stamp.zone is None:
            offset = stamp.moment - published.replace(tzinfo=None)
            offset = _QUARTER * round(offset / _QUARTER)
        elif is_same_day:
            continue
        elif stamp.day < published.date():
            offset = timedelta(hours=-1 - published.hour)
        else:
            offset = timedelta(hours=24 - published.hour)
        if _WESTERNMOST <= offset <= _EASTERNMOST:
            return published.astimezone(timezone(offset))
    return published


def _is_before(published: Stamp, changed: Stamp) -> bool:
    if published.timed and changed.timed and published.zone and changed.zone:
        return published.moment <= changed.moment
    return published.timed or published.day < changed.day


def _first_past(stamps: Sequence[Stamp], zone: tzinfo | None, now: datetime) -> datetime | None:
    """Return the first date that isn't in the future; of the same day the one with a time."""
    for stamp in stamps:
        if not (moment := dates.resolve(stamp, zone, now)):
            continue
        if not stamp.timed:
            for later in stamps:
                if later.timed and later.day == stamp.day:
                    return dates.resolve(later, zone, now) or moment
        return moment
    return None
