"""Text in pieces for templates: mentions in an article, and changes between its versions.

Pieces are plain text; the template escapes and formats them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, Protocol

Change = Literal["same", "gone", "new"]
_WORDS = re.compile(r"\s+|[^\s]+")
# Ours: difflib is quadratic in the words of one paragraph, so a longer one is shown as replaced.
MAX_PARAGRAPH_WORDS = 1500
MAX_PARAGRAPHS = 400


class TextSpan(Protocol):
    """A mention, with offsets in the characters of the title or the text."""

    @property
    def company(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text and its offset; `mention` is set where it is one."""

    text: str
    start: int
    mention: TextSpan | None = None

    @property
    def company(self) -> str | None:
        return self.mention.company if self.mention else None


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of text that is the same in both versions, gone, or new."""

    text: str
    change: Change


def pieces(text: str, mentions: Sequence[TextSpan], start: int = 0) -> list[Piece]:
    """Return the text with its mentions as pieces of their own.

    `start` is the offset of the text in the text that the mentions refer to. Mentions outside are
    left out; of two that overlap, the first and longest counts.
    """
    found, position = [], 0
    for mention in sorted(mentions, key=lambda each: (each.start, -each.end)):
        begin, end = mention.start - start, mention.end - start
        if begin < position or end > len(text) or begin >= end:
            continue
        found += [
            Piece(text[position:begin], start + position),
            Piece(text[begin:end], mention.start, mention),
        ]
        position = end
    found.append(Piece(text[position:], start + position))
    return [piece for piece in found if piece.text]


def paragraphs(text: str, mentions: Sequence[TextSpan]) -> list[list[Piece]]:
    """Return the pieces of each paragraph of a body."""
    found, position = [], 0
    for paragraph in text.split("\n\n"):
        found.append(pieces(paragraph, mentions, position))
        position += len(paragraph) + 2
    return [paragraph for paragraph in found if paragraph]


def changes(before: str, after: str) -> list[list[Edit]]:
    """Return the edits of each paragraph, word by word where a paragraph was rewritten."""
    old, new = before.split("\n\n")[:MAX_PARAGRAPHS], after.split("\n\n")[:MAX_PARAGRAPHS]
    found: list[list[Edit]] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found += [[Edit(text, "same")] for text in old[i1:i2]]
        elif tag == "replace" and i2 - i1 == j2 - j1:
            pairs = zip(old[i1:i2], new[j1:j2], strict=True)
            found += [list(_rewritten(left, right)) for left, right in pairs]
        else:
            found += [[Edit(text, "gone")] for text in old[i1:i2]]
            found += [[Edit(text, "new")] for text in new[j1:j2]]
    return [[edit for edit in row if edit.text] for row in found]


def _rewritten(before: str, after: str) -> Iterator[Edit]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > MAX_PARAGRAPH_WORDS:
        yield from (Edit(before, "gone"), Edit(after, "new"))
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Edit("".join(old[i1:i2]), "same")
            continue
        yield Edit("".join(old[i1:i2]), "gone")
        yield Edit("".join(new[j1:j2]), "new")
