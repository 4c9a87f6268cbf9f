"""Bugs of others that we report: each script shows what its page says."""

import importlib.metadata
import subprocess
import sys

import pytest

from tests.site.crawling import PROJECT

RACE = PROJECT / "docs" / "upstream" / "robots_race.py"


def shown(*options: str) -> str:
    command = [sys.executable, str(RACE), *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return ran.stdout


def test_fixed_scrapy_holds_all_requests_until_robots_txt():
    assert "asked for: /robots.txt\nForbidden pages fetched: 0\n" in shown("--fixed")


@pytest.mark.thorough
@pytest.mark.skipif(
    importlib.metadata.version("scrapy") != "2.19.0", reason="the page is about Scrapy 2.19.0"
)
def test_unfixed_scrapy_fetches_forbidden_pages():
    assert "Forbidden pages fetched: 0" not in shown()
