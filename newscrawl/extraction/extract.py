"""Extract the article of a page."""

from typing import Final

from newscrawl.extraction.kinds import decide_kind
from newscrawl.extraction.language import decide_language
from newscrawl.extraction.methods import METHODS, ParsedPage, of_other_page, parse_page
from newscrawl.extraction.template_memory import without_templates
from newscrawl.items import Article, Kind, Memory

_OTHER_PAGES: Final[frozenset[Kind]] = frozenset({"front", "other"})


def extract(
    html: bytes | bytearray | memoryview | str | None,
    url: str | None = None,
    *,
    encoding: str | None = None,
    language: str | None = None,
    method: str = "combined",
    memory: Memory | None = None,
) -> Article:
    """Return the article of a page. No page raises; an empty one gives an empty text, and so does
    None, which some HTTP clients return for an empty body.

    `encoding` is the charset of the HTTP header, `language` the site's language. `method` is one of
    `methods.METHODS`; another one raises ValueError. Paragraphs that `memory` knows from other
    pages of the site are left out (`template_memory.with_page` makes a memory).
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; use one of {', '.join(METHODS)}")
    page = parse_page(_page_of(html), url, encoding=encoding, language=language)
    return extract_from(page, url, method=method, memory=memory)


def _page_of(html: bytes | bytearray | memoryview | str | None) -> bytes | str:
    if isinstance(html, (bytes, str)):
        return html
    if html is None:
        return b""
    if isinstance(html, (bytearray, memoryview)):
        return bytes(html)
    raise TypeError(f"a page is bytes or str, not {type(html).__name__}")


def extract_from(
    page: ParsedPage,
    url: str | None = None,
    *,
    method: str = "combined",
    memory: Memory | None = None,
) -> Article:
    """Return the article of a page that is already parsed; otherwise like `extract`."""
    metadata = page.metadata
    body = METHODS[method](page)
    paragraphs = without_templates(body.paragraphs, memory) if memory else body.paragraphs
    kind = decide_kind(page, paragraphs, url)
    if method == "combined" and kind in _OTHER_PAGES:
        body = of_other_page(page)
        paragraphs = without_templates(body.paragraphs, memory) if memory else body.paragraphs
    word_counts = body.word_counts if len(paragraphs) == len(body.paragraphs) else None
    text = "\n\n".join(paragraphs)
    return Article(
        url=url,
        title=metadata.title,
        text=text,
        paragraphs=tuple(paragraphs),
        authors=metadata.authors,
        published=metadata.published,
        modified=metadata.modified,
        language=decide_language(metadata.language, text, word_counts),
        section=metadata.section,
        site_name=metadata.site_name,
        image=metadata.image,
        paywalled=metadata.paywalled,
        kind=kind,
        method=method,
        confidence=body.confidence,
    )
