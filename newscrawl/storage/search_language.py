"""The language of searches and saved queries: parsed once, evaluated by one function, and compiled
for the full-text index of each database.

    (strike OR Streik) NEAR/10 (rail OR Bahn) NOT football

The index only narrows the articles down; where it can't express a query (a distance, a field, a
filter), `evaluate` decides. Both databases therefore find the same articles.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Literal

import pyparsing as pp

from newscrawl.items import UNKNOWN, Section
from newscrawl.storage import QuestionError
from newscrawl.storage.words import MAX_INDEXED, folded_words, places_of_words

# Ours: each word costs a lookup in the index, each level of parentheses a few calls, and a query
# of this length fills half a screen.
MAX_WORDS = 100
MAX_DEPTH = 8
MAX_LENGTH = 2_000
# Ours: the words between the two sides of NEAR, by default about a sentence, and at most a
# paragraph.
NEAR_WORDS = 10
MAX_NEAR_WORDS = 100

FilterName = Literal["language", "source", "country"]
FIELDS: Mapping[str, Section] = {"title": "title", "text": "body"}
FILTERS: tuple[FilterName, ...] = ("language", "source", "country")
_CODES: Mapping[str, str] = {
    "language": "[a-z]{2,3}|unknown",
    "country": "[a-z]{2}",
    "source": ".+",
}
_SECTIONS: tuple[Section, ...] = ("title", "body")


class QuerySyntaxError(QuestionError):
    """A query that can't be read. `place` is the position of the fault in `text`."""

    def __init__(self, fault: str, text: str, place: int) -> None:
        super().__init__(f"{fault} (character {place + 1} of the query)")
        self.text = text
        self.place = place

    @property
    def pointer(self) -> str:
        """Return the part of the query around the fault, with a caret below it."""
        start = max(0, self.place - 40)
        return f"{self.text[start : start + 76]}\n{' ' * (self.place - start)}^"


@dataclass(frozen=True, slots=True)
class Term:
    """Consecutive folded words; with `prefix` the last one is the beginning of a word. `written` is
    the query's own spelling."""

    words: tuple[str, ...]
    prefix: bool = False
    section: Section | None = None
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Near:
    """Both parts in one section, with at most `distance` words between them, in any order."""

    parts: tuple["Node", "Node"]
    distance: int


@dataclass(frozen=True, slots=True)
class And:
    """Articles that match all of the parts."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Articles that match one or more of the parts."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Without:
    """Articles that match the first part, and not the second."""

    parts: tuple["Node", "Node"]


@dataclass(frozen=True, slots=True)
class Filter:
    """Articles in a language, of a source, or of a source's country. The filter goes from `place`
    to `end` of the query, where its value, or several with commas, is `as_written`."""

    name: FilterName
    value: str
    place: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    as_written: str = field(default="", compare=False)


Node = Term | Near | And | Or | Without | Filter


# --- Parsing ---


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a query that was read: None for one without a word, such as "&". `open_or` is the
    place of an OR in it that no parentheses enclose."""

    node: Node | None
    place: int
    open_or: int | None = None


_FOLDED_SIGNS = str.maketrans("“”„«»（）", '"""""()')
_VALUE = r'"[^"]*"|[^\s"()]+'
_OPERATOR = re.compile(r"(?:AND|OR|NOT|NEAR(?:/[0-9]+)?)(?![^\s()\"])")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
# A Korean word, whose particles are written without a blank: it finds its forms with them. Ours: a
# syllable alone begins too many other words.
_KOREAN = re.compile("[\uac00-\ud7a3]{2,}")
_PREFIXED = re.compile(r"([^\W\d_]+):")


