"""Sentences of an article with what was looked for marked in them."""

import re
from collections.abc import Sequence

from newscrawl.items import Section
from newscrawl.storage.queries.articles import Snippet

# A sentence ends at a blank line, at a stop before a blank, or at a stop of Chinese and
# Japanese, which needs none.
_END = re.compile(r"""\n\s*\n|[.!?…]["'”’»)\]]*\s+(?=["'“„«(\[¿¡]*[^\W\da-zà-öø-ÿ_])|[。！？]+""")
# Ours: what fits three lines of a list; and so much stays before the first mark.
LONGEST = 280
_BEFORE = 80

Span = tuple[int, int]


def snippets(
    title: str | None, text: str, spans: dict[Section, list[Span]], limit: int
) -> tuple[Snippet, ...]:
    """The headline if it is marked, then the first sentences that are, `limit` in all."""
    found = []
    if title and spans.get("title"):
        found.append(_snippet("title", title, (0, len(title)), spans["title"]))
    last_end = 0
    for span in sorted(spans.get("body", ())):
        if len(found) >= limit:
            break
        if span[0] < last_end:
            continue  # in a sentence that stands there already
        start, last_end = _sentence(text, span)
        inside = [(a, b) for a, b in spans["body"] if start <= a and b <= last_end]
        found.append(_snippet("body", text, (start, last_end), inside))
    return tuple(found[:limit])


def sentences(text: str) -> list[str]:
    """A text's sentences, without the blanks around them."""
    ends = [match.end() for match in _END.finditer(text)]
    parts = [text[a:b].strip() for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]


def _sentence(text: str, span: Span) -> Span:
    """The sentence around a span; at most LONGEST characters before and behind it are seen."""
    start, end = max(0, span[0] - LONGEST), min(len(text), span[1] + LONGEST)
    for match in _END.finditer(text, start, end):
        if match.end() <= span[0]:
            start = match.end()
        elif match.start() >= span[1] - 1:
            end = max(match.end(), span[1])
            break
    while end > span[1] and text[end - 1].isspace():
        end -= 1
    return start, end


def _snippet(section: Section, text: str, part: Span, marks: Sequence[Span]) -> Snippet:
    """The part, cut to LONGEST around its first mark; an ellipsis stands for what was cut."""
    start, end = part
    if end - start > LONGEST:
        first = min(mark[0] for mark in marks)
        start = max(start, first - _BEFORE)
        end = min(end, start + LONGEST)
    head = "…" if start > part[0] else ""
    tail = "…" if end < part[1] else ""
    shift = len(head) - start
    inside = sorted((a + shift, b + shift) for a, b in marks if start <= a and b <= end)
    return Snippet(
        section=section,
        text=head + re.sub(r"\s", " ", text[start:end]) + tail,
        marks=_apart(inside),
    )


def _apart(marks: Sequence[Span]) -> tuple[Span, ...]:
    """The marks in order, those that overlap drawn together."""
    drawn: list[Span] = []
    for start, end in marks:
        if drawn and start < drawn[-1][1]:
            drawn[-1] = (drawn[-1][0], max(end, drawn[-1][1]))
        else:
            drawn.append((start, end))
    return tuple(drawn)
