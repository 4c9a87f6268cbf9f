"""The papers of a simulated week, and what happens to each."""

import csv
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from newscrawl.sources.registry import COLUMNS
from tests.week.papers import (
    COMPANIES,
    HOUR,
    Disallowed,
    Event,
    Lost,
    Moved,
    Outage,
    Paper,
    Paywall,
    Redesign,
    Refused,
    Relaunch,
    Season,
    Shells,
    Strike,
)

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
DOWN = frozenset({"unreachable", "missing", "stale"})
REFUSED = frozenset({"blocked", "drift", "layout_changed"})


def papers(week: datetime, clock: Callable[[], datetime]) -> Iterator[partial[Paper]]:
    """Yield what makes each of twenty papers; `week` is the midnight in UTC at which things begin
    to happen."""

    def paper(slug: str, *events: Event, **rest: Any) -> partial[Paper]:
        return partial(Paper, slug=slug, clock=clock, events=events, poll=1.0, **rest)

    def during(kind: type[Event], since: float, hours: float, **rest: Any) -> Event:
        start = week + since * HOUR
        return kind(start=start, end=start + hours * HOUR, **rest)

    # A feed that begins anew may lack what was published right before.
    anew = frozenset({"incomplete"})
    feed = frozenset({"feed_failed"})
    both = {"listings": ("feeds", "sitemaps")}
    yield paper("quiet-courier", daily=10)
    yield paper("berlin-bote", country="de", language="de", zone=BERLIN, daily=12)
    yield paper("hudson-ledger", country="us", zone=NEW_YORK, listings=("feeds", "news_sitemaps"))
    yield paper("short-outage", during(Outage, 29, 5, alarms=DOWN), feed_size=15)
    yield paper(
        "day-outage",
        during(Outage, 30, 26, alarms=DOWN, must="unreachable"),
        daily=9,
        feed_size=12,
        zone=BERLIN,
        **both,
    )
    yield paper(
        "reset-outage",
        during(Outage, 33, 24, status=0, alarms=DOWN, must="unreachable"),
        daily=10,
        feed_size=12,
        listings=("feeds", "news_sitemaps"),
    )
    yield paper(
        "long-outage",
        during(Outage, 26, 76, alarms=DOWN | {"incomplete"}, must="unreachable"),
        daily=9,
        feed_size=12,
    )
    yield paper(
        "full-feed", during(Outage, 50, 24, alarms=DOWN, must="unreachable"), feed_size=50, daily=14
    )
    yield paper("new-design", during(Redesign, 52, 1000, alarms=frozenset({"layout_changed"})))
    yield paper("welcome-301", during(Relaunch, 58, 1000, redirects=True, alarms=anew))
    yield paper("welcome-200", during(Relaunch, 60, 1000, redirects=False, alarms=anew))
    yield paper("moved-news", during(Moved, 56, 1000), country="fr", language="fr")
    yield paper("paywalled", during(Paywall, 31, 40, alarms=REFUSED))
    yield paper("payment", during(Refused, 34, 40, status=402, alarms=REFUSED))
    yield paper("robots", during(Disallowed, 35, 30, alarms=REFUSED | DOWN, must="blocked"))
    yield paper("forbidden", during(Refused, 37, 28, status=403, alarms=REFUSED | DOWN))
    # None of its pages shows its article: it is not covered until one does.
    yield paper("shells", during(Shells, 40, 24, alarms=REFUSED | {"quarantined", "unreachable"}))
    yield paper(
        "lost-feed",
        during(Lost, 32, 44, paths=("/feed.xml",), alarms=feed, must="feed_failed"),
        listings=("feeds", "news_sitemaps"),
        country="es",
        language="es",
    )
    yield paper(
        "unsteady",
        during(Lost, 36, 9, paths=("/robots.txt",), status=503),
        overloaded=5,
        country="it",
        language="it",
    )
    yield paper(
        "strike", during(Strike, 24, 72, alarms={"stale", "missing"}), listings=("sitemaps",)
    )


@dataclass(frozen=True, slots=True)
class World:
    """Papers with their servers, and the files that a watch of them needs."""

    papers: tuple[Paper, ...]
    sources: Path
    companies: Path

    @property
    def by_slug(self) -> dict[str, Paper]:
        return {paper.slug: paper for paper in self.papers}


@contextmanager
def serve(season: Season, chosen: Iterable[partial[Paper]], folder: Path) -> Iterator[World]:
    """Serve the papers, with their articles of a season."""
    with ExitStack() as stack:
        served = tuple(stack.enter_context(make()) for make in chosen)
        for paper in served:
            paper.publish(season.stories(paper))
        sources = folder / "sources.csv"
        with sources.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, restval="")
            writer.writeheader()
            writer.writerows(paper.row() for paper in served)
        companies = folder / "companies.toml"
        entries = "".join(f'[[company]]\nname = "{name}"\n' for name in COMPANIES)
        companies.write_text(f"bundled = false\n{entries}", encoding="utf-8")
        yield World(served, sources, companies)
