"""What speaks for and against each block, as numbers, for the combined method.

Evidence of the block itself (the eight features and counts), of CETR at its place, of the
element tree above it, of class and id words, and of the page as a whole. Neighbours are the
model's business.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborNode

from newscrawl.extraction import cetr
from newscrawl.extraction.blocks import LAST_KNOWN_TAG, BlockPage, clean
from newscrawl.extraction.features import Features
from newscrawl.extraction.profiles import tag_id
from newscrawl.extraction.tokens import Char

FloatArray = NDArray[np.float64]

ANCESTORS: Final = 5  # enclosing elements whose text is weighed, the block's own first
ANCESTORS_NAMED: Final = 8  # enclosing elements whose names are read, the block's own first
OPENING_WORDS: Final = 12
MOST_HINTS: Final = 10  # words of an element's names
SHORT, LONG = "<short>", "<long>"

# Elements whose meaning HTML gives; a flag for each says whether the block stands inside one.
LANDMARKS: Final = tuple(
    "article main header footer nav aside section form figure figcaption table ul ol dl"  # noqa: SIM905
    " blockquote noscript details dialog".split()
)
# Elements that can open a block; what is not named counts as the last.
OPENERS: Final = tuple(
    "p div li td th h1 h2 h3 h4 h5 h6 blockquote figcaption section article header footer"  # noqa: SIM905
    " nav aside main form table pre dd dt body address caption summary button".split()
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the n blocks of a page, in document order.

    `values[i, k]` is evidence `names[k]` of block i; `openers[i]` indexes `OPENERS`.
    `paths[i]` are the `ANCESTORS_NAMED` elements around block i, its own first, as rows of
    `hints` and `tags`; row 0 is no element. `hints[e]` are the words that name element e
    (class, id, itemprop, role, hidden), `tags[e]` its tag number plus 1. `words` are the words
    that the blocks open with and a word for each block's length, one block's after the other's;
    `word_counts[i]` are block i's.
    """

    names: tuple[str, ...]
    values: FloatArray
    openers: NDArray[np.int64]
    paths: NDArray[np.int64]
    hints: list[tuple[str, ...]]
    tags: NDArray[np.int64]
    words: list[str]
    word_counts: NDArray[np.int64]

    @property
    def is_title(self) -> NDArray[np.bool_]:
        """Which blocks say the headline and nothing else."""
        return np.asarray(self.values[:, self.names.index("is_title")] > 0)

    def bags(self) -> list[list[str]]:
        """The words of each block."""
        ends = np.cumsum(self.word_counts).tolist()
        return [self.words[start:end] for start, end in pairwise([0, *ends])]


def gather(page: BlockPage, features: Features, title: str | None) -> Evidence:
    """All evidence for all blocks of a page; `title` is its headline, where known."""
    columns: dict[str, FloatArray] = {}
    columns |= _of_block(page, features)
    columns |= _of_ratios(page, features)
    columns |= _of_tree(page, features)
    columns |= _of_page(page, features, title)
    paths, elements = _paths(page)
    words, word_counts = _openings(features)
    return Evidence(
        names=tuple(columns),
        values=np.stack(list(columns.values()), axis=1),
        openers=_opener_numbers(page),
        paths=paths,
        hints=[(), *(_hints(page.elements.nodes[element]) for element in elements.tolist())],
        tags=np.concatenate(([0], page.elements.tags[elements] + 1)),
        words=words,
        word_counts=word_counts,
    )


def _openings(features: Features) -> tuple[list[str], NDArray[np.int64]]:
    tokens = features.tokens
    places, counts = tokens.openings(OPENING_WORDS)
    lengths = len(tokens.listed) + (tokens.words <= OPENING_WORDS)
    listed = [*tokens.listed, LONG, SHORT]
    with_lengths = np.insert(places, np.cumsum(counts), lengths)
    return [listed[place] for place in with_lengths.tolist()], counts + 1


def _paths(page: BlockPage) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each block the rows of the elements around it, and which elements the rows are."""
    parents = np.append(page.elements.parents, -1)  # the root's parent stays "none"
    steps = [page.owners.astype(np.int64)]
    for _ in range(ANCESTORS_NAMED - 1):
        steps.append(parents[steps[-1]])
    around = np.stack(steps, axis=1)
    elements, rows = np.unique(around, return_inverse=True)
    named = elements[elements >= 0]
    missing = len(elements) - len(named)  # -1, if there, sorts first
    return rows.reshape(around.shape) + 1 - missing, named


def _hints(node: LexborNode) -> tuple[str, ...]:
    """The words of an element's names: "articleBody--main_2" gives article, body, main."""
    attributes = node.attributes
    if not attributes:
        return ()
    get = attributes.get
    words = _words_of(get("class") or "")
    if not _MORE_NAMES.isdisjoint(attributes):
        return _more_words(words, attributes)
    return words


