"""The common parts of our item pipelines, in this project and in others."""

from functools import cached_property
from pathlib import Path
from typing import Any, Final

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.settings import BaseSettings

from newscrawl import config
from newscrawl.config import SettingError, whole_number
from newscrawl.crawl.items import article_item, document_from
from newscrawl.extraction.methods import METHODS
from newscrawl.items import ArticleItem, Document, Outcome, Page
from newscrawl.mentions import Companies, load_companies
from newscrawl.reading import PageReader


class UnreadPage(DropItem):
    """A page without an article reached a pipeline that needs the article."""

    # The outcome for the queue: the page is retried.
    outcome: Final = "failed"

    def __init__(self, pipeline: object) -> None:
        super().__init__(
            f"{type(pipeline).__name__} needs an article: put "
            "pipelines.extraction.ExtractionPipeline before it in ITEM_PIPELINES"
        )


class DocumentPipeline:
    """Processes documents and items; other values are passed on unchanged.

    Our pipelines pass documents on to each other; the last of them passes an ArticleItem to other
    pipelines and to feed exports.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def document(self, item: Any) -> Document | None:
        """Return the document that an item is or describes; None for an item of other projects.

        Raise UnreadPage for a page without its article.
        """
        if isinstance(item, Page):
            raise UnreadPage(self)
        if isinstance(item, ArticleItem):
            return document_from(item)
        return item if isinstance(item, Document) else None

    def pass_on(
        self, document: Document, *, run: int | None = None, outcome: Outcome | None = None
    ) -> Document | ArticleItem:
        """Return the document, or its item after the last of our pipelines."""
        if self._is_followed:
            return document
        return article_item(document, run=run, outcome=outcome)

    @cached_property
    def _is_followed(self) -> bool:
        scraper: Any = self._crawler.engine.scraper
        ours = [one for one in scraper.itemproc.middlewares if isinstance(one, DocumentPipeline)]
        return ours[-1] is not self


def own_setting(settings: BaseSettings, name: str) -> Any:
    """Return one of our settings, or its default in a project that doesn't set it."""
    value = settings.get(name)
    return getattr(config, name) if value is None else value


def reader_of(settings: BaseSettings) -> PageReader:
    """Return the reader of pages; raise SettingError for an invalid setting."""
    method: str = own_setting(settings, "NEWSCRAWL_METHOD")
    if method not in METHODS:
        raise SettingError(f"NEWSCRAWL_METHOD={method}: use one of {', '.join(METHODS)}")
    name = "NEWSCRAWL_MIN_CHARACTERS"
    return PageReader(method=method, min_characters=whole_number(name, own_setting(settings, name)))


def companies_of(settings: BaseSettings) -> tuple[Path | None, Companies]:
    """Return the own companies file, if one is set, and all companies; SettingError for a
    NEWSCRAWL_COMPANIES that can't be used."""
    path: str = own_setting(settings, "NEWSCRAWL_COMPANIES")
    registry = Path(path) if path else None
    try:
        return registry, load_companies(registry)
    except (OSError, ValueError) as error:
        setting = "NEWSCRAWL_COMPANIES: " if path else ""
        raise SettingError(f"{setting}{error}") from error
