"""One helper process for the commands of a file's tests, whose sites mind no haste."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from newscrawl import settings
from newscrawl.sources import discovery, visits
from newscrawl.sources.visits import Fetcher


@pytest.fixture(scope="module")
def helper() -> Iterator[Fetcher]:
    """A fetcher without pauses for hosts on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "NEWSCRAWL_RETRY_PAUSE", "0.1")
        with Fetcher(allow_private=True, pause=0.0) as fetcher:
            yield fetcher


@pytest.fixture
def shared_helper(helper: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands visit sites through one helper, which knows each robots.txt from then on, and
    read their pages in this process; test_workers.py reads one in a process with limits."""
    monkeypatch.setattr(visits, "Fetcher", lambda **_: nullcontext(helper))
    monkeypatch.setattr(discovery, "parse_in_process", lambda read, *page: read(*page))


@pytest.fixture
def own_helper(shared_helper: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each command start a helper, as for a user."""
    monkeypatch.setattr(visits, "Fetcher", Fetcher)
    monkeypatch.setattr(settings, "DOWNLOAD_DELAY", 0.0)
