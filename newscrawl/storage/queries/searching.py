"""What someone typed into a search box, as a query of SQLite's FTS5 and of PostgreSQL."""

import re
from dataclasses import dataclass

from newscrawl.storage.errors import QuestionError
from newscrawl.storage.words import Word, folded_words

_PART = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))(?P<star>\*?)')
# Ours: each word costs a look into the index.
MOST_WORDS = 32


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand beside each other; with `prefix` the last is only a beginning."""

    words: tuple[str, ...]
    prefix: bool = False

    def spans(self, words: list[Word]) -> list[tuple[int, int]]:
        """Where the term stands, as start and end in the text that the words are of."""
        length = len(self.words)
        return [
            (words[first].start, words[first + length - 1].end)
            for first in range(len(words) - length + 1)
            if self._matches([word.text for word in words[first : first + length]])
        ]

    def _matches(self, words: list[str]) -> bool:
        if self.prefix:
            *whole, begun = self.words
            return words[:-1] == whole and words[-1].startswith(begun)
        return words == list(self.words)


@dataclass(frozen=True, slots=True)
class SearchText:
    """One of each group of `wanted` terms must stand in the article, none of the `unwanted`."""

    wanted: tuple[tuple[Term, ...], ...]
    unwanted: tuple[Term, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(term for group in self.wanted for term in group)

    def for_sqlite(self) -> str:
        """The query in FTS5's language."""
        wanted = " AND ".join(f"({' OR '.join(map(_fts5, group))})" for group in self.wanted)
        unwanted = " OR ".join(map(_fts5, self.unwanted))
        return f"({wanted}) NOT ({unwanted})" if unwanted else wanted

    def for_postgres(self) -> str:
        """The query as the text of a tsquery."""
        groups = [f"({' | '.join(map(_tsquery, group))})" for group in self.wanted]
        return " & ".join([*groups, *(f"!({_tsquery(term)})" for term in self.unwanted)])


def parse_search(text: str) -> SearchText:
    """Reads words, "phrases", begin*, -unwanted and OR between two of them.

    A word that is several to us ("Coca-Cola", all of Chinese) becomes a phrase. Raises
    QuestionError where no wanted word is left, or there are more than MOST_WORDS.
    """
    wanted: list[list[Term]] = []
    unwanted: list[Term] = []
    joins = False
    for part in _PART.finditer(text):
        if part["word"] == "OR" and not part["minus"]:
            joins = bool(wanted)
            continue
        term = _term(part)
        if term is None:
            continue
        if part["minus"]:
            unwanted.append(term)
        elif joins:
            wanted[-1].append(term)
        else:
            wanted.append([term])
        joins = False
    found = SearchText(tuple(map(tuple, wanted)), tuple(unwanted))
    if not wanted:
        raise QuestionError(
            f'nothing to search for in {text!r}: write words, or a "phrase" in quotation marks'
        )
    if sum(len(term.words) for term in (*found.terms, *unwanted)) > MOST_WORDS:
        raise QuestionError(f"more than {MOST_WORDS} words to search for: leave some out")
    return found


def _term(part: re.Match[str]) -> Term | None:
    text = part["phrase"] if part["phrase"] is not None else part["word"]
    words = tuple(folded_words(text))
    prefix = bool(part["star"]) or (part["word"] or "").endswith("*")
    return Term(words, prefix) if words else None


def _fts5(term: Term) -> str:
    return f'"{" ".join(term.words)}"{" *" if term.prefix else ""}'


def _tsquery(term: Term) -> str:
    *whole, last = (f"'{word}'" for word in term.words)
    return " <-> ".join([*whole, f"{last}:*" if term.prefix else last])
