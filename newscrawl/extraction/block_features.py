"""The features of each candidate block that the network of the combined method weighs.

They describe the block itself (the eight features and more counts), CETR's ratios at its place, the
elements around it with their class and id words, whether JSON-LD gives the same text, and the page
as a whole. The network itself includes neighbouring blocks.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction import cetr
from newscrawl.extraction.blocks import (
    LAST_KNOWN_TAG,
    BlockPage,
    Candidates,
    ElementNames,
    clean,
    letters_of,
    letters_of_each,
    read_blocks,
    tag_id,
)
from newscrawl.extraction.features import Features
from newscrawl.extraction.html import parse
from newscrawl.extraction.metadata.reader import Metadata
from newscrawl.extraction.metadata.vocabulary import asks_to_subscribe
from newscrawl.extraction.tokens import Char, Tokens, WordNumbers, number_words
from newscrawl.text import unescape, weight_of

FloatArray = NDArray[np.float64]

ANCESTORS: Final = 5  # enclosing elements whose text is weighed, the block's own first
ANCESTORS_NAMED: Final = 8  # enclosing elements whose names are read, the block's own first
OPENING_WORDS: Final = 12
MAX_HINTS: Final = 10  # words of an element's names
SHORT, LONG = "<short>", "<long>"
# Blocks are in the same place if tag and depth are equal; beyond these all count as one.
MAX_TAGS, MAX_DEPTHS = 256, 64
# Ours: JSON-LD's text counts from this length on, and a block is looked for in it from this number
# of letters on, by its first and last letters.
MIN_BODY: Final = 200
MIN_LETTERS: Final = 4
EDGE_LETTERS: Final = 32
# Ours: a page with less text than this share of its JSON-LD's inserts the text by a script. No page
# of the development corpus does.
MIN_SHOWN_SHARE: Final = 0.2

# Elements whose meaning HTML gives; a flag for each says whether the block is inside one.
LANDMARKS: Final = tuple(
    "article main header footer nav aside section form figure figcaption table ul ol dl"  # noqa: SIM905
    " blockquote noscript details dialog".split()
)
# Elements that can open a block; all others have the number behind the last.
OPENERS: Final = tuple(
    "p div li td th h1 h2 h3 h4 h5 h6 blockquote figcaption section article header footer"  # noqa: SIM905
    " nav aside main form table pre dd dt body address caption summary button".split()
)
_IN_LANDMARKS: Final = tuple(f"in_{name}" for name in LANDMARKS)
# The columns of blocks and of the elements around them, in their order.
_OF_BLOCK: Final = (
    "words", "unlinked_words", "chars", "sentence_length", "sentences", "characters", "stop_words",
    "stop_words_of_page", "anchors", "formats", "lists", "structure", "capitals", "digits",
    "commas", "quotes", "separators", "others", "word_length", "ends_sentence", "ends_colon",
    "after_break", "images",
)  # fmt: skip
_AROUND: Final = ("prose_share", "link_share", "prose_per_block", "blocks")
_OF_TREE: Final = (
    *(f"{name}_{step}" for name in _AROUND for step in range(ANCESTORS)),
    *("depth", "same_place", "same_parent", *_IN_LANDMARKS),
)
_OF_RATIOS: Final = ("tags", "ratio", "smoothed", "smoothed_over_deviation", "derivative")
_OF_PAGE: Final = (
    "place", "words_before", "repeated", "left_out_before", "left_out_after", "is_title",
    "from_headline", "after_headline", "has_headline", "page_words", "page_blocks",
    "page_unlinked_share",
)  # fmt: skip
_OF_JSON_LD: Final = ("has_data", "data_begins", "data_ends")
NAMES: Final = (*_OF_BLOCK, *_OF_RATIOS, *_OF_TREE, *_OF_PAGE, *_OF_JSON_LD)
# Columns without an upper bound, whose logarithms are taken.
_WITHOUT_BOUND: Final = frozenset(
    (
        "words", "unlinked_words", "chars", "sentence_length", "sentences", "tags", "ratio",
        "smoothed", "derivative", "depth", "left_out_before", "left_out_after", "page_words",
        "page_blocks", *(f"prose_per_block_{step}" for step in range(ANCESTORS)),
        *(f"blocks_{step}" for step in range(ANCESTORS)),
    )
)  # fmt: skip
_UNBOUNDED: Final = [place for place, name in enumerate(NAMES) if name in _WITHOUT_BOUND]
# Ours: ratios that differ by less than this share of their mean are equal.
LEAST_DEVIATION: Final = 1e-9
_HINT: Final = re.compile(r"[a-z]{2,}|[A-Z][a-z]+")
_CLOSING: Final = "\x03\x02 \"'”»’)"
_ENDS: Final = frozenset(".!?…。！？;।")
_COLONS: Final = frozenset(":：")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class BlockFeatures:
    """The features of the n candidate blocks of a page, in document order.

    `values[i, k]` is feature `names[k]` of block i; `openers[i]` indexes `OPENERS`.
    `paths[i]` are the `ANCESTORS_NAMED` elements around block i, its own first, as rows of
    `elements` and `tags`; row 0 means none. `elements[e]` are the names of element e, `tags[e]` its
    tag number plus 1. `words` are the numbers of the first words of each block and of a word for
    its length, block after block; `word_counts[i]` are block i's. `is_title` marks the blocks that
    consist of the headline.
    """

    names: tuple[str, ...]
    values: NDArray[np.float32]
    openers: NDArray[np.int64]
    paths: NDArray[np.int64]
    elements: Sequence[ElementNames]
    tags: NDArray[np.int64]
    words: WordNumbers
    word_counts: NDArray[np.int64]
    is_title: NDArray[np.bool_]

    @property
    def hints(self) -> list[tuple[str, ...]]:
        """Return the words that name each element (class, id, itemprop, role, hidden)."""
        return list(map(hints_of, self.elements))


def block_features(candidates: Candidates, features: Features, metadata: Metadata) -> BlockFeatures:
    """Return all features of the candidates of a page, of which `features` are the eight."""
    page = candidates.page
    # For each block the rows of the elements around it, and the element of each row; row
    # 0 means none, and is the root among elements.
    parents = np.concatenate((page.elements.parents, [-1]))  # the root's parent stays "none"
    steps = [page.owners]
    for _ in range(ANCESTORS_NAMED - 1):
        steps.append(parents[steps[-1]])
    around = np.array(steps).T
    is_named = np.zeros(len(parents), dtype=bool)
    is_named[around] = True
    is_named[-1] = False
    row_of = is_named.cumsum()
    row_of[-1] = 0
    paths, elements = row_of[around], np.concatenate(([0], is_named.nonzero()[0]))
    columns: dict[str, NDArray[Any]] = {}
    chars = features.tokens.chars
    visible = chars.sum(axis=1) - chars[:, Char.MARK]
    columns |= _of_block(page, features, np.maximum(visible, 1))
    columns |= _of_ratios(page, visible)
    columns |= _of_tree(page, features, elements[paths[:, :ANCESTORS]])
    columns |= _of_page(candidates, features, metadata.title)
    columns |= _of_json_ld(page, metadata.article_body)
    words, word_counts = _openings(features.tokens)
    descendants = elements[1:]
    names = page.elements.names
    return BlockFeatures(
        names=NAMES,
        values=_as_columns(columns, len(page)),
        openers=_positions(OPENERS)[page.elements.tags[page.owners]],
        paths=paths,
        elements=[None, *map(names, descendants.tolist())],
        tags=np.concatenate(([0], page.elements.tags[descendants] + 1)),
        words=words,
        word_counts=word_counts,
        is_title=columns["is_title"],
    )


def _as_columns(columns: dict[str, NDArray[Any]], rows: int) -> NDArray[np.float32]:
    """Put the columns side by side; of unbounded values take the logarithms."""
    table = np.concatenate(list(columns.values()), dtype=np.float32).reshape(len(columns), rows)
    values = table.take(_UNBOUNDED, axis=0)
    np.maximum(values, 0, out=values)
    table[_UNBOUNDED] = np.log1p(values, out=values)
    return np.ascontiguousarray(table.T)


def opening_words(features: Features) -> list[list[str]]:
    """Return for each block the words of which `BlockFeatures.words` has the numbers."""
    tokens = features.tokens
    places, counts = tokens.openings(OPENING_WORDS)
    words = iter(tokens.words_at(places.tolist()))
    return [
        [*islice(words, opening), SHORT if size <= OPENING_WORDS else LONG]
        for opening, size in zip(counts.tolist(), tokens.words.tolist(), strict=True)
    ]


def _openings(tokens: Tokens) -> tuple[WordNumbers, NDArray[np.int64]]:
    places, counts = tokens.openings(OPENING_WORDS)
    lengths = (counts + 1).cumsum() - 1  # a block's length comes after its words
    words = np.empty(len(places) + len(counts), dtype=np.uint64)
    is_word = np.ones(len(words), dtype=bool)
    is_word[lengths] = False
    words[is_word] = tokens.numbers[places]
    words[lengths] = _length_words()[(tokens.words <= OPENING_WORDS).astype(np.int64)]
    return words, counts + 1


@cache
def _length_words() -> WordNumbers:
    return number_words((LONG, SHORT))


@lru_cache(maxsize=1024)  # the network and the rules behind it ask for the elements of a page
def hints_of(names: ElementNames) -> tuple[str, ...]:
    """Return the words of an element's names: "articleBody--main_2" gives article, body, main."""
    if not names:
        return ()
    if isinstance(names, str):
        names = names, "", "", "", False
    classes, identity, itemprop, role, hidden = names
    words = _HINT.findall(f"{classes} {identity}")
    hints = f"c:{' c:'.join(words).lower()}".split() if words else []
    hints += [f"p:{itemprop.lower()}"] if itemprop else ()
    hints += [f"r:{role.lower()}"] if role else ()
    hints += ["hidden"] if hidden else ()
    return tuple(dict.fromkeys(hints))[:MAX_HINTS]