# A request reads its query several times: for its filters, its words, its preview.
@lru_cache(maxsize=8)
def parse_query(text: str) -> Node:
    """Return what a query means; raise QuerySyntaxError with the place of a fault.

    Words side by side must all occur, in any order. A word of several tokens ("Coca-Cola", all of
    Chinese) is a phrase.
    """
    if len(text) > MAX_LENGTH:
        fault = f"a query of over {MAX_LENGTH:,} characters: split it into several"
        raise QuerySyntaxError(fault, text, MAX_LENGTH)
    # Plain blanks and signs, of equal length so that places stay the same.
    plain = re.sub(r"\s", " ", text).translate(_FOLDED_SIGNS)
    if control := _CONTROL.search(plain):
        raise QuerySyntaxError("a control character: leave it out", plain, control.start())
    _check_parentheses(plain)
    try:
        part: _Part = _grammar().parse_string(plain, parse_all=True)[0]
    except pp.ParseBaseException as error:
        raise _syntax_error(plain, error.loc) from error
    if part.node is None:
        raise _empty_error(plain)
    if not _needs_word(part.node):
        fault = "a part of this query has a filter without a word: add a word to each filter"
        raise QuerySyntaxError(fault, plain, 0)
    leaves = _leaves(part.node)
    if sum(len(leaf.words) for leaf in leaves if isinstance(leaf, Term)) > MAX_WORDS:
        fault = f"more than {MAX_WORDS} words to search for: leave some out"
        raise QuerySyntaxError(fault, plain, len(plain))
    return part.node


def _check_parentheses(text: str) -> None:
    """Raise QuerySyntaxError for parentheses that are too deep or have no counterpart, or for an
    odd quotation mark."""
    opened: list[int] = []
    quoted: int | None = None
    for place, sign in enumerate(text):
        if sign == '"':
            quoted = place if quoted is None else None
        elif quoted is None and sign == "(":
            opened.append(place)
            if len(opened) > MAX_DEPTH:
                fault = f"more than {MAX_DEPTH} parentheses within each other: use fewer"
                raise QuerySyntaxError(fault, text, place)
        elif quoted is None and sign == ")":
            if not opened:
                raise QuerySyntaxError("this parenthesis was never opened: write (", text, place)
            opened.pop()
    if quoted is not None:
        raise QuerySyntaxError('this quotation mark is never closed: write "', text, quoted)
    if opened:
        raise QuerySyntaxError("this parenthesis is never closed: write )", text, opened[-1])


@cache
def _grammar() -> pp.ParserElement:
    """Return the grammar. Each choice is decided by the next token, so that the time is linear."""
    word = ~pp.Regex(_OPERATOR) + pp.Regex(r'[^\s"()]+')
    phrase = pp.Regex(r'"[^"]*"\*?')
    minus = pp.Regex(r"-(?=[^\s)-])")
    field = pp.Regex(rf"(?i:{'|'.join(FIELDS)}):")
    filtering = pp.Regex(rf"(?i:{'|'.join(FILTERS)}):")
    value = pp.Regex(_VALUE)
    query = pp.Forward()
    group = pp.Suppress("(") - query - pp.Suppress(")")
    simple = phrase.set_parse_action(_read_term) | group | word.set_parse_action(_read_term)
    operand = (
        (field - simple).set_parse_action(_read_field)
        | (filtering - value).set_parse_action(_read_filter)
        | simple
    )
    alternatives = _chain(operand, _operator("OR")).set_parse_action(_read_or)
    near = _chain(alternatives, _operator(r"NEAR(?:/[0-9]+)?")).set_parse_action(_read_near)
    negated = minus - operand
    joined = _operator("AND") - (_operator("NOT") - near | near) | _operator("NOT") - near
    _ = query << ((negated | near) + (negated | joined | near)[...]).set_parse_action(_read_and)
    query.streamline()
    return query


def _operator(pattern: str) -> pp.ParserElement:
    return pp.Regex(rf"{pattern}(?![^\s()\"])").set_parse_action(
        lambda _text, place, tokens: [(tokens[0], place)]
    )


