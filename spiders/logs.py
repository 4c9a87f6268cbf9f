"""Log lines that name a page instead of printing it."""

from typing import Any

from scrapy import Spider
from scrapy.http import Response
from scrapy.logformatter import LogFormatter, LogFormatterResult
from twisted.python.failure import Failure

from newscrawl.items import ArticleItem, Document, Page


class ShortLogFormatter(LogFormatter):
    """Scrapy's messages about items, with the item's URL in place of its bytes."""

    def scraped(
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        """Log an item that went all the way."""
        return super().scraped(_name(item), response, spider)

    def dropped(
        self,
        item: Any,
        exception: BaseException,
        response: Response | Failure | None,
        spider: Spider,
    ) -> LogFormatterResult:
        """Log an item that was dropped, with its reason, on one line."""
        logged = super().dropped(_name(item), exception, response, spider)
        reason = {"reason": type(exception).__name__, "exception": exception, "item": _name(item)}
        return {**logged, "msg": "Dropped (%(reason)s) %(item)s: %(exception)s", "args": reason}

    def item_error(
        self,
        item: Any,
        exception: BaseException,
        response: Response | Failure | None,
        spider: Spider,
    ) -> LogFormatterResult:
        """Log an item on which a pipeline failed."""
        return super().item_error(_name(item), exception, response, spider)


def _name(item: Any) -> str:
    if isinstance(item, Document):
        return item.page.url
    return item.url if isinstance(item, (Page, ArticleItem)) else type(item).__name__
