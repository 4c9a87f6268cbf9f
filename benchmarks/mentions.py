"""Measure how long the companies take to load, how much memory they need, and how fast matching is.

`python -m benchmarks.mentions`: the companies are loaded from their cache, with all that the first
text needs, in a process of its own.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from benchmarks.command_line import run
from newscrawl.cli.arguments import Format
from newscrawl.cli.output import Column, render
from newscrawl.mentions import Companies, load_companies

ROUNDS = 30
LOADS = 3
WORDS = 1000
NAMES = ("Siemens", "Google", "Boeing", "Toyota", "Unilever", "Airbus")
MENTIONS = 2 * len(NAMES)
FILLER = (
    "The ministry said on Wednesday that growth had slowed for a second quarter, and that the "
    "budget, which had been passed in spring, would have to be amended before the year is out. "
)
# Linux counts the parent's memory in `ru_maxrss`, but not in VmHWM.
LOADING = """
import time
from newscrawl.mentions import load_companies
imported = time.process_time()
load_companies().prepare()
used = time.process_time() - imported
status = open("/proc/self/status").read()
print(used, int(status.partition("VmHWM:")[2].split()[0]) / 1024)
"""
COLUMNS = (
    Column("measure"),
    Column("value", number=True),
    Column("unit"),
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """A figure with its unit."""

    measure: str
    value: float
    unit: str


def article() -> str:
    """Return a text of WORDS words, and MENTIONS sentences with a company each."""
    body = FILLER * (WORDS // len(FILLER.split()))
    return body + " ".join(f"{name} declined to comment." for name in NAMES * 2)


def best_of(function: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the processor seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        began = time.thread_time()
        function()
        times.append(time.thread_time() - began)
    return min(times)


def measure_matching(companies: Companies) -> list[Measurement]:
    """Measure matching in an article, beside splitting it into words."""
    text, words = article(), re.compile(r"\w+")
    matching = best_of(lambda: companies.find(text, language="en"))
    splitting = best_of(lambda: words.findall(text))
    return [
        Measurement("matching 1,000 words", round(matching * 1000, 3), "ms"),
        Measurement("matching by splitting into words", round(matching / splitting, 2), "ratio"),
    ]


def measure_loading(loads: int = LOADS) -> list[Measurement]:
    """Measure the load of the cached companies in new processes; Linux only."""
    timings = []
    for _ in range(loads):
        command = [sys.executable, "-c", LOADING]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        timings.append(tuple(map(float, done.stdout.split())))
    seconds, megabytes = (min(column) for column in zip(*timings, strict=True))
    return [
        Measurement("loading, processor time", round(seconds, 3), "s"),
        Measurement("memory with Python", round(megabytes, 1), "MB"),
    ]


def bench(output_format: Format = "table") -> None:
    """Measure the loading of the companies, and the matching of an article."""
    companies = load_companies()  # fills the cache
    forms = sum(1 + len(company.aliases) for company in companies)
    rows = [
        Measurement("companies", len(companies), ""),
        Measurement("names and aliases", forms, ""),
        *measure_loading(),
        *measure_matching(companies),
    ]
    render([asdict(row) for row in rows], COLUMNS, output_format)


if __name__ == "__main__":
    run(bench)
