"""Find the mentions of a document, and the sentences and sections around them."""

from collections import Counter
from dataclasses import replace
from typing import Literal

from newscrawl.items import Document, Mention
from newscrawl.mentions.registry import Companies
from newscrawl.mentions.unregistered import find_unregistered
from newscrawl.text import sentence_around

Position = Literal["headline", "lead", "body"]


def with_mentions(document: Document, companies: Companies) -> Document:
    """Return the document with its mentions; outside the article they are only counted.

    A document whose article has been searched is returned unchanged.
    """
    if document.searched is document.article:
        return document
    article, source = document.article, document.page.url
    mentions = companies.find(
        article.text, title=article.title or "", language=article.language, source=source
    )
    names = find_unregistered(article.text, article.language, mentions, companies.is_registered)
    document = replace(document, mentions=tuple(mentions), unregistered=names, searched=article)
    if not document.rest:
        return document
    elsewhere = companies.find(document.rest, language=article.language, source=source)
    boilerplate = Counter(mention.company for mention in elsewhere)
    return replace(document, boilerplate=tuple(sorted(boilerplate.items())), rest="")


def sentence_span(text: str, mention: Mention) -> tuple[int, int]:
    """Return start and end of the sentence around a mention; `text` is the mention's section."""
    return sentence_around(text, mention.start, mention.end)


def position(text: str, mention: Mention) -> Position:
    """Return headline, lead (the body's first paragraph) or body; `text` is the article's body."""
    if mention.section == "title":
        return "headline"
    first = text.find("\n\n")
    return "lead" if first < 0 or mention.start < first else "body"