def _chain(operand: pp.ParserElement, operator: pp.ParserElement) -> pp.ParserElement:
    chain: pp.ParserElement = operand + (operator - operand)[...]
    return chain


def _empty_error(text: str) -> QuerySyntaxError:
    fault = f'nothing to search for in {text!r}: write words, or a "phrase" in quotation marks'
    return QuerySyntaxError(fault, text, 0)


def _syntax_error(text: str, place: int) -> QuerySyntaxError:
    """Return the error for a place at which the grammar expects something else."""
    if not text.strip():
        return _empty_error(text)
    place = _after_blanks(text, place)
    place = place if place < len(text) else len(text.rstrip())
    if operator := _OPERATOR.match(text, place):
        fault = (
            f'a word is missing before {operator[0]}: write "{operator[0]}" in quotation marks if '
        )
        return QuerySyntaxError(f"{fault}you search for that word", text, place)
    before = text[:place].split()
    after = f" {before[-1]}" if before else ""
    fault = f'a word, a "phrase" or (words) must follow{after}'
    if before and before[-1].lower().rstrip(":") in FILTERS:
        fault = f"a name must follow{after}, or several with commas, as in language:de,fr"
    return QuerySyntaxError(fault if before else "a word is missing: write one", text, place)


def _part(node: Node | None, text: str, place: int, open_or: int | None = None) -> _Part:
    """Return a part at its first character: the grammar counts from the blanks before it."""
    return _Part(node, _after_blanks(text, place), open_or)


def _after_blanks(text: str, place: int) -> int:
    return place + len(text[place:]) - len(text[place:].lstrip())


def _read_term(text: str, place: int, tokens: Any) -> _Part:
    """Read a word or a phrase."""
    term = tokens[0]
    if prefixed := _PREFIXED.match(term):
        names = ", ".join(f"{name}:" for name in (*FIELDS, *FILTERS))
        fault = f'unknown field {prefixed[0]} (write {names} or "{term}" in quotation marks)'
        raise QuerySyntaxError(fault, text, _after_blanks(text, place))
    words = tuple(folded_words(term))
    prefix = term.endswith("*") or bool(words and _KOREAN.fullmatch(words[-1]))
    return _part(Term(words, prefix, written=term) if words else None, text, place)


def _read_field(text: str, place: int, tokens: Any) -> _Part:
    name, part = tokens[0][:-1].lower(), tokens[1]
    return _part(_in_section(_word_of(part, text), FIELDS[name]), text, place)


def _read_filter(text: str, place: int, tokens: Any) -> _Part:
    name, begin = tokens[0][:-1].lower(), _after_blanks(text, place)
    values = [value for value in re.split(r"[,\s]+", tokens[1].strip('"').lower()) if value]
    if not values:
        fault = f"{name}: takes one name, or several with commas: write them after it"
        raise QuerySyntaxError(fault, text, begin)
    if wrong := next((value for value in values if not re.fullmatch(_CODES[name], value)), None):
        fault = f"{name}:{wrong} is not a code: write one as in language:de, country:gb"
        raise QuerySyntaxError(fault, text, begin)
    end = text.index(tokens[1], begin + len(tokens[0])) + len(tokens[1])
    place_and_text = begin, end, tokens[1].strip('" ')
    filters: tuple[Node, ...] = tuple(Filter(name, value, *place_and_text) for value in values)
    return _part(filters[0] if len(filters) == 1 else Or(filters), text, place)


def _in_section(node: Node, section: Section) -> Node:
    """Return the node with those of its words in a section that have none yet."""
    match node:
        case Term():
            return node if node.section else replace(node, section=section)
        case Filter():
            return node
    parts: Any = tuple(_in_section(part, section) for part in node.parts)
    return replace(node, parts=parts)


