"""What is told of a crawl, from its log."""

import pytest

from newscrawl.monitoring.crawling import words_of

AT = "2026-11-22 13:55:47"
START = f"{AT} [scrapy.core.engine] INFO: Spider opened"
STOPS = f"{AT} [pipelines.storage] CRITICAL: The crawl stops: the disk is full"
AGAIN = f"{AT} [pipelines.storage] CRITICAL: The end of the run is not recorded: the disk is full"
SUMMARY = f"{AT} [pipelines.storage] INFO: ft: 4 found, 4 new; state ok"
WARNING = f"{AT} [ft] WARNING: Can't read https://ft.example/feed: no whole answer"
CLOSED = f"{AT} [scrapy.core.engine] INFO: Spider closed (finished)"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([START, WARNING, SUMMARY, CLOSED], "ft: 4 found, 4 new; state ok"),
        (
            [START, STOPS, AGAIN, SUMMARY, CLOSED],
            "The crawl stops: the disk is full; ft: 4 found, 4 new; state ok",
        ),
        ([START], ""),
        ([START, WARNING, START], "Can't read https://ft.example/feed: no whole answer"),
        (
            ["newscrawl: NEWSCRAWL_METHOD=magic: use one of", ""],
            "NEWSCRAWL_METHOD=magic: use one of",
        ),
        ([START, "Traceback (most recent call last):", "MemoryError"], "MemoryError"),
        ([], ""),
    ],
    ids=[
        "in order",
        "broken off",
        "killed",
        "killed after a fault",
        "refused",
        "crashed",
        "silent",
    ],
)
def test_the_words_are_those_that_tell_most(lines: list[str], words: str) -> None:
    assert words_of(lines) == words
