"""The words of an article, found once for all who need them: full-text search and stories."""

from dataclasses import dataclass
from functools import cached_property

from newscrawl.storage.sketching import Sketch, sketch
from newscrawl.storage.words import folded_words


@dataclass(frozen=True)
class Wording:
    """The folded words of a headline and of a text, each on a line of its own.

    So they cost little on their way from one process to another, which the sketch goes too once it
    was asked for.
    """

    title: str
    body: str

    @classmethod
    def of(cls, title: str | None, text: str) -> "Wording":
        """The words of an article."""
        return cls("\n".join(folded_words(title or "")), "\n".join(folded_words(text)))

    @cached_property
    def sketch(self) -> Sketch | None:
        """The sketch of the text."""
        return sketch(self.body)


def lines(words: str) -> list[str]:
    """The words as a list."""
    return words.split("\n") if words else []