def _read_or(text: str, place: int, tokens: Any) -> _Part:
    parts, operators = list(tokens[::2]), list(tokens[1::2])
    if not operators:
        return parts[0]  # type: ignore[no-any-return]
    nodes = [_word_of(part, text) for part in parts]
    flat = tuple(n for node in nodes for n in (node.parts if isinstance(node, Or) else (node,)))
    return _part(Or(flat), text, place, operators[0][1])


def _read_near(text: str, place: int, tokens: Any) -> _Part:
    parts, operators = list(tokens[::2]), list(tokens[1::2])
    if not operators:
        return parts[0]  # type: ignore[no-any-return]
    for part in parts:
        _check_enclosed(part, text)
        if not _is_of_words(_word_of(part, text)):
            fault = "NEAR belongs between words, phrases, or words joined by OR: split the query"
            raise QuerySyntaxError(fault, text, part.place)
    node = _word_of(parts[0], text)
    for (operator, at), part in zip(operators, parts[1:], strict=True):
        distance = int(operator.partition("/")[2] or NEAR_WORDS) if len(operator) < 10 else -1
        if not 1 <= distance <= MAX_NEAR_WORDS:
            fault = f"{operator[:20]}: write a number of words from 1 to {MAX_NEAR_WORDS}"
            raise QuerySyntaxError(fault, text, at)
        node = Near((node, _word_of(part, text)), distance)
    return _part(node, text, place)


def _read_and(text: str, place: int, tokens: Any) -> _Part:
    included: list[_Part] = []
    excluded: list[_Part] = []
    has_operator = any(isinstance(item, tuple) for item in tokens)
    negated = False
    for item in tokens:
        if not isinstance(item, _Part):
            negated = item == "-" or item[0] == "NOT"
            continue
        if has_operator:
            _check_enclosed(item, text)
            _word_of(item, text)
        (excluded if negated else included).append(item)
        negated = False
    nodes = [part.node for part in included if part.node is not None]
    if not nodes:
        return _part(None, text, place)
    node = nodes[0] if len(nodes) == 1 else And(tuple(nodes))
    refused = tuple(part.node for part in excluded if part.node is not None)
    if refused:
        node = Without((node, refused[0] if len(refused) == 1 else Or(refused)))
    return _part(node, text, place)


def _check_enclosed(part: _Part, text: str) -> None:
    if part.open_or is not None:
        fault = "OR together with AND, NOT or NEAR is ambiguous: write (a OR b) in parentheses"
        raise QuerySyntaxError(fault, text, part.open_or)


def _word_of(part: _Part, text: str) -> Node:
    if part.node is None:
        word = text[part.place :].split(" ", 1)[0]
        fault = f"no word in {word}: write one, or leave it out"
        raise QuerySyntaxError(fault, text, part.place)
    return part.node


def _is_of_words(node: Node) -> bool:
    """Return whether a node is words, phrases, or alternatives of them."""
    match node:
        case Term() | Near():
            return True
        case Or():
            return all(map(_is_of_words, node.parts))
    return False


def _needs_word(node: Node) -> bool:
    """Return whether each article that matches has a word that is searched for."""
    match node:
        case Term() | Near():
            return True
        case And():
            return any(map(_needs_word, node.parts))
        case Or():
            return all(map(_needs_word, node.parts))
        case Without():
            return _needs_word(node.parts[0])
    return False


def _leaves(node: Node) -> Iterator[Term | Filter]:
    """Yield the words and the filters in a query."""
    if isinstance(node, Term | Filter):
        yield node
    else:
        for part in node.parts:
            yield from _leaves(part)


def filters_of(node: Node) -> Iterator[Filter]:
    """Yield the filters in a query."""
    return (leaf for leaf in _leaves(node) if isinstance(leaf, Filter))


def parts_of(node: Node) -> Iterator[Node]:
    """Yield the parts of a query that each article must match, those with words."""
    match node:
        case Term() | Or():
            yield node
        case Near() | And():
            for part in node.parts:
                yield from parts_of(part)
        case Without():
            yield from parts_of(node.parts[0])


