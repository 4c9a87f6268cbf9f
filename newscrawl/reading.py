"""Read a page as a document with an article, or raise NoArticleError with the reason.

Crawls, the ingestion of archives and re-extraction all read pages with it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import time
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

from newscrawl import extraction
from newscrawl.extraction.extract import extract_from, parse_page
from newscrawl.extraction.html import is_binary
from newscrawl.extraction.language import decide_language
from newscrawl.extraction.metadata.names import is_full
from newscrawl.extraction.metadata.reader import Metadata
from newscrawl.extraction.template_memory import fingerprints
from newscrawl.items import Article, Barrier, Document, Hints, Kind, Memory, Page, Versions
from newscrawl.mentions.registry import registry_digest
from newscrawl.sources.urls import declared_url
from newscrawl.storage.words import folded_words, writes_no_blanks
from newscrawl.text import stop_words_of, weight_of

Reason = Literal["NotHtml", "NotAnArticle", "ConsentOrPaywall", "Empty", "TooShort"]

# Kinds of pages without an article, even if they have text.
OTHER_PAGES: Final[frozenset[Kind]] = frozenset({"front", "other"})
NOT_ARTICLES: Final[frozenset[Kind]] = OTHER_PAGES | {"error"}
_BEFORE_ARTICLES: Final[frozenset[Kind]] = frozenset({"consent", "paywall"})
_MESSAGES: Final[dict[Reason, str]] = {
    "NotAnArticle": "the page is of the kind {0.kind!r}",
    "Empty": "no text found",
    "TooShort": "{1} characters of text",
}
_TAG = re.compile(rb"<[!a-zA-Z]")
_SNIFFED = 4096
# Ours: the least characters of an article's text, weighed (`weight_of`).
MIN_CHARACTERS: Final = 120
# Ours: characters of a text that is compared with the headline in the listing. Most shells, walls
# and messages are shorter, and of a longer text a listing's headline may share no word.
MAX_COMPARED: Final = 500
# Ours: characters of a word that must be equal, since endings vary, and the least of a word.
_STEM: Final = 4
_STATED: Final = Metadata()
_DIGEST = 12  # hexadecimal digits


class NoArticleError(Exception):
    """The page has no article: `reason` is counted, the message is logged."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Final = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReader:
    """Reads pages with a `method` of extraction; an article has `min_characters` or more.

    `memories` hold the blocks that pages of a source share, by its slug. With `collects_blocks`,
    documents carry the hashes of their blocks, from which a memory learns."""

    method: str
    min_characters: int = MIN_CHARACTERS
    memories: Mapping[str, Memory] = field(default_factory=dict, hash=False)
    collects_blocks: bool = True

    def read(self, page: Page) -> Document:
        """Return the page with its article, without mentions; raise NoArticleError.

        The document of a page behind a paywall, with `access` "paywalled", has the hints of the
        feed, and so has that of a page that shows no article, with `access` "unreadable".
        """
        if page.access != "open":
            return Document(page=page, article=article_of_hints(page))
        if not _TAG.search(page.html[:_SNIFFED].replace(b"\0", b"")):
            if _is_announced(page) and not (is_binary(page.html) and page.html[:5] != b"%PDF-"):
                return _unreadable_document(page, Article())
            message = "no HTML in the response" if page.html else "an empty response"
            raise NoArticleError("NotHtml", message)
        parsed = parse_page(page.html, page.url, encoding=page.encoding, language=page.language)
        memory = self.memories.get(page.source)
        article = extract_from(parsed, page.url, method=self.method, memory=memory)
        if article.paywalled or article.kind == "paywall":
            return _paywalled_document(page, article)
        reason: Reason | None = None
        if article.kind == "consent":
            reason = "ConsentOrPaywall"
        elif article.kind in NOT_ARTICLES:
            reason = "NotAnArticle"
        elif not article.text:
            reason = "Empty"
        elif weight_of(article.text) < self.min_characters:
            reason = "TooShort"
        is_told = article.kind in OTHER_PAGES or article.kind == "consent"
        shows_another = not is_told and _is_another_page(article, page.hints.title)
        if shows_another or (reason and article.kind not in OTHER_PAGES and _is_announced(page)):
            return _unreadable_document(page, article)
        if reason == "ConsentOrPaywall":
            return _paywalled_document(page, article)
        if reason is not None:
            raise NoArticleError(reason, _MESSAGES[reason].format(article, len(article.text)))
        texts = parsed.blocks.texts
        places = parsed.candidates.places.tolist() if self.collects_blocks else ()
        return Document(
            page=page,
            article=with_feed_hints(article, page, parsed.metadata),
            blocks=fingerprints(texts[place] for place in places),
            rest=other_blocks(texts, article),
        )