def _more_words(words: tuple[str, ...], attributes: dict[str, str | None]) -> tuple[str, ...]:
    get = attributes.get
    if identity := get("id"):
        words += _words_of(identity)
    if itemprop := get("itemprop"):
        words += (f"p:{itemprop.lower()}",)
    if role := get("role"):
        words += (f"r:{role.lower()}",)
    style = get("style")
    if (
        "hidden" in attributes
        or get("aria-hidden") == "true"
        or (style and "display:none" in style.replace(" ", ""))
    ):
        words += ("hidden",)
    return tuple(dict.fromkeys(words))[:MOST_HINTS]


@lru_cache(maxsize=8192)
def _words_of(name: str) -> tuple[str, ...]:
    words = dict.fromkeys(f"c:{word.lower()}" for word in _HINT.findall(name[:300]))
    return tuple(words)[:MOST_HINTS]


_MORE_NAMES: Final = frozenset(("id", "itemprop", "role", "hidden", "aria-hidden", "style"))
_HINT: Final = re.compile(r"[a-z]{2,}|[A-Z][a-z]+")


def _log(values: NDArray[Any]) -> FloatArray:
    return np.asarray(np.log1p(np.maximum(values, 0)), dtype=np.float64)


def _of_block(page: BlockPage, features: Features) -> dict[str, FloatArray]:
    tokens, values = features.tokens, features.values
    chars = tokens.chars
    visible = np.maximum(chars.sum(axis=1) - chars[:, Char.MARK], 1)
    words = np.maximum(tokens.words, 1)
    texts = [raw.rstrip("\x03\x02 \"'”»’)") for raw in page.raw]
    main_language = int(tokens.stop_words.sum(axis=0).argmax()) if len(page) else 0
    return {
        "words": _log(tokens.words),
        "unlinked_words": _log(tokens.words - tokens.linked),
        "chars": _log(visible),
        "sentence_length": _log(values[:, 0]),
        "sentences": _log(chars[:, Char.SENTENCE_END]),
        "characters": values[:, 2],
        "stop_words": values[:, 3],
        "stop_words_of_page": tokens.stop_words[:, main_language] / words,
        "anchors": values[:, 4],
        "formats": np.minimum(values[:, 5], 2.0),
        "lists": np.minimum(values[:, 6], 2.0),
        "structure": np.minimum(values[:, 7], 2.0),
        "capitals": chars[:, Char.CAPITAL] / visible,
        "digits": chars[:, Char.DIGIT] / visible,
        "commas": chars[:, Char.COMMA] / words,
        "quotes": chars[:, Char.QUOTE] / words,
        "separators": chars[:, Char.SEPARATOR] / words,
        "others": chars[:, Char.OTHER] / words,
        "word_length": tokens.letters_in_words / words,
        "ends_sentence": np.array([text[-1:] in _ENDS for text in texts], dtype=np.float64),
        "ends_colon": np.array([text[-1:] in _COLONS for text in texts], dtype=np.float64),
        "after_break": page.breaks.astype(np.float64),
        "images": np.minimum(page.images, 3).astype(np.float64),
    }


_ENDS: Final = frozenset(".!?…。！？;।")
_COLONS: Final = frozenset(":：")


def _of_ratios(page: BlockPage, features: Features) -> dict[str, FloatArray]:
    """CETR with blocks in the place of lines."""
    chars = features.tokens.chars
    ratios = (chars.sum(axis=1) - chars[:, Char.MARK]) / np.maximum(page.tags, 1)
    smoothed = cetr.smooth(ratios)
    derivative = cetr.derivatives(smoothed)
    deviation = float(ratios.std()) or 1.0 if len(ratios) else 1.0
    return {
        "tags": _log(page.tags),
        "ratio": _log(ratios),
        "smoothed": _log(smoothed),
        "smoothed_over_deviation": np.minimum(smoothed / deviation, 5.0),
        "derivative": _log(derivative),
    }


