"""Find the mentions of a document, and the sentences and sections around them."""

from collections import Counter
from dataclasses import replace
from typing import Literal

from newscrawl.items import Document, Mention
from newscrawl.mentions.registry import Companies
from newscrawl.text import sentence_ends

Position = Literal["headline", "lead", "body"]

# Characters on each side within which a sentence is searched.
_REACH = 600


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
    document = replace(document, mentions=tuple(mentions), searched=article)
    if not document.rest:
        return document
    elsewhere = companies.find(document.rest, language=article.language, source=source)
    boilerplate = Counter(mention.company for mention in elsewhere)
    return replace(document, boilerplate=tuple(sorted(boilerplate.items())), rest="")


def sentence_span(text: str, mention: Mention) -> tuple[int, int]:
    """Return start and end of the sentence around a mention; `text` is the mention's section."""
    floor, ceiling = max(0, mention.start - _REACH), min(len(text), mention.end + _REACH)
    start, end = floor, ceiling
    for stop in sentence_ends(text, floor, ceiling):
        if stop.end() <= mention.start:
            start = stop.end()
        elif stop.start() >= mention.end - 1:
            end = stop.end()
            break
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, max(end, mention.end)


def position(text: str, mention: Mention) -> Position:
    """Return headline, lead (the body's first paragraph) or body; `text` is the article's body."""
    if mention.section == "title":
        return "headline"
    first = text.find("\n\n")
    return "lead" if first < 0 or mention.start < first else "body"
