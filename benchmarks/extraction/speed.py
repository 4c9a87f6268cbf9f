"""Measure CPU time a page against the bare lxml parse of the same page in the same process.

Rounds go over all tools in turn, so that a busy minute of the machine affects all alike;
a tool's figure is the median of its rounds.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.extraction.answers import Answer, Runner
from newscrawl.training.corpus import Corpus, GoldPage

PAGES = 80
WARM_UP = 5  # the first pages include filling caches and compiling patterns
ROUNDS = 3


@dataclass(frozen=True)
class Speed:
    """`milliseconds` of CPU a page, `parse` those of the bare parse, `ratio` the first by the
    second, all medians over rounds; `pages_per_second` on one core."""

    milliseconds: float
    parse: float
    ratio: float
    pages_per_second: float
    pages: int
    rounds: int


def load() -> str:
    """Return how many processes wanted a core in the last minute, where the system says so."""
    return f"{os.getloadavg()[0]:.0f}" if hasattr(os, "getloadavg") else "unknown"


def sample(corpus: Corpus, count: int = PAGES) -> tuple[GoldPage, ...]:
    """Return pages at even steps through the corpus, so that every set has its share."""
    step = max(len(corpus) / count, 1.0)
    picked = (int(i * step) for i in range(min(count, len(corpus))))
    return tuple(corpus.pages[i] for i in picked)


def measure(
    runners: Sequence[Runner],
    pages: Sequence[GoldPage],
    *,
    rounds: int = ROUNDS,
    on_round: Callable[[], None] = lambda: None,
) -> dict[str, Speed]:
    """Return the speed of every tool over the pages, one process at a time."""
    seconds: dict[str, list[tuple[float, float]]] = {runner.peer.name: [] for runner in runners}
    for _ in range(rounds):
        for runner in runners:
            ordered = [*pages[:WARM_UP], *pages]
            answers = list(runner.answers(ordered, with_metadata=False))[WARM_UP:]
            if timed := _round_of(answers):
                seconds[runner.peer.name].append(timed)
            on_round()
    return {name: _mean_speed(times, len(pages)) for name, times in seconds.items() if times}


def _round_of(answers: Sequence[Answer]) -> tuple[float, float] | None:
    """Return the mean seconds of tool and of parse over the pages that were answered in time."""
    timed = [answer for answer in answers if "seconds" in answer]
    if not timed:
        return None
    return (
        sum(answer["seconds"] for answer in timed) / len(timed),
        sum(answer["parse_seconds"] for answer in timed) / len(timed),
    )


def _mean_speed(times: Sequence[tuple[float, float]], pages: int) -> Speed:
    seconds = median(tool for tool, _ in times)
    return Speed(
        milliseconds=1000 * seconds,
        parse=1000 * median(parse for _, parse in times),
        ratio=median(tool / parse for tool, parse in times),
        pages_per_second=1 / seconds,
        pages=pages,
        rounds=len(times),
    )
