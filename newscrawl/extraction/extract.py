"""A page becomes an article: the whole story on one screen."""

from newscrawl.extraction import metadata
from newscrawl.extraction.language import settle_language
from newscrawl.extraction.methods import METHODS, View, look
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
    view = look(_page_of(html), url, encoding=encoding, language=language)
    return article_of(view, url, method=method, memory=memory)


def _page_of(html: bytes | bytearray | memoryview | str | None) -> bytes | str:
    if isinstance(html, (bytes, str)):
        return html
    if html is None:
        return b""
    if isinstance(html, (bytearray, memoryview)):
        return bytes(html)
    raise TypeError(f"a page is bytes or str, not {type(html).__name__}")


def article_of(
    view: View, url: str | None = None, *, method: str = "combined", memory: Memory | None = None
) -> Article:
    """Take the article out of a page that was looked at already; else as `extract`."""
    facts = view.facts
    body = METHODS[method](view)
    paragraphs = without_templates(body.paragraphs, memory) if memory else body.paragraphs
    counted = body.counted if len(paragraphs) == len(body.paragraphs) else None
    text = "\n\n".join(paragraphs)
    return Article(
        url=url,
        title=facts.title,
        text=text,
        paragraphs=tuple(paragraphs),
        authors=facts.authors,
        published=facts.published,
        modified=facts.modified,
        language=settle_language(facts.language, text, counted),
        section=facts.section,
        site_name=facts.site_name,
        image=facts.image,
        paywalled=facts.paywalled,
        kind=metadata.kind_of(
            facts, words=len(text.split()), link_words=view.link_words, text=text
        ),
        method=method,
        confidence=body.confidence,
    )
