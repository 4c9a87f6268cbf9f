"""The headline, chosen among what the page gives as its title in several places."""

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import Final

from newscrawl.extraction.metadata.places import Candidate

MAX_TITLE: Final = 300
"""Ours: characters; the longest title of the development corpus has 189."""
MAX_TAG_WORDS: Final = 3
MIN_HEADLINE_WORDS: Final = 4
MIN_SITE_LETTERS: Final = 5
BARELY_ALIKE: Final = 0.2
"""Ours, fitted on the open sites by benchmarks.metadata: Dice's coefficient below which a heading
and a title have nothing in common."""
_TRUST: Final = {"data": 0.6, "meta": 0.3, "heading": 2.2, "shown": 2.4, "element": 0.0}
"""Ours, fitted on the open sites by benchmarks.metadata: golds name what readers see."""
_BAR: Final = frozenset("|│｜»›>▸►▶")

# Any mark between blanks that doesn't belong to words, as quotation marks and "&" do.
_SEPARATOR: Final = re.compile(
    r"\s(?:[^\w\s&+,.;!?'\"“”„‘’()\[\]{}%$€£#*=…|-]|--?|::|\|\|)\s+|[|│｜]|_(?!_)"
)
_MARK: Final = re.compile(
    r"\s*(?:(?<=\s)[^\w\s&'\"“”„‘’]+|[^\w\s&'\"“”„‘’.!?]+(?=\s)|[\[\](（）【】：])\s*"
)
_WORD: Final = re.compile(r"\w+")
_MOMENT: Final = re.compile(r"\s+\d{1,2}[./]\d{1,2}[./]\d{2,4},?\s\d{1,2}:\d\d$")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,60}>")


@lru_cache(maxsize=256)  # of the titles of a few pages
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a title in lower case, by which titles are compared."""
    return tuple(_WORD.findall(plain(text).casefold()))


def plain(text: str) -> str:
    """Return a title without tags, a day and time at its end, and marks that only say where a
    word may be broken."""
    if not text.isascii():
        text = text.replace("\xad", "").replace("\u200b", "")
    if "<" in text:
        text = " ".join(_TAG.sub(" ", text).split())
    return _MOMENT.sub("", text) if text[-1:].isdecimal() and ":" in text else text


def choose(candidates: Sequence[Candidate[str]], site_names: Sequence[str]) -> str | None:
    """Choose the candidate that most places agree on, without the name of the site."""
    sites = _compact_names(tuple(site_names))
    word_lists = {words_of(each.value) for each in candidates}
    heads = {
        text: _without_site(text[:MAX_TITLE].strip(), sites, word_lists)
        for text in dict.fromkeys(each.value for each in candidates)
    }
    stripped: dict[tuple[str, ...], str] = {}
    places: dict[tuple[str, ...], set[str]] = {}
    for each in candidates:
        head = heads[each.value]
        if key := words_of(head):
            stripped.setdefault(key, head)
            places.setdefault(key, set()).add(each.place)
    if len(stripped) < 2:
        return next(iter(stripped.values()), None)
    tails = {words_of(text)[len(words_of(head)) :] for text, head in heads.items()}
    names_of_sites = {
        key
        for key in stripped
        if _is_site("".join(key), sites) or (key in tails and _holds_site("".join(key), sites))
    }
    eligible = [key for key in stripped if key not in names_of_sites] or list(stripped)
    return stripped[max(eligible, key=lambda key: _support(key, places))]


def _support(key: tuple[str, ...], places: dict[tuple[str, ...], set[str]]) -> float:
    """Return how much other places agree with a candidate, plus the trust in its own best place."""
    agreement: dict[str, float] = {}
    for words, their_places in places.items():
        alike = 1.0 if words == key else likeness(key, words)
        for place in their_places:
            agreement[place] = max(agreement.get(place, 0.0), alike)
    # A heading that is like nothing else, where title and metas give the same text, is a slogan.
    is_slogan = (
        places[key] == {"heading"}
        and "data" not in agreement
        and any({"meta", "element"} <= their_places for their_places in places.values())
        and max(alike for place, alike in agreement.items() if place != "heading") < BARELY_ALIKE
    )
    trust = 0.0 if is_slogan else max(_TRUST[place] for place in places[key])
    return sum(agreement.values()) + trust


def likeness(left_words: tuple[str, ...], right_words: tuple[str, ...]) -> float:
    """Return Dice's coefficient of two sets of words: 1 for equal ones, 0 for disjoint ones."""
    mine, theirs = set(left_words), set(right_words)
    return 2 * len(mine & theirs) / ((len(mine) + len(theirs)) or 1)


