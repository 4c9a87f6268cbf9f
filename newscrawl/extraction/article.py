"""A page becomes an article: the whole story on one screen."""

from newscrawl.extraction import metadata
from newscrawl.extraction.language import settle_language
from newscrawl.extraction.methods import METHODS, look
from newscrawl.items import Article


def extract(
    html: bytes | str,
    url: str | None = None,
    *,
    encoding: str | None = None,
    language: str | None = None,
    method: str = "combined",
) -> Article:
    """Take the article out of a page. Never raises for any page; an empty one gives an empty text.

    `encoding` is the charset of the HTTP header, `language` what is known of the site. `method`
    is one of `methods.METHODS`; another one raises ValueError.
    """
    take_body = METHODS.get(method)
    if take_body is None:
        raise ValueError(f"unknown method {method!r}; use one of {', '.join(METHODS)}")
    view = look(html, url, encoding=encoding, language=language)
    facts = view.facts
    body = take_body(view)
    text = "\n\n".join(body.paragraphs)
    return Article(
        url=url,
        title=facts.title,
        text=text,
        paragraphs=tuple(body.paragraphs),
        authors=facts.authors,
        published=facts.published,
        modified=facts.modified,
        language=settle_language(facts.language, text, body.counted),
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
