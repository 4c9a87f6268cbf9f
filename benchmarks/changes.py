"""Measure how often a report names a change by chance, and a real one: `python -m
benchmarks.changes`.

Days are drawn from negative binomial distributions: `scatter` 0 is pure chance, at 0.5 twice the
usual number of a day is common.
"""

import random
from math import exp, lgamma, log

from newscrawl.storage.queries.comparisons import Day, compare

DAYS, PAIRS = 30, 2000
MEANS, SCATTERS, TIMES = (0.3, 3.0, 30.0), (0.0, 0.1, 0.5), (1.5, 2.0, 3.0)
READ = 100  # articles read on each day


def draw_days(rng: random.Random, mean: float, scatter: float) -> list[Day]:
    """Return the days of a company with this average of articles a day."""
    days = []
    for _ in range(DAYS):
        rate = rng.gammavariate(1 / scatter, mean * scatter) if scatter else mean
        articles, limit, chance = 0, rng.random(), _poisson(0, rate)
        while chance < limit and articles < 10 * mean + 100:
            articles += 1
            chance += _poisson(articles, rate)
        days.append(Day(articles, READ))
    return days


def share_named(rng: random.Random, mean: float, scatter: float, times: float, pairs: int) -> float:
    """Return the share of pairs of periods with a named change; with `times` above 1, with a
    rise."""
    verdicts = {"more"} if times > 1 else {"more", "fewer"}
    changes = (
        compare(draw_days(rng, times * mean, scatter), draw_days(rng, mean, scatter))
        for _ in range(pairs)
    )
    return sum(change.verdict in verdicts for change in changes) / pairs


def _poisson(number: int, rate: float) -> float:
    return exp(number * log(rate) - rate - lgamma(number + 1)) if rate > 0 else float(number == 0)


def main() -> None:
    """Print the table of docs/reports.md."""
    print("| articles a day | scatter | false alarms | 1.5 times found | 2 times | 3 times |")
    print("|--:|--:|--:|--:|--:|--:|")
    for mean in MEANS:
        for scatter in SCATTERS:
            rng = random.Random(1)  # noqa: S311 - no secret
            false = share_named(rng, mean, scatter, 1.0, PAIRS)
            found = [share_named(rng, mean, scatter, times, PAIRS // 4) for times in TIMES]
            shares = " | ".join(f"{share:.0%}" for share in found)
            print(f"| {mean:g} | {scatter:g} | {false:.1%} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