def _without_site(title: str, sites: Set[str], titles: Set[tuple[str, ...]]) -> str:
    """Cut what isn't headline off both ends: the site's name, or all beyond another candidate."""
    prefix, _, remainder = title.partition(": ")
    if remainder and _compact(prefix) in sites:
        title = remainder
    cuts = [(match.start(), match.end()) for match in _SEPARATOR.finditer(title)]
    if part := _known_part(title, cuts, titles, sites):
        return part
    for (start, end), (following, _) in pairwise(cuts):
        if _compact(title[end:following]) in sites and _is_long(title[:start]):
            return title[:start].strip()
    if (
        len(cuts) > 1
        and _compact(title[cuts[-2][1] : cuts[-1][0]]) in sites
        and _is_long(title[cuts[-1][1] :])
    ):
        return title[cuts[-1][1] :].strip()
    has_site = named_first = False
    while cuts:
        (first_start, first_end), (start, end) = cuts[0], cuts[-1]
        head, tail = title[:start].strip(), title[end:].strip()
        is_site = _is_site(_compact(tail), sites) or _names_site(head, tail, sites)
        if head and (is_site or _is_tag(head, title[start:end], tail, beside_site=has_site)):
            has_site = has_site or is_site
            title = head
            cuts.pop()
        elif title[first_end:].strip() and (
            (is_name := _is_site(_compact(title[:first_start]), sites))
            or (
                (named_first or has_site)
                and _is_tag(
                    title[first_end:],
                    title[first_start:first_end],
                    title[:first_start],
                    beside_site=named_first,
                )
            )
        ):
            named_first = named_first or is_name
            title = title[first_end:]
            cuts = [(match.start(), match.end()) for match in _SEPARATOR.finditer(title)]
        else:
            break
    return _beside_site(title.strip(), sites)


def _beside_site(title: str, sites: Set[str]) -> str:
    """Return what a mark of any kind parts from the name of the site, before or behind it."""
    for mark in _MARK.finditer(title):
        head, tail = title[: mark.start()], title[mark.end() :]
        if _compact(tail) in sites and _is_long(head):
            return head
        if _compact(head) in sites and _is_long(tail):
            return tail
    return title


def _known_part(
    title: str, cuts: Sequence[tuple[int, int]], titles: Set[tuple[str, ...]], sites: Set[str]
) -> str | None:
    """Return the longest beginning of a title that is another candidate, unless its end is a
    longer one."""
    halves = [(title[:start].strip(), title[end:].strip()) for start, end in reversed(cuts)]
    candidates = [
        part
        for part, remainder in (*halves, *((tail, head) for head, tail in halves))
        if words_of(part) in titles
        and not _is_site(_compact(part), sites)
        and not _names_site(remainder, part, sites)
    ]
    return max(candidates, key=lambda part: len(words_of(part)), default=None)


def _names_site(head: str, tail: str, sites: Set[str]) -> bool:
    """Return whether what follows a headline holds the name of the site among other words."""
    return _is_long(head) and _holds_site(_compact(tail), sites)


def _is_long(text: str) -> bool:
    return len(words_of(text)) >= MIN_HEADLINE_WORDS


def _holds_site(compact: str, sites: Set[str]) -> bool:
    return any(len(site) >= MIN_SITE_LETTERS and site in compact for site in sites)


def _is_tag(head: str, separator: str, tail: str, *, beside_site: bool) -> bool:
    """Return whether a few words are a section or slogan: after a bar, or before the site."""
    if not _is_long(head):
        return False
    return len(words_of(tail)) <= (
        MAX_TAG_WORDS if not _BAR.isdisjoint(separator) else int(beside_site)
    )


def all_sites(names: Sequence[str], site_names: Sequence[str]) -> bool:
    """Return whether all of these names are names of the site."""
    sites = _compact_names(tuple(site_names))
    return all(_is_site(_compact(name), sites) for name in names)


def _compact(name: str) -> str:
    return "".join(words_of(name))


@lru_cache(maxsize=8)  # of the names of a site, which are asked for several times
def _compact_names(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(filter(None, map(_compact, names)))


def _is_site(compact: str, sites: Set[str]) -> bool:
    """Return whether a text without blanks is a name of the site, or half of one is the other."""
    if not compact or compact in sites:
        return bool(compact)
    return len(compact) > 3 and any(
        len(site) > 3
        and 2 * min(len(site), len(compact)) >= max(len(site), len(compact))
        and (compact in site or site in compact)
        for site in sites
    )