def query_text(node: Node) -> str:
    """Return a part of a query as it can be written."""
    match node:
        case Term():
            field = next((name for name, section in FIELDS.items() if section == node.section), "")
            return f"{field}:{node.written}" if field else node.written
        case Filter():
            return f"{node.name}:{node.value}"
        case Near():
            return f" NEAR/{node.distance} ".join(map(query_text, node.parts))
        case And():
            return f"({' '.join(map(query_text, node.parts))})"
        case Or():
            return f"({' OR '.join(map(query_text, node.parts))})"
        case Without():
            return f"({' NOT '.join(map(query_text, node.parts))})"


# --- Evaluation ---

# A place of words that matched: section, and the positions of the first and last word in it.
Hit = tuple[Section, int, int]


@dataclass(frozen=True, slots=True)
class Facts:
    """What filters ask for; the language becomes "unknown" if the article gives none."""

    language: str | None
    source: str
    country: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", self.language or UNKNOWN)


class SearchedArticle:
    """The folded words of an article, in a long one those of the index, and its facts."""

    def __init__(self, title: Sequence[str], body: Sequence[str], facts: Facts) -> None:
        self.facts = facts
        self._places: dict[Section, dict[str, list[int]]] = {}
        title = title[:MAX_INDEXED]
        body = body[: MAX_INDEXED - len(title)]
        for section, words in zip(_SECTIONS, (title, body), strict=True):
            places = self._places.setdefault(section, {})
            for place, word in enumerate(words):
                places.setdefault(word, []).append(place)
        self._words = self._places["title"].keys() | self._places["body"].keys()

    def may_match(self, needed: Iterable[frozenset[str]]) -> bool:
        """Return whether the article has one of the words of each set (`needed_words`)."""
        return not any(map(self._words.isdisjoint, needed))

    def hits(self, term: Term) -> set[Hit]:
        """Return the places of a term."""
        sections = _SECTIONS if term.section is None else (term.section,)
        return {
            (section, first, first + len(term.words) - 1)
            for section in sections
            for first in self._firsts(term, self._places[section])
        }

    @staticmethod
    def _firsts(term: Term, places: Mapping[str, Sequence[int]]) -> set[int]:
        """Return the positions of the first words of a term."""
        firsts: set[int] | None = None
        last = len(term.words) - 1
        for shift, word in enumerate(term.words):
            if shift == last and term.prefix:
                beginnings = (at for longer, at in places.items() if longer.startswith(word))
                starts = {place - shift for at in beginnings for place in at}
            else:
                starts = {place - shift for place in places.get(word, ())}
            firsts = starts if firsts is None else firsts & starts
            if not firsts:
                return set()
        return firsts or set()


def evaluate(node: Node, article: SearchedArticle) -> set[Hit] | None:
    """Return the places of the words for which an article matches; None if it doesn't."""
    match node:
        case Term():
            return article.hits(node) or None
        case Filter():
            return set() if getattr(article.facts, node.name) == node.value else None
        case Near():
            first = evaluate(node.parts[0], article)
            second = first and evaluate(node.parts[1], article)
            if not first or not second:
                return None
            return (
                _beside(first, second, node.distance) | _beside(second, first, node.distance)
            ) or None
        case And():
            of_all: set[Hit] = set()
            for part in node.parts:
                of_part = evaluate(part, article)
                if of_part is None:
                    return None
                of_all |= of_part
            return of_all
        case Or():
            alternatives = [
                hits for part in node.parts if (hits := evaluate(part, article)) is not None
            ]
            return set().union(*alternatives) if alternatives else None
        case Without():
            hits = evaluate(node.parts[0], article)
            return None if hits is None or evaluate(node.parts[1], article) is not None else hits


