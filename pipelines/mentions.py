"""The companies that an article itself names."""

from pathlib import Path
from typing import Self

from scrapy.crawler import Crawler

from newscrawl.items import Document
from newscrawl.mentions import Companies, load_companies, with_mentions
from newscrawl.settings import SettingError


class MentionsPipeline:
    """Document → the same with its mentions. The registry is read once, at the start."""

    def __init__(self, companies: Companies) -> None:
        self._companies = companies

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the companies; SettingError for a NEWSCRAWL_COMPANIES that can't be used."""
        path: str = crawler.settings["NEWSCRAWL_COMPANIES"]
        try:
            return cls(load_companies(Path(path) if path else None))
        except (OSError, ValueError) as error:
            setting = "NEWSCRAWL_COMPANIES: " if path else ""
            raise SettingError(f"{setting}{error}") from error

    def process_item(self, document: Document) -> Document:
        """Find the companies in headline and text, and those on the rest of the page."""
        return with_mentions(document, self._companies)
