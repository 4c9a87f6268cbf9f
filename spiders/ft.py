"""The Financial Times: nearly all of it is behind a paywall, with headlines in its feeds."""

import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response

from newscrawl.items import Access, ArticleItem, Hints
from spiders.news import NewsSpider

_BARRIER_PATH = re.compile(r"/(?:barrier|products|signup|login)(?:/|$)")
_BARRIER_TITLE = re.compile(rb"<title[^>]*>\s*Subscribe to read\b", re.IGNORECASE)


class FtSpider(NewsSpider):
    """Reads the free articles of the FT, and headline and standfirst of the others."""

    name = "ft"

    def is_article_url(self, url: str) -> bool:
        """Return whether a URL is under /content/; videos, podcasts and sections are not."""
        parts = urlsplit(url)
        on_ft = (parts.hostname or "").endswith("ft.com")
        return not on_ft or parts.path.startswith("/content/")

    def access_of(self, response: Response) -> Access:
        """Return "paywalled" for a barrier page, which comes by redirect or with status 200."""
        if _BARRIER_PATH.match(urlsplit(response.url).path):
            return "paywalled"
        if _BARRIER_TITLE.search(response.body[:65536]):
            return "paywalled"
        return super().access_of(response)

    async def parse(
        self, response: Response, hints: Hints | None = None
    ) -> AsyncIterator[ArticleItem | Request]:
        """Yield the article of a page, or requests for those that a feed lists.

        @listing
        @returns requests 1
        @returns items 0 0
        """
        async for result in super().parse(response, hints):
            yield result

    async def parse_newest(self, response: Response) -> AsyncIterator[ArticleItem]:
        """Yield the newest article of a feed, or its hints if it is behind the paywall.

        @listing
        @returns items 1 1
        @filled canonical_url title text published language
        """
        async for item in super().parse_newest(response):
            yield item
