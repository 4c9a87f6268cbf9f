"""Where in an article a mention stands: its sentence, and whether headline, lead or body."""

import re
from typing import Literal

from newscrawl.items import Mention

Position = Literal["headline", "lead", "body"]

# A paragraph ends at a blank line; a sentence at a stop before a capital or another script's
# letter, or at a stop of Chinese and Japanese, which needs no blank behind it.
_END = re.compile(r"""\n\s*\n|[.!?…]["'”’»)\]]*\s+(?=["'“„«(\[¿¡]*[^\W\da-zà-öø-ÿ_])|[。！？]""")
# Stops that end no sentence: titles, legal forms, single letters.
_ABBREVIATION = re.compile(
    r"\b(?:[A-Za-zА-я]|Mrs?|Ms|Dr|Prof|St|Inc|Corp|Co|Ltd|Mio|Mrd|bzw|ca|vs|No|Nr|Sig|Sra?)\.\s+$"
)
# A sentence is looked for within this many characters on both sides.
_REACH = 600


def sentence_span(text: str, mention: Mention) -> tuple[int, int]:
    """Start and end of the sentence around a mention; `text` is the section it stands in."""
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
    """Headline, lead (the body's first paragraph) or body; `text` is the article's body."""
    if mention.section == "title":
        return "headline"
    first = text.find("\n\n")
    return "lead" if first < 0 or mention.start < first else "body"
