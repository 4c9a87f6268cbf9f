"""Convert responses to pages, documents to the items of feed exports, and items to documents; and
the base class of our pipelines, which does so between them."""

from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import Response
from w3lib.encoding import http_content_type_encoding

from newscrawl.items import (
    Access,
    Article,
    ArticleItem,
    Document,
    Mention,
    MentionItem,
    Outcome,
    Page,
    Place,
    Section,
    copy_fields,
)
from newscrawl.sources import UrlError, canonical_url
from newscrawl.storage.documents import clean

# Status codes with which a server refuses a page, and the access of its article.
REFUSALS: dict[int, Access] = {401: "paywalled", 402: "paywalled", 403: "refused"}
_PLACES: dict[Section, Place] = {"title": "headline", "body": "body"}
_SECTIONS: dict[Place, Section] = {"headline": "title", "body": "body"}


def page_from(response: Response, source: str, *, access: Access = "open") -> Page:
    """Return the page of a response, for any spider: `yield page_from(response, "mysite")`.

    `source` is the name under which its articles are stored. A page that may not be read, with
    another `access` than "open", has no bytes.
    """
    requested: list[str] = response.meta.get("redirect_urls", []) if response.request else []
    content_type = response.headers.get("Content-Type") or b""
    return Page(
        url=_canonical(requested[0] if requested else response.url),
        source=source,
        html=response.body if access == "open" else b"",
        fetched_at=datetime.now(UTC),
        encoding=http_content_type_encoding(content_type.decode("latin-1")),
        status=response.status,
        access=access,
        final_url=_canonical(response.url) if requested else None,
    )


def _canonical(url: str) -> str:
    try:
        return canonical_url(url)
    except UrlError:
        return url


def article_item(
    document: Document, *, run: int | None = None, outcome: Outcome | None = None
) -> ArticleItem:
    """Return a document as an item for feed exports, in characters that databases accept too."""
    page, article = document.page, document.article
    return copy_fields(
        ArticleItem,
        article,
        url=clean(page.url),
        canonical_url=clean(article.url or page.url),
        source=page.source,
        title=_clean(article.title),
        text=clean(article.text),
        authors=tuple(map(clean, article.authors)),
        language=_clean(article.language),
        section=_clean(article.section),
        access=page.access,
        mentions=tuple(
            copy_fields(
                MentionItem,
                mention,
                form=clean(mention.surface),
                place=_PLACES[mention.section],
            )
            for mention in document.mentions
        ),
        fetched_at=page.fetched_at,
        run=run,
        outcome=outcome,
    )


def _clean(text: str | None) -> str | None:
    return None if text is None else clean(text)


def document_from(item: ArticleItem) -> Document:
    """Return the document of an item from a spider with its own extraction."""
    article = Article(
        url=item.canonical_url,
        title=item.title,
        text=item.text,
        paragraphs=tuple(part for part in item.text.split("\n\n") if part),
        authors=tuple(item.authors),
        published=item.published,
        modified=item.modified,
        language=item.language,
        section=item.section,
        paywalled=True if item.access == "paywalled" else None,
        kind=item.kind,
        method="item",
        confidence=item.confidence,
    )
    page = Page(
        url=item.url,
        source=item.source,
        html=b"",
        fetched_at=item.fetched_at or datetime.now(UTC),
        language=item.language,
        access=item.access,
    )
    mentions = tuple(
        copy_fields(Mention, mention, surface=mention.form, section=_SECTIONS[mention.place])
        for mention in item.mentions
    )
    return Document(page=page, article=article, mentions=mentions)


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
        ours = [
            pipeline
            for pipeline in scraper.itemproc.middlewares
            if isinstance(pipeline, DocumentPipeline)
        ]
        return ours[-1] is not self