def needed_words(node: Node) -> tuple[frozenset[str], ...]:
    """Return sets of words: a matching article has a word of each set. Most articles are excluded
    by this test alone."""
    match node:
        case Term():
            words = node.words[:-1] if node.prefix else node.words
            return tuple(frozenset([word]) for word in words)
        case Near() | And():
            return tuple(words for part in node.parts for words in needed_words(part))
        case Or():
            needed = [needed_words(part) for part in node.parts]
            return (frozenset().union(*(words[0] for words in needed)),) if all(needed) else ()
        case Without():
            return needed_words(node.parts[0])
    return ()


def spans(node: Node, title: str, text: str, facts: Facts) -> dict[Section, list[tuple[int, int]]]:
    """Return the places in headline and text of the words for which an article matches."""
    texts: dict[Section, str] = {"title": title, "body": text}
    article = SearchedArticle(folded_words(title), folded_words(text), facts)
    hits = sorted(evaluate(node, article) or ())
    places = {
        section: places_of_words(texts[section]) for section in {section for section, *_ in hits}
    }
    marks: dict[Section, list[tuple[int, int]]] = {section: [] for section in _SECTIONS}
    for section, first, last in hits:
        marks[section].append((places[section][first][0], places[section][last][1]))
    return marks


def _beside(hits: set[Hit], neighbours: set[Hit], distance: int) -> set[Hit]:
    """Return the hits that have one of the others within a distance, without sharing a word."""
    starts = {
        section: sorted(at for where, at, _ in neighbours if where == section)
        for section in _SECTIONS
    }
    ends = {
        section: sorted(at for where, _, at in neighbours if where == section)
        for section in _SECTIONS
    }
    near = set()
    for section, first, last in hits:
        after = bisect_right(starts[section], last)
        before = bisect_left(ends[section], first) - 1
        if (after < len(starts[section]) and starts[section][after] - last - 1 <= distance) or (
            before >= 0 and first - ends[section][before] - 1 <= distance
        ):
            near.add((section, first, last))
    return near


# --- Compilation ---


def is_exact(node: Node) -> bool:
    """Return whether an index of words without sections decides a query."""
    match node:
        case Term():
            return node.section is None
        case And() | Or() | Without():
            return all(map(is_exact, node.parts))
    return False


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How an index writes a term, and its words for AND, OR and NOT. Without `excludes`, unwanted
    words are ignored: the index finds more, and `evaluate` decides."""

    term: Callable[[Term], str]
    every: str
    some: str
    without: str
    excludes: bool

    def joined(self, parts: Sequence[Node], sign: str) -> str:
        return sign.join(f"({compiled})" for part in parts if (compiled := self.compile_node(part)))

    def compile_node(self, node: Node) -> str:
        """Return a query that finds each article that matches the node; "" for a filter, which the
        index can't express."""
        text = ""
        match node:
            case Term():
                text = self.term(node)
            case Near() | And() | Or():
                text = self.joined(node.parts, self.some if isinstance(node, Or) else self.every)
            case Without():
                included, excluded = map(self.compile_node, node.parts)
                text = f"({included})" + (f"{self.without}({excluded})" if self.excludes else "")
        return text


def for_sqlite(node: Node) -> str:
    """Return the query in FTS5's language, as far as the index can decide it."""
    return _Dialect(
        lambda term: f'"{" ".join(term.words)}"{" *" if term.prefix else ""}',
        " AND ",
        " OR ",
        " NOT ",
        is_exact(node),
    ).compile_node(node)


def for_postgres(node: Node) -> str:
    """Return the query as the text of a tsquery, as far as the index can decide it."""
    # PostgreSQL stores only the first 256 positions of a word, and would miss later phrases: where
    # the texts are read afterwards, the order of a term's words is left to that.
    exact = is_exact(node)
    between = " <-> " if exact else " & "

    def lexemes(term: Term) -> str:
        return between.join(f"'{word}'" for word in term.words) + (":*" if term.prefix else "")

    return _Dialect(lexemes, " & ", " | ", " & !", exact).compile_node(node)
