"""Servers that do what they like: a crawl ends in order, and stores what is good."""

import os
from pathlib import Path

import pytest

from tests.fuzz import http
from tests.site.faults import Answer
from tests.site.server import SiteServer

# NEWSCRAWL_FUZZ=200 for a long run; some five seconds each.
FUZZ = int(os.environ.get("NEWSCRAWL_FUZZ") or 6)


@pytest.mark.parametrize("number", range(FUZZ))
def test_crawl_survives_hostile_responses(number: int) -> None:
    assert http.example(f"0/{number}") == []


def test_fuzzer_reports_missing_articles() -> None:
    def unfurnished(site: SiteServer, _private: str, _chance: object) -> list[str]:
        site.routes["/robots.txt"] = lambda _: Answer(status=404)
        return ["nothing is there"]

    wrong = http.example("0", unfurnished)
    assert wrong[:2] == ["only [] are stored", "nothing is there"]


def test_fuzzer_reports_tracebacks_exit_codes_and_private_requests(tmp_path: Path) -> None:
    assert http.stored(tmp_path / "none.sqlite") == set()
    log = "Traceback (most recent call last):"
    assert http.find_failures(70, log, 2) == [
        "exit code 70",
        "an error in the log",
        "2 requests of a private address",
    ]
