"""The headline, chosen among what the page gives as its title in several places."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from newscrawl.extraction.metadata import jsonld
from newscrawl.extraction.metadata.signals import Signals, squeeze
from newscrawl.extraction.metadata.vocabulary import words

MAX_TITLE: Final = 300
"""Ours: characters; the longest title of the development corpus has 189."""

_METAS: Final = words("metas", "title")
_SEPARATOR: Final = re.compile(
    r"\s+(?:[|–—·•»«›:/~]|-{1,2}|::|\|\|)\s+|\s*[|│｜]\s*|\s*_\s*(?=[^_]+$)"
)
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A title and where it was found: "data", "meta", "heading" or "element"."""

    text: str
    place: str


def candidates(signals: Signals, article: jsonld.Node) -> Iterator[Candidate]:
    """Every title of a page, the most trusted place first."""
    for key in ("headline", "name", "alternativeHeadline"):
        if text := squeeze(jsonld.text_of(article.get(key))):
            yield Candidate(text, "data")
            break
    for text in signals.heading_texts:
        yield Candidate(text, "heading")
    for name in _METAS:
        if title := signals.meta(name):
            yield Candidate(title, "meta")
    if signals.title:
        yield Candidate(signals.title, "element")


def words_of(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def choose(candidates: Sequence[Candidate], site_names: Sequence[str]) -> str | None:
    """Choose the candidate that most places agree on, without the name of the site."""
    stripped = [
        Candidate(text, each.place)
        for each in candidates
        if (text := without_site(each.text[:MAX_TITLE], site_names, candidates))
    ]
    if not stripped:
        return None
    return max(stripped, key=lambda each: _support(each, stripped)).text


_TRUST: Final = {"data": 0.4, "meta": 0.3, "heading": 0.5, "element": 0.0}


def _support(candidate: Candidate, all_of_them: Sequence[Candidate]) -> float:
    mine = words_of(candidate.text)
    agreeing = {
        other.place
        for other in all_of_them
        if other.place != candidate.place and words_of(other.text) == mine
    }
    return len(agreeing) + _TRUST[candidate.place]


def without_site(
    title: str, site_names: Sequence[str], candidates: Sequence[Candidate] = ()
) -> str:
    """Cut the site's name off the end or the start of a title."""
    title = title.strip()
    others = {words_of(each.text) for each in candidates if each.text != title}
    names = {name for name in map(_compact, site_names) if name}
    for _ in range(3):
        cuts = [(match.start(), match.end()) for match in _SEPARATOR.finditer(title)]
        if not cuts:
            break
        start, end = cuts[-1]
        first_start, first_end = cuts[0]
        head, tail = title[:start].strip(), title[end:].strip()
        if head and (_is_site(tail, names) or words_of(head) in others):
            title = head
        elif title[first_end:].strip() and _is_site(title[:first_start], names):
            title = title[first_end:].strip()
        else:
            break
    return title


def all_sites(names: Sequence[str], site_names: Sequence[str]) -> bool:
    """Tell whether each of these names is but the name of the site."""
    sites = {name for name in map(_compact, site_names) if name}
    return all(_is_site(name, sites) for name in names)


def _compact(name: str) -> str:
    return "".join(words_of(name))


def _is_site(part: str, names: set[str]) -> bool:
    compact = _compact(part)
    return bool(compact) and any(
        compact == name
        or (len(compact) > 3 and len(name) > 3 and (compact in name or name in compact))
        for name in names
    )
