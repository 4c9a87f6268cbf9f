"""Alerts: people are told of an incident once, and once more when it is over."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from newscrawl.monitoring.notify import Channel, LogChannel, Notice, send
from newscrawl.storage import Database
from newscrawl.storage.incidents import Incident, claim_unreported, release_unreported

# More incidents of one kind than this at once are told in one notice.
_TOGETHER = 5
_NAMED = 30
# How each kind is told, and its end.
_WORDS: Mapping[str, tuple[str, str]] = {
    "unreachable": ("can't be crawled", "can be crawled again"),
    "feed_failed": ("has lost a feed or sitemap", "has all its feeds and sitemaps again"),
    "blocked": ("refuses us", "refuses us no longer"),
    "stale": ("has nothing new", "has new articles again"),
    "missing": ("has too few articles", "has as many articles as usual again"),
    "not_crawled": ("was not crawled", "is crawled again"),
    "layout_changed": ("has changed its pages", "gives articles as usual again"),
    "drift": ("gives other articles than usual", "gives articles as usual again"),
    "quarantined": ("has other pages in place of articles", "has its articles again"),
    "behind": ("falls behind", "has caught up"),
}


def tell(database: Database, channels: Sequence[Channel]) -> int:
    """Tells what nobody was told of; gives the number of notices.

    What no channel but the log could pass on is told again at the next inspection.
    """
    opened, recovered = claim_unreported(database)
    notices = 0
    for incidents, over in ((opened, False), (recovered, True)):
        for group in _groups(incidents):
            notices += 1
            if not _sent(_notice(group, over=over), channels):
                release_unreported(database, group, recoveries=over)
    return notices


def _sent(notice: Notice, channels: Sequence[Channel]) -> bool:
    failed = send(notice, channels)
    far = [channel for channel in channels if not isinstance(channel, LogChannel)]
    return not far or len(failed) < len(far)


def _groups(incidents: Iterable[Incident]) -> list[list[Incident]]:
    """Incidents that are told together: each by itself, or many of a kind at once."""
    ordered = sorted(incidents, key=lambda one: (one.kind, one.id))
    groups: list[list[Incident]] = []
    for _, alike in groupby(ordered, key=lambda one: one.kind):
        together = list(alike)
        many = len(together) > _TOGETHER
        groups += [together] if many else [[one] for one in together]
    return groups


def _notice(group: Sequence[Incident], *, over: bool) -> Notice:
    first = group[0]
    words = _WORDS.get(first.kind, (first.kind.replace("_", " "), "is well again"))[over]
    facts = {"kind": first.kind, "incidents": [_facts(one) for one in group]}
    if len(group) > 1:
        named = [f"{one.source or 'the watch'}: {one.note}" for one in group[:_NAMED]]
        rest = len(group) - len(named)
        return Notice(
            subject=f"{len(group)} sources: {words}",
            text="\n".join([*named, *([f"and {rest} more"] if rest else [])]),
            event="recovered" if over else "opened",
            cause=f"many/{first.kind}",
            facts=facts,
        )
    return Notice(
        subject=f"{first.source or 'The watch'} {words}",
        text=_text(first, over=over),
        event="recovered" if over else "opened",
        cause=first.cause,
        facts=facts,
    )


def _text(incident: Incident, *, over: bool) -> str:
    if over and incident.recovered_at and incident.opened_at:
        lasted = incident.recovered_at - incident.opened_at
        hours = lasted.total_seconds() / 3600
        return f"It was so for {hours:.1f} hours. What it was: {incident.note}"
    see = f"newscrawl status --source {incident.source}" if incident.source else "newscrawl status"
    return f"{incident.note}.\nSeen first at {incident.opened_at:%Y-%m-%d %H:%M} UTC. See: {see}"


def _facts(incident: Incident) -> dict[str, object]:
    return {
        "source": incident.source,
        "cause": incident.cause,
        "note": incident.note,
        "opened_at": incident.opened_at,
        "recovered_at": incident.recovered_at,
        **incident.facts,
    }
