"""Pages of our own writing, each with a trap, and what must hold of the article in it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from newscrawl import Article, extract

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What must hold of a page: phrases that its text must contain, and that it must not.

    `shortcomings` are phrases that don't belong to the article and are taken for it all the same.
    """

    url: str
    title: str | None
    language: str | None
    kind: str
    must: list[str]
    must_not: list[str]
    shortcomings: list[str]

    @classmethod
    def of(cls, page: Path) -> Self:
        """Read the JSON beside a page."""
        return cls(**json.loads(page.with_suffix(".json").read_text("utf-8")))


def pages() -> list[Path]:
    """All pages, in the order of their names."""
    return sorted(FOLDER.glob("*.html"))


def article_of(page: Path, url: str) -> Article:
    """Extract a page as a crawl would."""
    return extract(page.read_bytes(), url)
