"""The headline among a page's titles."""

import pytest

from newscrawl.extraction.metadata import titles
from newscrawl.extraction.metadata.titles import Candidate

SITE = ("The Daily Pier", "pier.example", "pier")
HEADLINE = "Harbour reopens after the storm"


@pytest.mark.parametrize(
    "title",
    [
        HEADLINE,
        f"{HEADLINE} | The Daily Pier",
        f"{HEADLINE} - The Daily Pier",
        f"{HEADLINE} – Business – The Daily Pier",
        f"{HEADLINE} | Pier",
        f"{HEADLINE} - pier.example",
        f"The Daily Pier: {HEADLINE} - The Daily Pier",
        f"The Daily Pier » {HEADLINE}",
        f"{HEADLINE}_The Daily Pier",
        f"{HEADLINE} | Business | By Jane Doe",
    ],
)
def test_site_name_is_removed_from_the_title(title: str) -> None:
    assert titles.choose([Candidate(title, "element")], SITE) == HEADLINE


@pytest.mark.parametrize(
    "title",
    [
        "Rise - and fall - of a harbour",
        "Harbour 2 - 1 Lake",
        "Who pays? | What the new tax on harbours means",
        "On the pier",
        "Storm hits the coast - Police close pier to all visitors",
    ],
)
def test_dashes_of_the_headline_are_kept(title: str) -> None:
    assert titles.choose([Candidate(title, "element")], SITE) == title


def test_title_with_most_agreement_is_chosen() -> None:
    candidates = [
        Candidate("Storm harbour reopening news today", "data"),
        Candidate(HEADLINE, "heading"),
        Candidate(HEADLINE, "meta"),
        Candidate(f"{HEADLINE} - The Daily Pier", "element"),
    ]
    assert titles.choose(candidates, SITE) == HEADLINE


def test_heading_with_the_site_name_is_not_the_headline() -> None:
    candidates = [
        Candidate("The Daily Pier", "heading"),
        Candidate(f"The Daily Pier: {HEADLINE}", "element"),
        Candidate(HEADLINE, "meta"),
    ]
    assert titles.choose(candidates, SITE) == HEADLINE


def test_text_after_another_candidate_is_removed() -> None:
    candidates = [
        Candidate(HEADLINE, "heading"),
        Candidate(f"{HEADLINE} - Sea trade and more - by Jane Doe", "meta"),
        Candidate(f"{HEADLINE} - Sea trade and more - by Jane Doe", "element"),
    ]
    assert titles.choose(candidates, SITE) == HEADLINE


def test_no_candidate_gives_no_title() -> None:
    assert titles.choose([], SITE) is None
    assert titles.choose([Candidate("…", "heading")], SITE) is None
