"""The companies that a document's article names, and those on the rest of its page."""

from collections import Counter
from dataclasses import replace

from newscrawl.items import Document
from newscrawl.mentions.companies import Companies


def with_mentions(document: Document, companies: Companies) -> Document:
    """The document with its mentions; what stands outside the article is only counted.

    A document that was searched as it is comes back as it came.
    """
    if document.searched is document.article:
        return document
    article, source = document.article, document.page.url
    found = companies.find(
        article.text, title=article.title or "", language=article.language, source=source
    )
    document = replace(document, mentions=tuple(found), searched=article)
    if not document.rest:
        return document
    elsewhere = companies.find(document.rest, language=article.language, source=source)
    clutter = Counter(mention.company for mention in elsewhere)
    return replace(document, clutter=tuple(sorted(clutter.items())), rest="")
