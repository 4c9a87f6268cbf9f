"""Find the mentions of a document, and the sentences and sections around them."""

import re
from collections import Counter
from dataclasses import replace
from typing import Literal

from newscrawl.items import Document, Mention
from newscrawl.mentions.registry import Companies

Position = Literal["headline", "lead", "body"]

# A paragraph ends at a blank line; a sentence at a stop before a capital or a letter of another
# script, or at a Chinese or Japanese stop, which needs no blank after it.
_END = re.compile(r"""\n\s*\n|[.!?…]["'”’»)\]]*\s+(?=["'“„«(\[¿¡]*[^\W\da-zà-öø-ÿ_])|[。！？]""")
# Stops that don't end a sentence: titles, legal forms, single letters.
_ABBREVIATION = re.compile(
    r"\b(?:[A-Za-zА-я]|Mrs?|Ms|Dr|Prof|St|Inc|Corp|Co|Ltd|Mio|Mrd|bzw|ca|vs|No|Nr|Sig|Sra?)\.\s+$"
)
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
    for stop in _END.finditer(text, floor, ceiling):
        if _ABBREVIATION.search(text, max(floor, stop.end() - 8), stop.end()):
            continue
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
