"""What tests cost: `pytest --costs 20` prints the processor seconds of folders and of the dearest
tests.

They are those of a test's process and of the processes that it started and that have ended: unlike
the time by the clock, they hardly depend on what else the machine does. What is read before the
first test, and servers and browsers that tests share, are the line `imports and shared processes`.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest


class Costs:
    """Adds up the processor seconds of tests, from all processes of pytest-xdist."""

    def __init__(self, shown: int) -> None:
        self._shown = shown
        self._start = _processor_seconds()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test and its fixtures."""
        start = _processor_seconds()
        result = yield
        self._seconds[item.nodeid] += _processor_seconds() - start
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the seconds of a process of pytest-xdist to the one that prints them."""
        if hasattr(session.config, "workeroutput"):
            rest = _processor_seconds() - self._start - sum(self._seconds.values())
            self._seconds["imports and shared processes"] = rest
            session.config.workeroutput["costs"] = dict(self._seconds)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the seconds of a process of pytest-xdist that has ended."""
        for test, seconds in getattr(node, "workeroutput", {}).get("costs", {}).items():
            self._seconds[test] += seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the folders, the dearest first, then the dearest tests."""
        folders: defaultdict[str, float] = defaultdict(float)
        for test, seconds in self._seconds.items():
            folders[test.partition("::")[0].rpartition("/")[0] or test] += seconds
        terminalreporter.section(f"processor seconds: {sum(folders.values()):.0f} in all")
        for costs, shown in ((folders, len(folders)), (self._seconds, self._shown)):
            dearest = sorted(costs.items(), key=lambda cost: cost[1], reverse=True)
            for name, seconds in dearest[:shown]:
                terminalreporter.write_line(f"{seconds:8.1f}  {name}")


def _processor_seconds() -> float:
    """Return the seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--costs`."""
    parser.addoption(
        "--costs", type=int, metavar="N", help="processor seconds of folders and of N tests"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Measure if the option is given."""
    shown = config.getoption("costs")
    if shown is not None:
        config.pluginmanager.register(Costs(shown))
