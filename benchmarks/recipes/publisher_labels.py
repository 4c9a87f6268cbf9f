"""Make labels of pages whose JSON-LD holds the text (`articleBody`) of their article.

The publisher's text is often cut off, another article's, or different from the page. Only texts
that the page itself shows, nearly word for word, become labels.
"""

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from benchmarks.recipes.examples import label
from newscrawl.extraction.blocks import clean, read_blocks
from newscrawl.extraction.extract import extract_from, parse_page
from newscrawl.extraction.html import decode, parse
from newscrawl.items import Kind
from newscrawl.text import unescape
from newscrawl.training import metrics
from newscrawl.training.corpus import FROM_PUBLISHER, GOLD_FILE, PAGES_FOLDER, without_json_ld

# Ours: words of a label at least; the share of them that the blocks of the page must show, in
# order; and of how many times as many words, as the extractor takes, the text is the beginning.
MIN_WORDS: Final = 100
MIN_SHOWN: Final = 0.95
MAX_LONGER: Final = 1.5
_ENDS_OF_TEASERS: Final = ("...", "…", "…]", "...]")
_ARTICLES: Final[frozenset[Kind]] = frozenset({"article", "gallery", "video"})

NO_TEXT: Final = "no articleBody"
NO_ARTICLE: Final = "not an open article"
SHORT: Final = f"under {MIN_WORDS} words"
CUT_OFF: Final = "cut off"
NOT_SHOWN: Final = "not shown on the page"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublisherPage:
    """A page in UTF-8 with the text that its publisher states."""

    url: str
    language: str
    title: str | None
    text: str
    html: bytes

    @property
    def site(self) -> str:
        """Return the host of the page."""
        return urlsplit(self.url).hostname or ""


class UnusableError(ValueError):
    """A page that makes no label; the message is one of the reasons above."""


def read_publisher_page(html: bytes, url: str, *, encoding: str | None = None) -> PublisherPage:
    """Return a page with the text of its JSON-LD. Raises UnusableError."""
    source = decode(html, encoding)
    metadata = parse_page(source, url).metadata
    text = plain_text(metadata.article_body or "")
    words = len(metrics.words(text))
    if not text:
        raise UnusableError(NO_TEXT)
    if words < MIN_WORDS:
        raise UnusableError(SHORT)
    page = parse_page(without_json_ld(source), url)
    article = extract_from(page, url)
    if metadata.paywalled or article.kind not in _ARTICLES:
        raise UnusableError(NO_ARTICLE)
    shown = label(page.candidates.page.texts, text)
    if shown.matched.sum() < MIN_SHOWN * words:
        raise UnusableError(NOT_SHOWN)
    longer = len(metrics.words(article.text)) > MAX_LONGER * words
    if longer or text.rstrip().endswith(_ENDS_OF_TEASERS):
        raise UnusableError(CUT_OFF)
    return PublisherPage(
        url=url,
        language=article.language or "und",
        title=metadata.title,
        text=text,
        html=source,
    )


def plain_text(body: str) -> str:
    """Return the paragraphs of an articleBody, which may be markup, separated by blank lines."""
    text = unescape(body)
    blocks = read_blocks(parse(text.encode("utf-8", "replace"))).texts if "<" in text else None
    lines = (clean(" ".join(line.split())) for line in blocks or text.splitlines())
    return "\n\n".join(line for line in lines if line)


def write_set(folder: Path, pages: Iterable[PublisherPage]) -> int:
    """Write pages as a set of labelled pages, and return how many; of those with the same text the
    first."""
    (folder / PAGES_FOLDER).mkdir(parents=True, exist_ok=True)
    texts: set[str] = set()
    with (folder / GOLD_FILE).open("w", encoding="utf-8") as gold:
        for page in pages:
            name = blake2b(
                " ".join(metrics.words(page.text)).encode("utf-8", "replace"), digest_size=8
            ).hexdigest()
            if name in texts:
                continue
            texts.add(name)
            path = folder / PAGES_FOLDER / f"{name}.html.gz"
            path.write_bytes(gzip.compress(page.html, mtime=0))
            gold.write(
                json.dumps(
                    {
                        "id": name,
                        "lang": page.language,
                        "site": page.site,
                        "url": page.url,
                        "title": page.title,
                        "text": page.text,
                        "gold": FROM_PUBLISHER,
                    },
                    ensure_ascii=False,
                )
                + "\n"
            )
    return len(texts)
