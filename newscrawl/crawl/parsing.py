"""One page or listing by itself, as `scrapy parse` and contracts look at it: nothing is stored."""

import re
from dataclasses import dataclass
from typing import Final, Self

from scrapy.http import JsonResponse, Response, XmlResponse
from scrapy.settings import BaseSettings

from newscrawl.crawl.items import article_item
from newscrawl.crawl.pipelines import companies_of, reader_of
from newscrawl.items import ArticleItem, Page
from newscrawl.mentions import Companies, with_mentions
from newscrawl.reading import PageReader

# Ours: the root element of a listing stands behind a declaration and a comment or two.
_HEAD: Final = 2_048
_ROOT: Final = re.compile(rb"<(?:\w+:)?(?:rss|feed|RDF|urlset|sitemapindex)[\s>]")
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class PageParser:
    """Makes of a page the item that a crawl would make of it, but for what the source's pages have
    in common, which stands in the database."""

    reader: PageReader
    companies: Companies

    @classmethod
    def of(cls, settings: BaseSettings) -> Self:
        """Return the parser that the settings ask for; SettingError where they can't work."""
        _, companies = companies_of(settings)
        return cls(reader_of(settings), companies)

    def item(self, page: Page) -> ArticleItem:
        """Return the item; NoArticleError where there is none."""
        return article_item(with_mentions(self.reader.read(page), self.companies))


def is_listing(response: Response) -> bool:
    """Whether a response is a feed or a sitemap, by its type or else by its root element."""
    head = response.body[:_HEAD]
    if isinstance(response, (XmlResponse, JsonResponse)) or head.startswith(_GZIP):
        return True
    return bool(_ROOT.search(head)) and b"<html" not in head.lower()