def _of_block(
    page: BlockPage, features: Features, visible: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    tokens, values = features.tokens, features.values
    chars = tokens.chars
    words = np.maximum(tokens.words, 1)
    for_word = chars[:, Char.COMMA : Char.MARK] / words[:, None]
    elements = np.minimum(values[:, 5:], 2.0)
    endings = [raw.rstrip(_CLOSING)[-1:] for raw in page.raw]
    main_language = int(tokens.stop_words.sum(axis=0).argmax()) if len(page) else 0
    return {
        "words": tokens.words,
        "unlinked_words": tokens.words - tokens.linked,
        "chars": visible,
        "sentence_length": values[:, 0],
        "sentences": chars[:, Char.SENTENCE_END],
        "characters": values[:, 2],
        "stop_words": values[:, 3],
        "stop_words_of_page": tokens.stop_words[:, main_language] / words,
        "anchors": values[:, 4],
        **dict(zip(("formats", "lists", "structure"), elements.T, strict=True)),
        "capitals": chars[:, Char.CAPITAL] / visible,
        "digits": chars[:, Char.DIGIT] / visible,
        **dict(zip(("commas", "quotes", "separators", "others"), for_word.T, strict=True)),
        "word_length": tokens.letters_in_words / words,
        "ends_sentence": np.array([last in _ENDS for last in endings], dtype=bool),
        "ends_colon": np.array([last in _COLONS for last in endings], dtype=bool),
        "after_break": page.breaks,
        "images": np.minimum(page.images, 3),
    }


def _of_ratios(page: BlockPage, visible: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of CETR, with blocks instead of lines."""
    ratios = visible / np.maximum(page.tags, 1)
    smoothed = cetr.smooth(ratios)
    derivative = cetr.derivatives(smoothed)
    deviation = float(ratios.std()) if len(ratios) else 0.0
    if not len(ratios) or deviation <= LEAST_DEVIATION * float(ratios.mean()):
        deviation = 1.0
    return {
        "tags": page.tags,
        "ratio": ratios,
        "smoothed": smoothed,
        "smoothed_over_deviation": np.minimum(smoothed / deviation, 5.0),
        "derivative": derivative,
    }


def _of_tree(
    page: BlockPage, features: Features, around: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return the columns of the elements `around` each block: prose, links and blocks in them."""
    elements = page.elements
    tokens = features.tokens
    unlinked = tokens.words - tokens.linked
    prose = unlinked * (tokens.chars[:, Char.SENTENCE_END] > 0) * (features.values[:, 4] < 0.5)
    within = _sums_within(page, (tokens.words, tokens.linked, prose, np.ones(len(page))))
    total = max(float(within[2, 0]), 1.0)
    words, linked, mass, blocks = within[:, around.T]
    tree = {
        "prose_share": mass / total,
        "link_share": linked / np.maximum(words, 1.0),
        "prose_per_block": mass / np.maximum(blocks, 1.0),
        "blocks": blocks,
    }
    result = {
        f"{name}_{step}": values[step] for name, values in tree.items() for step in range(ANCESTORS)
    }
    result["depth"] = elements.depths[page.owners]
    tags, depths = elements.tags[page.owners], elements.depths[page.owners]
    place = np.minimum(tags, MAX_TAGS - 1) * MAX_DEPTHS + np.minimum(depths, MAX_DEPTHS - 1)
    parent = np.maximum(elements.parents[page.owners], 0)
    for name, group in (("same_place", place), ("same_parent", parent)):
        result[name] = np.bincount(group, prose, 1)[group] / total
    return result | _landmarks(page)


def _sums_within(page: BlockPage, of_blocks: Sequence[NDArray[Any]]) -> FloatArray:
    """Return for each element the sums over all blocks in it, a row for each of the values."""
    ends = page.elements.ends
    up_to = np.zeros((len(of_blocks), len(ends) + 1))
    for row, values in enumerate(of_blocks):
        np.bincount(page.owners, values, len(ends)).cumsum(out=up_to[row, 1:])
    return np.asarray(up_to[:, ends] - up_to[:, :-1])


@cache
def _positions(names: tuple[str, ...]) -> NDArray[np.int64]:
    """Return for each tag number the position of its element among the names, or their number."""
    table = np.full(LAST_KNOWN_TAG + 2, len(names), dtype=np.int64)
    for position, name in enumerate(names):
        table[tag_id(name)] = position
    return table


def _landmarks(page: BlockPage) -> dict[str, NDArray[Any]]:
    elements = page.elements
    kinds = _positions(LANDMARKS)[elements.tags]
    inside = (kinds < len(LANDMARKS)).nonzero()[0]
    width, size = len(LANDMARKS), (len(kinds) + 1) * len(LANDMARKS)
    kinds = kinds[inside]
    steps = np.bincount(inside * width + kinds, minlength=size)
    steps -= np.bincount(elements.ends[inside] * width + kinds, minlength=size)
    flags = (steps.reshape(-1, width).cumsum(axis=0).take(page.owners, axis=0) > 0).T
    return dict(zip(_IN_LANDMARKS, flags, strict=True))


def _of_page(
    candidates: Candidates, features: Features, title: str | None
) -> dict[str, NDArray[Any]]:
    page = candidates.page
    count = len(page)
    place = np.arange(count)
    words = features.tokens.words.astype(np.float64)
    before = words.cumsum() - words
    headline = _find_headline(page, title)
    times = Counter(page.raw)
    repeated = np.fromiter(map(times.__getitem__, page.raw), np.float64, count=count)
    column_of_ones = np.ones(count)
    unlinked = float((features.tokens.words - features.tokens.linked).sum())
    return {
        "place": place / max(count, 1),
        "words_before": before / max(words.sum(), 1.0),
        "repeated": np.minimum(repeated - 1, 3),
        "left_out_before": candidates.left_out_before,
        "left_out_after": candidates.left_out_after,
        "is_title": headline.same,
        "from_headline": np.minimum(np.maximum(place - headline.place, -50), 50) / 10.0,
        "after_headline": place > headline.place,
        "has_headline": column_of_ones * (headline.place >= 0),
        "page_words": column_of_ones * words.sum(),
        "page_blocks": column_of_ones * count,
        "page_unlinked_share": column_of_ones * unlinked / max(words.sum(), 1.0),
    }


@dataclass(frozen=True, slots=True)
class Headline:
    """The place of the headline's block, -1 for none; `same` are the blocks equal to the title."""

    place: int
    same: NDArray[np.bool_]


def _of_json_ld(page: BlockPage, body: str | None) -> dict[str, NDArray[Any]]:
    """Return the columns of JSON-LD's text: whether it contains a block's beginning and end."""
    edges = _edges_in(body, page)
    has_body = np.full(len(page), float(edges is not None))
    starts, ends = np.zeros((2, len(page))) if edges is None else edges
    return dict(zip(_OF_JSON_LD, (has_body, starts, ends), strict=True))


def _edges_in(body: str | None, page: BlockPage) -> FloatArray | None:
    """Return for each block whether its beginning, and whether its end, occurs in a text; None
    without one."""
    if body is None or len(body) < MIN_BODY or not page.raw:
        return None
    of_body = letters_of(body)
    begins = letters_of_each([raw[: 3 * EDGE_LETTERS] for raw in page.raw])
    ends = letters_of_each([raw[-3 * EDGE_LETTERS :] for raw in page.raw])
    edges = [letters[:EDGE_LETTERS] for letters in begins]
    edges += [letters[-EDGE_LETTERS:] for letters in ends]
    is_in_body = [len(edge) >= MIN_LETTERS and edge in of_body for edge in edges]
    return np.array(is_in_body, dtype=np.float64).reshape(2, -1)


def text_of_json_ld(metadata: Metadata, page: BlockPage) -> list[str]:
    """Return the paragraphs of JSON-LD's text that a script would insert into the page; none if the
    page has a text of its own, or is paywalled."""
    body = metadata.article_body or ""
    if sum(map(len, page.raw)) >= MIN_SHOWN_SHARE * len(body) or metadata.paywalled:
        return []
    if weight_of(body := unescape(body)) < MIN_BODY or asks_to_subscribe(" ".join(page.raw)):
        return []
    blocks = read_blocks(parse(body.encode("utf-8", "replace"))).texts if "<" in body else None
    lines = (clean(" ".join(line.split())) for line in blocks or body.splitlines())
    return [line for line in lines if line]


def _find_headline(page: BlockPage, title: str | None) -> Headline:
    """Find the headline: an H1 equal to the title, else another block equal to it, else an H1."""
    letters, most = letters_of(title or ""), 2 * len(title or "") + 19  # not much longer
    heading = tag_id("h1")
    same = np.zeros(len(page), dtype=bool)
    equal = (
        [
            number
            for number, raw in enumerate(page.raw)
            if len(letters) <= len(raw) <= most
            and (opening := _WORD.search(raw))
            and opening[0][0].lower() == letters[0]
            and letters_of(raw) == letters
        ]
        if letters
        else []
    )
    same[equal] = True
    headings = (page.elements.tags[page.owners] == heading).nonzero()[0].tolist()
    headings_equal = [place for place in equal if place in headings]
    return Headline(next(iter((*headings_equal, *equal, *headings)), -1), same)