def _of_tree(page: BlockPage, features: Features) -> dict[str, FloatArray]:
    elements = page.elements
    tokens = features.tokens
    size = len(elements.tags)
    unlinked = (tokens.words - tokens.linked).astype(np.float64)
    prose = unlinked * (tokens.chars[:, Char.SENTENCE_END] > 0) * (features.values[:, 4] < 0.5)
    columns = np.stack((tokens.words, tokens.linked, prose, np.ones(len(page))), axis=1)
    below = np.zeros((size, 4))
    np.add.at(below, page.owners, columns)
    levels = _levels(page)
    for level in reversed(levels[1:]):
        np.add.at(below, elements.parents[level], below[level])
    total = np.maximum(below[0], 1.0)
    result: dict[str, FloatArray] = {"depth": _log(elements.depths[page.owners])}
    where = page.owners
    for step in range(ANCESTORS):
        words, linked, mass, blocks = below[where].T
        result[f"prose_share_{step}"] = mass / total[2]
        result[f"link_share_{step}"] = linked / np.maximum(words, 1.0)
        result[f"prose_per_block_{step}"] = _log(mass / np.maximum(blocks, 1.0))
        result[f"blocks_{step}"] = _log(blocks)
        where = np.maximum(elements.parents[where], 0)
    parent = np.maximum(elements.parents[page.owners], 0)
    for name, keys in (
        ("same_place", elements.tags[page.owners] * 4096 + elements.depths[page.owners]),
        ("same_parent", parent),
    ):
        _, groups = np.unique(keys, return_inverse=True)
        result[name] = np.bincount(groups, weights=prose)[groups] / total[2] if len(page) else prose
    return result | _landmarks(page, levels)


@cache
def _landmark_bits() -> NDArray[np.int64]:
    """For each tag number a bit for the landmark it is; unknown elements are none."""
    table = np.zeros(LAST_KNOWN_TAG + 2, dtype=np.int64)
    for position, name in enumerate(LANDMARKS):
        table[tag_id(name)] = 1 << position
    return table


def _landmarks(page: BlockPage, levels: list[NDArray[np.int64]]) -> dict[str, FloatArray]:
    elements = page.elements
    bits = _landmark_bits()[elements.tags]
    for level in levels[1:]:
        bits[level] |= bits[elements.parents[level]]
    flags = (bits[page.owners, None] >> np.arange(len(LANDMARKS)) & 1).astype(np.float64)
    return {f"in_{name}": flags[:, position] for position, name in enumerate(LANDMARKS)}


def _levels(page: BlockPage) -> list[NDArray[np.int64]]:
    """The elements of each depth, the root's first."""
    depths = page.elements.depths
    order = np.argsort(depths, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depths[order])) + 1)


def _of_page(page: BlockPage, features: Features, title: str | None) -> dict[str, FloatArray]:
    count = len(page)
    place = np.arange(count)
    words = features.tokens.words.astype(np.float64)
    before = np.cumsum(words) - words
    headline = _headline(page, title)
    seen: dict[str, int] = {}
    for text in page.raw:
        seen[text] = seen.get(text, 0) + 1
    repeated = np.array([seen[text] for text in page.raw], dtype=np.float64)
    ones = np.ones(count)
    unlinked = float((features.tokens.words - features.tokens.linked).sum())
    return {
        "place": place / max(count, 1),
        "words_before": before / max(words.sum(), 1.0),
        "repeated": np.minimum(repeated - 1, 3),
        "is_title": headline.same.astype(np.float64),
        "from_headline": np.clip(place - headline.place, -50, 50) / 10.0,
        "after_headline": (place > headline.place).astype(np.float64),
        "has_headline": ones * (headline.place >= 0),
        "page_words": ones * np.log1p(words.sum()),
        "page_blocks": ones * np.log1p(count),
        "page_unlinked_share": ones * unlinked / max(words.sum(), 1.0),
    }


@dataclass(frozen=True, slots=True)
class _Headline:
    place: int
    same: NDArray[np.bool_]


_WORD: Final = re.compile(r"\w+")


def _headline(page: BlockPage, title: str | None) -> _Headline:
    """Where the headline stands: an H1 that says the title, another block that does, an H1."""
    wanted = "".join(_WORD.findall((title or "").lower()))
    least, most = len(wanted), 2 * len(title or "") + 20  # no shorter, and not much longer
    same = np.zeros(len(page), dtype=bool)
    if wanted:
        for number, raw in enumerate(page.raw):
            if least <= len(raw) < most and wanted[0] in raw[:40].lower():
                same[number] = "".join(_WORD.findall(clean(raw).lower())) == wanted
    is_h1 = page.elements.tags[page.owners] == tag_id("h1")
    for candidates in (same & is_h1, same, is_h1):
        if candidates.any():
            return _Headline(int(candidates.argmax()), same)
    return _Headline(-1, same)


def _opener_numbers(page: BlockPage) -> NDArray[np.int64]:
    """For each block the index of its element in `OPENERS`, or their number."""
    return _opener_table()[page.elements.tags[page.owners]]


@cache
def _opener_table() -> NDArray[np.int64]:
    table = np.full(LAST_KNOWN_TAG + 2, len(OPENERS), dtype=np.int64)
    for position, name in enumerate(OPENERS):
        table[tag_id(name)] = position
    return table