def _is_announced(page: Page) -> bool:
    """Return whether a listing gives the headline of a page that is read for the first time; one
    that was an article before has lost it."""
    return bool(page.hints.title) and (page.attempt is None or page.attempt.first)


def other_blocks(blocks: Sequence[str], article: Article) -> str:
    """Return the blocks of a page that are neither headline nor paragraph of the article."""
    article_texts = {*article.paragraphs, article.title, ""}
    return "\n\n".join(block for block in blocks if block not in article_texts)


def _paywalled_document(page: Page, article: Article) -> Document:
    barrier = Barrier(
        kind=article.kind if article.kind in _BEFORE_ARTICLES else "paywall",
        title=article.title,
        declared=article.paywalled is True,
    )
    hints = page.hints
    if not hints.title and article.paywalled and article.published:
        # No feed lists it, but the metadata of the page names it.
        hints = replace(
            hints, title=article.title, authors=article.authors, published=article.published
        )
    if not hints.title:
        message = f"a {article.kind} page, and no feed has its headline"
        raise NoArticleError("ConsentOrPaywall", message)
    # What it redirects to is not the article's address.
    paywalled = replace(page, access="paywalled", hints=hints, final_url=None)
    return Document(page=paywalled, article=article_of_hints(paywalled), barrier=barrier)


def _is_another_page(article: Article, headline: str | None) -> bool:
    """Return whether a page has no text, or a short one that is not that of the article with this
    headline in a listing, such as a request to enable JavaScript: they have no word in common."""
    if not headline or weight_of(article.text) > MAX_COMPARED:
        return False
    if not article.text:
        return True
    stems = _stems(headline, article.language)
    return bool(stems) and stems.isdisjoint(
        _stems(f"{article.title or ''} {article.text}", article.language)
    )


def _stems(text: str, language: str | None) -> set[str]:
    common = stop_words_of(language)
    words = (word for word in folded_words(text) if word not in common)
    return {word[:_STEM] for word in words if len(word) >= _STEM or writes_no_blanks(word)}


def _unreadable_document(page: Page, article: Article) -> Document:
    unreadable = replace(page, access="unreadable", final_url=None)
    kind: Kind = "consent" if article.kind == "consent" else "other"
    barrier = Barrier(kind=kind, title=article.title, redirected_to=page.final_url)
    return Document(page=unreadable, article=article_of_hints(unreadable), barrier=barrier)


def article_of_hints(page: Page) -> Article:
    """Return the hints of an article that may not be read: headline and standfirst."""
    hints = page.hints
    text = f"{hints.title or ''} {hints.standfirst or ''}"
    return Article(
        url=page.url,
        title=hints.title,
        text=hints.standfirst or "",
        paragraphs=(hints.standfirst,) if hints.standfirst else (),
        authors=hints.authors,
        published=hints.published,
        language=decide_language(hints.language or page.language, text),
        section=hints.section,
        paywalled=True if page.access == "paywalled" else None,
        kind="paywall",
        method="feed",
    )


def with_feed_hints(article: Article, page: Page, metadata: Metadata = _STATED) -> Article:
    """Return the article under its canonical URL, with the facts that only the feed has.

    Date and authors of the feed come before those that the page doesn't state, as by a day beside
    the headline; authors also after those of a byline there.
    """
    hints: Hints = page.hints
    fetched_from = page.final_url or page.url
    has_surer_authors = metadata.author_evidence.rank == "text" and any(map(is_full, hints.authors))
    published = article.published or hints.published
    if published and article.published and hints.published and not hints.of_change:
        # The listing also completes a day with a time.
        is_day = published.time() == time()
        is_completed = is_day and published.date() == hints.published.date()
        if metadata.date_evidence.rank not in ("stated", "") or is_completed:
            published = hints.published
    return replace(
        article,
        url=declared_url(page.html, fetched_from) or fetched_from,
        title=article.title or hints.title,
        authors=hints.authors if has_surer_authors else article.authors or hints.authors,
        published=published,
        section=article.section or hints.section,
        language=article.language or hints.language or page.language,
    )


def versions_of(companies: Path | None) -> Versions:
    """Return the version of the program, and digests of its models and of the files of companies:
    the bundled ones and one of the user's own. Raise OSError."""
    return Versions(
        program=version("newscrawl"),
        companies=registry_digest(companies)[:_DIGEST],
        extraction=_digest_of_models(),
    )


@cache
def _digest_of_models() -> str:
    """Return a digest of the data that extraction reads: models, limits, stop words."""
    folder = Path(extraction.__file__).parent / "data"
    data = b"".join(file.read_bytes() for file in sorted(folder.iterdir()))
    return sha256(data).hexdigest()[:_DIGEST]
