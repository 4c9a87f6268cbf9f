"""What an operator's watch goes through in a week, step by step."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from newscrawl.storage.models import Lease, Source
from tests.traffic import Traffic
from tests.week.clock import Clock
from tests.week.papers import DAY, HOUR, Event, Paper, Season
from tests.week.truth import Verdict, judge
from tests.week.watch import Watch
from tests.week.world import World, papers, serve

# Seconds for what happens within a crawl; only a test that hangs takes as long.
_PATIENCE = 120.0
# Pages are read by a thread of each crawl, because processes take a second to start.
_SETTINGS = {
    "NEWSCRAWL_LEASE": "15",
    "NEWSCRAWL_DIGEST": "daily 07:00 Europe/Berlin",
    "NEWSCRAWL_EXTRACTION_PROCESSES": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Quiet days, by which health is compared, then a `week`, which begins at a midnight in UTC.

    `step` is the time between two rounds in the week. `wrong` are the moments of rounds with a
    fast clock, and by how much; `stopped` is when a monitor is stopped in the midst of a crawl,
    `jumped` when the clock is set in the midst of one. `papers` are the slugs of some; empty for
    all.
    """

    week: datetime
    quiet_days: int = 8
    days: int = 7
    quiet_step: timedelta = DAY
    step: timedelta = 8 * HOUR
    wrong: tuple[tuple[datetime, timedelta], ...] = ()
    stopped: datetime | None = None
    jumped: datetime | None = None
    papers: frozenset[str] = frozenset()

    @property
    def start(self) -> datetime:
        return self.week - self.quiet_days * DAY

    @property
    def end(self) -> datetime:
        return self.week + self.days * DAY

    @property
    def season(self) -> Season:
        """Return the days of articles, which begin before the watch."""
        return Season(first=self.start - 3 * DAY, days=3 + self.quiet_days + self.days)

    @property
    def mishaps(self) -> tuple[Event, ...]:
        """Return what happens to the watch itself."""
        return tuple(
            Event(start=at, end=at + error + HOUR, alarms=frozenset({"stale", "not_crawled"}))
            for at, error in self.wrong
        )

    def rounds(self) -> Iterator[datetime]:
        """Yield the moments of the rounds."""
        moment = self.start + 6 * HOUR
        while moment <= self.end:
            yield moment
            moment += self.quiet_step if moment + self.quiet_step <= self.week else self.step


def live_through(plan: Plan, folder: Path, look: Callable[[Watch], None] | None = None) -> Verdict:
    """Go through the plan with all files in a folder, `look` at the end, and return what differs
    from the truth."""
    with Clock(folder) as clock:
        clock.set(plan.start)
        chosen = [
            paper
            for paper in papers(plan.week, lambda: clock.now)
            if not plan.papers or paper.keywords["slug"] in plan.papers
        ]
        settings = {**_SETTINGS, "NEWSCRAWL_COMPANIES": str(folder / "companies.toml")}
        with (
            serve(plan.season, chosen, folder) as world,
            Watch(folder, clock, world.sources, list(world.by_slug), settings) as watch,
        ):
            _live(plan, watch, world)
            watch.stop("a")
            verdict = judge(world, watch.database, list(plan.rounds()), plan.mishaps)
            late = Traffic.of({paper.slug: paper.visits for paper in world.papers}).overlaps()
            verdict.check(not late, f"{late} requests of a crawl after the next one had begun")
            if look:
                look(watch)
    return verdict


def _live(plan: Plan, watch: Watch, world: World) -> None:
    """Go through the plan, with one monitor, and a second one while the first is stopped."""
    watch.start("a")
    wrong = dict(plan.wrong)
    for moment in plan.rounds():
        began, visits = time.monotonic(), _visits(world)
        due = [at for at in wrong if at <= moment]
        for at in sorted(due):
            watch.step(at, wrong.pop(at))
        if plan.stopped and plan.stopped <= moment < plan.stopped + plan.step:
            stop_within_crawl(watch, world.papers[0], moment)
        elif plan.jumped and plan.jumped <= moment < plan.jumped + plan.step:
            jump_within_crawl(watch, world.papers[0], moment)
        else:
            watch.step(moment)
        if moment >= plan.end - DAY:
            _decide(watch, world)
        print(
            f"{moment:%a %d %b %H:%M}: {time.monotonic() - began:.0f} s, "
            f"{_visits(world) - visits} requests, {len(watch.sent)} notices",
            file=sys.stderr,
        )


def _decide(watch: Watch, world: World) -> None:
    """Discard what stands in place of articles, as an operator does after the notice."""
    for paper in world.papers:
        if any("quarantined" in event.alarms for event in paper.events):
            ran = watch.newscrawl("revisions", "discard", "--all", "--source", paper.slug)
            assert ran.returncode in {0, 1}, ran.stderr
    watch.inspect()


def _visits(world: World) -> int:
    return sum(len(paper.visits) for paper in world.papers)


@dataclass(slots=True)
class Gate:
    """Holds the requests of a paper's articles until it is opened."""

    arrived: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        self.arrived.set()
        self.opened.wait(_PATIENCE)


@contextmanager
def held(watch: Watch, paper: Paper, moment: datetime) -> Iterator[Gate]:
    """Set the clock, and hold the crawl of a paper at its first article until the block ends."""
    gate = Gate()
    paper.before_story = gate.wait
    watch.clock.set(moment)
    assert gate.arrived.wait(_PATIENCE), f"no article of {paper.slug} was requested"
    try:
        yield gate
    finally:
        paper.before_story = None
        gate.opened.set()


def stop_within_crawl(watch: Watch, paper: Paper, moment: datetime) -> None:
    """Stop a monitor in the midst of a crawl, until another one has taken over its source."""
    with held(watch, paper, moment) as gate:
        first = _holder(watch, paper)
        watch.suspend("a")
        watch.start("b")
        watch.wait_until(lambda: _holder(watch, paper) not in {None, first})
        paper.before_story = None
        gate.opened.set()
        watch.wait_until(watch.is_settled)
    watch.resume("a")
    watch.wait_until(watch.is_settled)
    watch.inspect("b")
    assert watch.stop("b") == 0
    watch.wait_until(watch.is_settled)
    watch.inspect("a")


def _holder(watch: Watch, paper: Paper) -> str | None:
    with watch.database.reading() as session:
        query = select(Lease.holder).join(Source).where(Source.slug == paper.slug)
        return session.scalar(query)


def jump_within_crawl(watch: Watch, paper: Paper, moment: datetime) -> None:
    """Set the clock forward by hours in the midst of a crawl, and back after it."""
    with held(watch, paper, moment):
        watch.clock.set(moment, 5 * HOUR)
    watch.wait_until(watch.is_settled)
    watch.step(moment + HOUR / 2)
