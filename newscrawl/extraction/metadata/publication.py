"""When a page was published and last changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

from newscrawl.extraction.metadata import dates, jsonld
from newscrawl.extraction.metadata.dates import Stamp
from newscrawl.extraction.metadata.evidence import Evidence
from newscrawl.extraction.metadata.vocabulary import words

_A_ZONE_AWAY: Final = timedelta(days=1)
_KEYS: Final = ("datePublished", "dateCreated", "uploadDate")
_PUBLISHED: Final = words("metas", "published")
_MODIFIED: Final = words("metas", "modified")


@dataclass(frozen=True, slots=True)
class Dates:
    """Publication and last change, aware, and whether a field gives a date of publication."""

    published: datetime | None
    modified: datetime | None
    are_stated: bool


def read(evidence: Evidence, now: datetime) -> Dates:
    """A page's dates, none after `now`."""
    stated, changed = list(_stated(evidence)), list(_changed(evidence))
    zone = next((stamp.zone for stamp in (*stated, *changed) if stamp.zone), None)
    published = _first_settled(_doubted(stated, changed, evidence), zone, now)
    if published is None:
        published = _first_settled(list(_shown(evidence)), zone, now)
    modified = _first_settled(changed, zone, now)
    if published is None:
        published = modified or _first_settled(list(_anywhere(evidence)), zone, now)
    if modified is not None and published is not None and modified < published:
        modified = None
    return Dates(published, modified, bool(stated))


def _stated(evidence: Evidence) -> Iterator[Stamp]:
    """Dates of publication that fields give, the most trusted first."""
    article, signals = evidence.article, evidence.signals
    values = [jsonld.text_of(article.get(key)) for key in _KEYS]
    values.extend(signals.firsts(_PUBLISHED))
    pages = signals.data.of_types(jsonld.PAGE_TYPES, jsonld.WORK_TYPES)
    values.extend(jsonld.text_of(page.get("datePublished")) for page in pages)
    return (stamp for value in values if (stamp := dates.read(value)))


def _changed(evidence: Evidence) -> Iterator[Stamp]:
    values = [jsonld.text_of(evidence.article.get("dateModified"))]
    values.extend(evidence.signals.firsts(_MODIFIED))
    return (stamp for value in values if (stamp := dates.read(value)))


def _doubted(stated: list[Stamp], changed: list[Stamp], evidence: Evidence) -> list[Stamp]:
    """Put an earlier day that the address or the page shows before what fields give.

    The address keeps the day on which it was made, while systems that move or rebuild a page
    date it anew. The page's own date line is asked where the fields give no publication before
    the last change: site builders fill both with the day of the last building.
    """
    if not stated:
        return stated
    in_path = dates.from_url(evidence.url)
    if in_path and stated[0].day - in_path.day > _A_ZONE_AWAY:
        return [in_path, *stated]
    if not changed or _is_before(stated[0], changed[0]):
        return stated
    shown = evidence.around.best_date()
    return [shown, *stated] if shown and shown.day < stated[0].day else stated


def _is_before(published: Stamp, changed: Stamp) -> bool:
    if published.timed and changed.timed and published.zone and changed.zone:
        return published.moment <= changed.moment
    return published.timed or published.day < changed.day


def _shown(evidence: Evidence) -> Iterator[Stamp]:
    for stamp in (dates.from_url(evidence.url), evidence.around.best_date()):
        if stamp:
            yield stamp
    if not evidence.around.published and (stamp := evidence.anywhere.best_date()):
        yield stamp


def _anywhere(evidence: Evidence) -> Iterator[Stamp]:
    yield from evidence.around.modified
    yield from evidence.anywhere.modified
    if stamp := evidence.labelled_date():
        yield stamp


def _first_settled(stamps: Sequence[Stamp], zone: tzinfo | None, now: datetime) -> datetime | None:
    """The first date that isn't in the future; of the same day the one with a time."""
    for stamp in stamps:
        if not (moment := dates.settle(stamp, zone, now)):
            continue
        if not stamp.timed:
            for other in stamps:
                if other.timed and other.day == stamp.day:
                    return dates.settle(other, zone, now) or moment
        return moment
    return None
