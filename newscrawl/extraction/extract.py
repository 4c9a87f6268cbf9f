"""A page becomes an article: the whole story on one screen."""

from newscrawl.extraction import metadata
from newscrawl.extraction.language import settle_language
from newscrawl.extraction.methods import METHODS, ParsedPage, parse_page
from newscrawl.extraction.template_memory import without_templates
from newscrawl.items import Article, Memory


def extract(
    html: bytes | bytearray | memoryview | str | None,
    url: str | None = None,
    *,
    encoding: str | None = None,
    language: str | None = None,
    method: str = "combined",
    memory: Memory | None = None,
) -> Article:
    """Take the article out of a page. Never raises for any page; an empty one gives an empty text,
    and so does None, the body that some clients give where there is none.

    `encoding` is the charset of the HTTP header, `language` what is known of the site. `method`
    is one of `methods.METHODS`; another one raises ValueError. What `memory` knows from other
    pages of the site is left out (`memory.with_page` makes one).
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
    """Take the article out of a page that is parsed already; else as `extract`."""
    found = page.metadata
    body = METHODS[method](page)
    paragraphs = without_templates(body.paragraphs, memory) if memory else body.paragraphs
    word_counts = body.word_counts if len(paragraphs) == len(body.paragraphs) else None
    text = "\n\n".join(paragraphs)
    return Article(
        url=url,
        title=found.title,
        text=text,
        paragraphs=tuple(paragraphs),
        authors=found.authors,
        published=found.published,
        modified=found.modified,
        language=settle_language(found.language, text, word_counts),
        section=found.section,
        site_name=found.site_name,
        image=found.image,
        paywalled=found.paywalled,
        kind=metadata.kind_of(
            found, words=len(text.split()), link_words=page.link_words, text=text
        ),
        method=method,
        confidence=body.confidence,
    )
