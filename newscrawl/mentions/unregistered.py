"""Names of organisations that no registry lists: beside a legal form ("Moser Bau GmbH"), or
beside a word that says what kind of company they are ("the carmaker X", "X, ein Softwarehaus").

They are suggestions; no count uses them. Only places beside such words are looked at.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from ahocorasick_rs import AhoCorasick, MatchKind

from newscrawl.items import Mention, UnregisteredName
from newscrawl.mentions.company import HOME_LANGUAGES
from newscrawl.mentions.legal_forms import is_doubtful
from newscrawl.mentions.vocabulary import ANY, load_vocabulary
from newscrawl.text import sentence_around

# Ours: names of an article, characters and words of a name, and places that are looked at.
MOST_NAMES = 20
_LONGEST, _MOST_WORDS = 60, 6
_MOST_PLACES = 500
# Letters of a beginning of words; shorter ones are words_alone words.
_BEGINNING = 5
# Characters of an explanation before its word: "X, a Spanish software company".
_REACH = 40
_TOKEN = re.compile(r"[\w&+][\w&+'’./-]*")
_OPENING, _CLOSING = "\"'«„“‘»", "\"'»“”’«"
_QUOTED = re.compile(rf"[{_OPENING}]([^{_OPENING}{_CLOSING}\n]{{2,{_LONGEST}}})[{_CLOSING}]")
_QUOTED_BEFORE = re.compile(rf"{_QUOTED.pattern} ?$")
# What no name has: other signs, a number or a single letter alone.
_NO_NAME = re.compile(r"[():;,!?%=\[\]]|[.]$|^\w$| (?:-|–) ")
# What makes a legal form another word: "Co-Trainer", "Limited Edition".
_FOLLOWED = re.compile(r" ?[-–]|'| ?[«„“\"] ?\w|(?<![.]) [^\W\d_a-zß-öø-ÿа-яёα-ωά-ώ]")
# Letters of legal forms that are other words in most countries. Ours.
_SHORT = 3
# Words within names, in small letters.
_JOINTS = frozenset(
    (
        *("&", "+", "und", "and", "et", "y", "e", "i", "og", "och", "en"),
        *("de", "du", "des", "of", "for", "di", "del", "da", "do", "the"),
    )
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Language:
    """The markers of a language, their roles ("form", "before": a form before the name, "kind"),
    and how it writes them."""

    automaton: AhoCorasick
    roles: Sequence[frozenset[str]]
    leading: frozenset[str]
    institutions: tuple[frozenset[str], tuple[str, ...]]
    is_joining: bool
    is_following: bool
    determiners: frozenset[str]
    explained: re.Pattern[str] | None
    adjectives: re.Pattern[str] | None


def find_unregistered(
    text: str,
    language: str | None,
    mentions: Iterable[Mention],
    is_registered: Callable[[str], bool],
) -> tuple[UnregisteredName, ...]:
    """Return the names in the body of an article, each with its first sentence, at most MOST_NAMES.

    `mentions` are those of registered companies: names that overlap them are left out, as are those
    that `is_registered` knows.
    """
    words = _language(language or "")
    covered = [(mention.start, mention.end) for mention in mentions if mention.section == "body"]
    names: dict[str, UnregisteredName] = {}
    for start, end, name in _places(text, words):
        if name in names or any(start < last and first < end for first, last in covered):
            continue
        if is_registered(name) or is_registered(text[start:end]):
            continue
        first, last = sentence_around(text, start, end)
        names[name] = UnregisteredName(name, text[first:last].strip())
        if len(names) == MOST_NAMES:
            break
    return tuple(names.values())


def _places(text: str, words: _Language) -> Iterator[tuple[int, int, str]]:
    """Yield the places of names with a name that is none of many things: with the legal form, if
    it is one without it."""
    done = 0
    for number, start, end in words.automaton.find_matches_as_indexes(text)[:_MOST_PLACES]:
        if start < done or (end < len(text) and text[end].isalnum()):
            continue
        roles, span = words.roles[number], None
        is_inside = text[start].isalnum() and start and text[start - 1].isalnum()
        if "before" in roles and not is_inside:
            span = _checked(text, _behind(text, end), words, firm=True)
        if span is None and "form" in roles and not _FOLLOWED.match(text, end):
            span = _checked(text, _before(text, start), words, firm=True)
            if span is not None and span[0] >= done and _is_form(text, span, (start, end), roles):
                short = text[span[0] : span[1]]
                is_part = "last" in roles or _is_shared(short)
                yield span[0], end, text[span[0] : end] if is_part else short
                done = end
                continue
            span = None
        if span is None and "kind" in roles:
            span = _checked(text, _explained(text, start, end, words), words, firm=False)
        if span is not None and span[0] >= done:
            yield *span, text[span[0] : span[1]]
            done = span[1]


def _is_form(text: str, name: Span, form: Span, roles: frozenset[str]) -> bool:
    """Return whether a legal form is one behind this name: a short one or a word is so behind
    several words, or in a country that has it; in capitals it may be any word."""
    before, legal_form = text[slice(*name)], text[slice(*form)].strip()
    is_several = " " in before
    if "last" in roles:
        if name[1] != form[0]:
            return False
        return is_several or not (_is_shared(before) or _begins_sentence(text, name[0]))
    if text[name[1]] == "," and legal_form.isalpha() and len(legal_form) < _SHORT:
        return False
    if legal_form.isalpha() and legal_form.isupper() and before.isupper() and is_several:
        return False
    if legal_form.istitle() and len(legal_form) >= _BEGINNING and not is_several:
        return not _is_shared(before)
    return is_several or "home" in roles or not (legal_form.isalpha() and len(legal_form) <= _SHORT)


def _explained(text: str, start: int, end: int, words: _Language) -> Span | None:
    """Return the name beside a word that says what it is."""
    if words.is_joining:
        while start and (text[start - 1].isalnum() or text[start - 1] == "-"):
            start -= 1
    elif start and text[start - 1].isalnum():
        return None
    if words.is_following:
        span = _before(text, start) if text.endswith(" ", 0, start) else None
        return span if span and (span[0] and text[span[0] - 1] != "\n") else None
    begins = _begins_sentence(text, start)
    if text[start].isupper() and not begins and not words.determiners:
        return None
    adjective = words.adjectives and words.adjectives.match(text, end)
    place = adjective.end() - 1 if adjective else end
    following = text[place + 1 : place + 2]
    if text.startswith(" ", place) and following and (following.isupper() or following in _OPENING):
        if begins or not words.determiners or _has_determiner(text, start, words):
            return _behind(text, place)
        return None
    if words.explained is None or text.rfind(",", max(0, start - _REACH), start) < 0:
        return None
    explained = words.explained.search(text, max(0, start - _REACH), start)
    span = _before(text, explained.start()) if explained else None
    if span is None or " " in text[slice(*span)] or not _begins_sentence(text, span[0]):
        return span
    # "Meanwhile, a company ...": what is a name stands elsewhere, too.
    return span if text.count(text[slice(*span)]) > 1 else None


def _begins_sentence(text: str, start: int) -> bool:
    head = text[max(0, start - 3) : start].rstrip(" " + _OPENING)
    return not head or head[-1] in ".:!?\n•–"


def _has_determiner(text: str, start: int, words: _Language) -> bool:
    """Return whether an article stands before a word and its adjectives."""
    last = text[max(0, start - _REACH) : start].split()[-3:]
    return any(word.lower() in words.determiners for word in last)


def _behind(text: str, start: int) -> Span | None:
    """Return the capitalised words, or the words in quotes, behind a marker."""
    place = start + text.startswith(" ", start)
    quoted = _QUOTED.match(text, place)
    if quoted is not None:
        return _within(quoted)
    first = end = place
    for token in _TOKEN.finditer(text, place, place + _LONGEST):
        word = token[0].rstrip("./'’-")
        if token.start() > place:
            break
        if word[:1].isupper() or (end > first and word[:1].isdigit()):
            end = token.start() + len(word)
        elif word not in _JOINTS or end == first:
            break
        if 1 < len(word) < len(token[0]) or not text.startswith(" ", token.end()):
            break
        place = token.end() + 1
    return (first, end) if end > first else None


def _before(text: str, end: int) -> Span | None:
    """Return the capitalised words, or the words in quotes, before a marker."""
    if text[end - 1 : end] in _CLOSING or text[end - 2 : end - 1] in _CLOSING:
        quoted = _QUOTED_BEFORE.search(text, max(0, end - _LONGEST), end)
        if quoted is not None:
            return _within(quoted)
    begin = max(0, end - _LONGEST, text.rfind("\n", 0, end) + 1)
    place = end = len(text[begin:end].rstrip(" ,")) + begin
    first = end
    for _ in range(_MOST_WORDS):
        space = text.rfind(" ", begin, place)
        token = text[space + 1 if space >= 0 else begin : place]
        word = token.lstrip(_OPENING + "([")
        if not word or (first < end and word[-1] in ".,;:!?)" and len(word) > 2 and word != "Co."):
            break
        if word[0].isupper() or word[0].isdigit():
            first = place - len(word)
        elif word not in _JOINTS or first == end:
            break
        if word != token or space < 0:
            break
        place = space
    return (first, end) if first < end else None


def _within(quoted: re.Match[str]) -> Span:
    inner = quoted[1].strip()
    start = quoted.start(1) + quoted[1].index(inner)
    return start, start + len(inner)


def _checked(text: str, span: Span | None, words: _Language, *, firm: bool) -> Span | None:
    """Return the span without words that lead to a name; None if the rest is a person, a place, an
    institution or no name."""
    if span is None:
        return None
    vocabulary = load_vocabulary()
    start, end = span
    while True:
        first, _, following = text[start:end].partition(" ")
        low = first.lower()
        is_leading = low in words.leading or low in vocabulary.titles
        if not is_leading and low not in vocabulary.function_words:
            break
        if not following or not firm:
            return None
        start += len(first) + 1
    parts = text[start:end].split()
    words_alone, beginnings = words.institutions
    lows = [part.lower() for part in parts]
    if not parts or not parts[0][0].isupper() or _NO_NAME.search(text, start, end):
        return None
    if any(low in words_alone or low.startswith(beginnings) for low in lows):
        return None
    if not firm and (
        parts[0] in vocabulary.given_names
        or lows[0] in vocabulary.after[ANY]
        or lows[0] in vocabulary.places
        or (len(parts) == 1 and lows[0] in vocabulary.shared_names)
    ):
        return None
    return start, end


def _is_shared(name: str) -> bool:
    return is_doubtful(name, load_vocabulary())


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, list[str]]]:
    content = files(__package__).joinpath("kinds.toml").read_text(encoding="utf-8")
    return {
        name: {
            language: [word.strip() for word in words.replace("\n", " ").split(",") if word.strip()]
            for languages, words in table.items()
            for language in languages.split()
        }
        for name, table in tomllib.loads(content).items()
    }


@lru_cache(maxsize=64)
def _language(language: str) -> _Language:
    """Return the markers of a language; one that is not known has legal forms alone."""
    tables, vocabulary = _tables(), load_vocabulary()
    kinds = tables["kinds"].get(language, [])
    roles: dict[str, set[str]] = {}
    for role, forms_by_country in (
        ("form", vocabulary.registered_forms),
        ("before", vocabulary.registered_forms_before),
    ):
        for country, forms in forms_by_country.items():
            if country == ANY or language in HOME_LANGUAGES.get(country, ()):
                for form in forms:
                    for marker in (f" {form}", form)[: 1 + (role == "before")]:
                        added = {role} if country == ANY else {role, "home"}
                        roles.setdefault(marker, set()).update(added)
    for form in vocabulary.legal_forms:
        roles.setdefault(f" {form}", set()).add("form")
    for word in (*tables["last_words"][ANY], *tables["last_words"].get(language, ())):
        roles.setdefault(f" {word}", set()).update({"form", "last"})
    for form in tables["unsure_forms"][ANY]:
        roles.get(f" {form}", set()).discard("form")
    for kind in kinds:
        for spelling in (kind, kind[0].upper() + kind[1:]):
            roles.setdefault(spelling, set()).add("kind")
    beginnings = tables["institutions"][ANY]
    behind_comma = _one_of(tables["behind_comma"].get(language, []))
    adjectives = _one_of(tables["adjectives"].get(language, []))
    has_capitals = language in tables["capitalised_nouns"]["languages"]
    return _Language(
        automaton=AhoCorasick(list(roles), matchkind=MatchKind.LeftmostLongest),
        roles=[frozenset(each) for each in roles.values()],
        leading=frozenset((*kinds, *tables["leading"].get(language, ()))).union(
            vocabulary.articles.get(language, ())
        ),
        institutions=(
            frozenset(word for word in beginnings if len(word) < _BEGINNING),
            tuple(word for word in beginnings if len(word) >= _BEGINNING),
        ),
        is_joining=language in tables["joining"]["languages"],
        is_following=language in tables["following"]["languages"],
        determiners=frozenset(tables["capitalised_nouns"]["before"] if has_capitals else ()),
        explained=re.compile(rf", {behind_comma}['’ ]+(?:[\w-]+ ){{0,3}}[\w-]*$")
        if behind_comma
        else None,
        adjectives=re.compile(f" {adjectives} ") if adjectives else None,
    )


def _one_of(words: Iterable[str]) -> str:
    alternatives = "|".join(map(re.escape, words))
    return alternatives and f"(?:{alternatives})"
