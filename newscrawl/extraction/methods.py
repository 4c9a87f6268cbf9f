"""The methods that extract the body of a page, with one signature."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction import cetr
from newscrawl.extraction.block_features import (
    BlockFeatures,
    block_features,
    hints_of,
    text_of_json_ld,
)
from newscrawl.extraction.blocks import (
    UNWANTED,
    BlockPage,
    Candidates,
    clean,
    drop_hidden,
    find_candidates,
    read_blocks,
    tag_id,
    tag_ids,
    without_repetitions,
)
from newscrawl.extraction.classifier import (
    BALANCED,
    FOR_OTHER_PAGES,
    FOR_PRECISION,
    FOR_RECALL,
    calibrate,
    combine,
    load_network,
)
from newscrawl.extraction.features import Features, keep, limits_for, measure, members_of
from newscrawl.extraction.language import WordCounts
from newscrawl.extraction.metadata.reader import Metadata
from newscrawl.extraction.surroundings import (
    LINKED_HEADLINE,
    LINKED_STANDFIRST,
    MIN_HEADLINE,
    OF_ASIDES,
    enciphered,
    with_standfirst,
    without_asides,
    without_behind,
    without_cards,
    without_comments,
    without_gated,
    without_last_links,
    without_teasers,
)
from newscrawl.extraction.tokens import Tokens
from newscrawl.notices import LONGEST_NOTICE, is_biography, is_notice, is_offer, with_signs

# Ours: the page gives no evidence for or against a text that only its JSON-LD has.
CONFIDENCE_IN_JSON_LD: Final = 0.5
# Ours: most words of a label above an advertisement, of a copyright and of links to shops.
MAX_LABEL: Final = 4
MAX_RIGHTS: Final = 30
MAX_OFFERS: Final = 14
# Ours: characters of the longest biography of an author, and the last blocks of a text of which one
# may be a biography without a name that the page states.
LONGEST_BIOGRAPHY: Final = 500
LAST_BLOCKS: Final = 2
# Ours: blocks above a biography that begins with the author's first name of which one is the name,
# and the most blocks that are a name alone: an interview has more.
BELOW_NAME: Final = 4
MOST_NAMES: Final = 2


@dataclass(frozen=True, slots=True)
class NoText:
    """A kind of paragraph that doesn't belong to the text: what recognises it by its text, in which
    `LINK_START` and `LINK_END` enclose links, the most words that it may have, examples, which
    are its test, and whether each has a sign of a notice, for which all paragraphs are searched at
    once. An explanation of the page gives the name as the reason."""

    name: str
    max_words: int
    matches: Callable[[str], object]
    examples: tuple[str, ...]
    has_sign: bool = False


NO_TEXT: Final = (
    # Ours: of 17 such blocks that were kept on the open sites, 2 are in the text.
    NoText(
        name="label above an advertisement",
        max_words=MAX_LABEL,
        matches=re.compile(
            r"\W*(?:advertis(?:ement|ing)s?|(?:story|article) continues below advertisement"
            r"|anzeige|werbung|publicité|publicidad|pubblicità|publicidade|advertentie|reklama?"
            r"|реклама|広告|广告|廣告|광고)\W*",
            re.IGNORECASE,
        ).fullmatch,
        examples=("Advertisement", "– ANZEIGE –", "Publicité :", "広告"),
    ),
    NoText(
        name="copyright",
        max_words=MAX_RIGHTS,
        matches=re.compile(r"[\W_]*?(?:©|\(c\)|copyright (?:©|\(c\)|\d{4}))", re.IGNORECASE).match,
        examples=("© 2026 The Pier. All rights reserved.", "Copyright 2026 Pier Media"),
    ),
    NoText(
        name="links to shops",
        max_words=MAX_OFFERS,
        matches=is_offer,
        examples=(
            "\x02Buy on Amazon\x03",
            "\x02View At Argos $18\x03 | \x02£20 at Currys\x03",
            "\x02Bei Otto kaufen\x03",
            "\x02楽天市場で購入\x03",
        ),
    ),
    NoText(
        name="what a paper or platform says of itself",
        max_words=LONGEST_NOTICE,  # characters: no paragraph has more words
        matches=partial(is_notice, has_sign=True),
        examples=(
            "Follow us on Facebook and Instagram.",
            "Lesen Sie auch: Der Hafen öffnet wieder",
            "Para ver este contenido de YouTube debe aceptar las cookies.",
            "この記事をシェアする",
        ),
        has_sign=True,
    ),
)

_MOST_WITHOUT_SIGN: Final = max(rule.max_words for rule in NO_TEXT if not rule.has_sign)
_HEADINGS: Final = members_of("h1 h2 h3 h4 h5 h6")
# Ours: blocks of a text from which on others are its siblings; of a list or table between two of
# them the most cells, the least of a table in a box (others hold a picture's caption), their words
# in the mean, the share of these that may be linked, and in the mean of links that a line announces
# (longer ones are headlines), with the words of that line.
MIN_SIBLINGS: Final = 3
MAX_CELLS: Final = 40
MIN_CELLS: Final = 4
WORDS_OF_CELL: Final = 8
WORDS_OF_LINK: Final = 3
WORDS_OF_ANNOUNCEMENT: Final = 4
MAX_LINKED_CELLS: Final = 0.5
# Ours, fitted on the development corpus: the probability of a sentence beside the first or last
# block; of a sentence of a kind that is kept the fewest words and the probability, and that of one
# behind the text; the share of the kind that is kept, and the elements that make a kind.
LEAST_SIBLING: Final = 0.1
WORDS_OF_ALIKE: Final = 7
LEAST_ALIKE: Final = 0.05
ALIKE_BEHIND: Final = 0.2
SHARE_OF_ALIKE: Final = 0.35
AROUND_ALIKE: Final = 3
_CLOSING: Final = "\x03\x02 \"'”»’)"
_ENDS: Final = frozenset(".!?…。！？।")
_NO_SENTENCE: Final = ("©", "@", "://")
_LISTS: Final = members_of("ul ol dl table")
_CAPTION: Final = tag_id("figcaption")
_OF_CAPTIONS: Final = members_of("figure figcaption dt dd")
_OF_ITEMS: Final = members_of("ul ol dl")
_TABLE: Final = tag_id("table")
_QUOTE: Final = tag_id("blockquote")
_ITALICS: Final = tag_ids("em i")
_UNSEEN: Final = f"{UNWANTED} "


@dataclass(frozen=True, slots=True)
class Body:
    """The paragraphs that a method chose, and its confidence in them, in [0, 1]; `word_counts` are
    those of the paragraphs where the method counted words."""

    paragraphs: list[str]
    confidence: float
    word_counts: WordCounts | None = None


class ParsedPage:
    """The input of all methods: source, tree and metadata; blocks and features on demand."""

    def __init__(self, source: bytes, tree: LexborHTMLParser, metadata: Metadata) -> None:
        self.source = source
        self.tree = tree
        self.metadata = metadata

    @cached_property
    def blocks(self) -> BlockPage:
        """Return the page's blocks under the default profile."""
        drop_hidden(self.tree)
        return read_blocks(self.tree)

    @cached_property
    def features(self) -> Features:
        """Return the eight features of the blocks."""
        return measure(self.blocks)

    @cached_property
    def candidates(self) -> Candidates:
        """Return the blocks without runs of short links, which the combined method weighs."""
        return find_candidates(self.blocks)

    @cached_property
    def candidate_features(self) -> Features:
        """Return the eight features of the candidates."""
        return measure(self.candidates.page)

    @cached_property
    def block_features(self) -> BlockFeatures:
        """All features of the candidates."""
        return block_features(self.candidates, self.candidate_features, self.metadata)

    @cached_property
    def probabilities(self) -> NDArray[np.float32]:
        """Return for each candidate the probability that it is content."""
        probabilities = load_network().probabilities(self.block_features)
        probabilities[enciphered(self.block_features)] = 0
        return probabilities

    @property
    def link_words(self) -> int:
        """Return the number of the page's words that are within links."""
        in_candidates = int(self.candidate_features.tokens.linked.sum())
        return in_candidates + self.candidates.words_left_out


def _paragraphs(page: BlockPage, mask: NDArray[np.bool_]) -> list[str]:
    """Return the texts of the kept blocks of a page, as readers see them."""
    texts = (clean(page.raw[index]) for index in mask.nonzero()[0].tolist())
    return [text for text in texts if text]


def _combined_method(threshold: float, *, of_article: bool = True) -> Callable[[ParsedPage], Body]:
    def method(page: ParsedPage) -> Body:
        if declared_text := text_of_json_ld(page.metadata, page.blocks):
            text = [
                each for each in declared_text if rule_of_no_text(each, each.count(" ") + 1) is None
            ]
            return Body(text or declared_text, CONFIDENCE_IN_JSON_LD)
        tokens = page.candidate_features.tokens
        is_title = page.block_features.is_title
        choice = combine(page.probabilities, is_title, tokens.words, threshold)
        mask = _with_siblings(page, choice.mask, of_article=of_article)
        mask = with_standfirst(tokens, page.block_features, page.probabilities, mask)
        if of_article:  # below the question of a forum are its answers
            if page.metadata.declared.kind != "live":
                mask = without_behind(
                    page.candidates.page, tokens, page.probabilities, is_title, mask
                )
            mask = without_comments(page.candidates.page, tokens.words, mask)
            mask = without_teasers(page.candidates.page, tokens, page.probabilities, mask)
            mask = without_cards(page.candidates.page, tokens, page.probabilities, mask)
            mask = without_last_links(page.candidates.page, tokens, page.probabilities, mask)
            mask = without_asides(page.candidates.page, tokens, page.probabilities, mask)
        if page.metadata.paywalled:
            mask = without_gated(page.candidates.page, tokens.words, mask)
        mask = _without_no_text(page, without_repetitions(page.candidates.page, mask))
        paragraphs = _paragraphs(page.candidates.page, mask)
        of_stop_words = tokens.stop_words[mask].sum(axis=0)
        counts = WordCounts(int(tokens.words[mask].sum()), of_stop_words)
        return Body(paragraphs, calibrate(choice.confidence), counts)

    return method


def _with_siblings(
    page: ParsedPage, mask: NDArray[np.bool_], *, of_article: bool
) -> NDArray[np.bool_]:
    """Return the kept blocks with others of their kind, with short lists and tables between two of
    them or, without links, behind the last, and with a sentence in the same kind of element right
    before the first or behind the last."""
    blocks, tokens = page.candidates.page, page.candidate_features.tokens
    owners, parents, tags = blocks.owners, blocks.elements.parents, blocks.elements.tags
    places = mask.nonzero()[0]
    if not len(places):
        return mask
    result = mask | _alike(page, mask)
    gaps = (places[1:] - places[:-1] > 1).nonzero()[0]
    for before, behind in zip(places[gaps].tolist(), places[gaps + 1].tolist(), strict=True):
        if (of_article or behind - before == 2) and _is_run(blocks, tokens, before, behind):
            result[before:behind] = True
            continue
        around = int(parents[owners[before]])
        if around < 0 or parents[owners[behind]] != around or behind - before - 1 > MAX_CELLS:
            continue
        cells = slice(before + 1, behind)
        listed = [
            _is_listed(blocks, owner, around, behind - before > MIN_CELLS)
            or (tags[owner] == _CAPTION and behind - before > MIN_CELLS)
            for owner in owners[cells].tolist()
        ]
        are_names = tokens.words[cells].sum() <= WORDS_OF_LINK * (behind - before - 1)
        linked = 1.0 if are_names and _announces(blocks.raw[before]) else MAX_LINKED_CELLS
        result[cells] |= listed[0] and all(listed) and _are_short(tokens, cells, linked)
    first, last = int(places[0]), int(places[-1])
    titles = page.block_features.is_title[:first].nonzero()[0]
    cells = slice(int(titles[-1]) + 1 if len(titles) else first, first)
    around = int(parents[owners[first]])
    if first - cells.start >= MIN_CELLS and _are_short(tokens, cells, linked=0.0):
        result[cells] |= all(_is_listed(blocks, owner, around) for owner in owners[cells].tolist())
    around, behind = int(parents[owners[last]]), last + 1
    if is_item := around > 0 and bool(_OF_ITEMS[tags[around]]):
        around = int(parents[around])
    end = min(len(mask), behind + MAX_CELLS)
    if behind < end and parents[owners[behind]] == around and _announces(blocks.raw[behind], 1):
        behind += 1
    while around >= 0 and behind < end and _is_listed(blocks, int(owners[behind]), around):
        behind += 1
    cells = slice(last + 1, behind)
    if behind > last + 2 - is_item and _are_short(tokens, cells, linked=0.0):
        result[cells] = True
    # Behind a box of cards, for one, may stand a short last line.
    below = (parents[owners[last + 2 : end]] == parents[owners[last]]).nonzero()[0][:1] + last + 2
    for place in (first - 1, last + 1, last + 2, *below.tolist()):
        if 0 <= place < len(mask) and page.probabilities[place] >= LEAST_SIBLING:
            beside = first if place < first else last
            may_be_far = bool(tokens.words[place] < WORDS_OF_ALIKE)
            result[place] |= _is_sibling_sentence(blocks, place, beside, may_be_far)
    return result


def _announces(raw: str, least: int = WORDS_OF_ANNOUNCEMENT) -> bool:
    """Return whether a paragraph of some words announces a list: "These firms sent offers:"."""
    text = raw.rstrip(" \xa0")
    return text.endswith((":", "：")) and text.count(" ") >= least - 1 and not is_notice(raw)


def _alike(page: ParsedPage, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return sentences of a kind of which most are kept, by the tags and names of their element and
    two around it; none below a link, which is the headline of a card."""
    blocks, tokens = page.candidates.page, page.candidate_features.tokens
    is_title = page.block_features.is_title
    end = len(mask) - int(mask[::-1].argmax())
    alike = (tokens.words >= WORDS_OF_ALIKE) & (page.probabilities >= LEAST_ALIKE)
    alike[end:] &= page.probabilities[end:] >= ALIKE_BEHIND  # not so a paper's disclaimers
    alike &= ~is_title & ~mask & (tokens.linked <= LINKED_STANDFIRST * tokens.words)
    is_link = tokens.linked >= LINKED_HEADLINE * tokens.words
    alike[1:] &= ~(is_link & (tokens.words >= MIN_HEADLINE))[:-1]
    for place in alike.nonzero()[0].tolist():
        alike[place] = _is_sentence(blocks.raw[place])
    if not alike.any():
        return alike
    features = page.block_features
    elements = [*zip(features.tags.tolist(), features.hints, strict=True)]
    paths = features.paths[:, :AROUND_ALIKE].tolist()
    kinds = [tuple(elements[row] for row in rows) for rows in paths]
    long = ((tokens.words >= MIN_CELLS) & ~is_title).nonzero()[0].tolist()
    all_of = Counter(kinds[place] for place in long)
    of_text = Counter(kinds[place] for place in long if mask[place])
    for place in alike.nonzero()[0].tolist():
        least = max(MIN_SIBLINGS, SHARE_OF_ALIKE * all_of[kinds[place]])
        alike[place] = of_text[kinds[place]] >= least
    return alike


def _is_sentence(raw: str) -> bool:
    """Return whether a block ends as a sentence, and is no credit or address."""
    is_ended = raw.rstrip(_CLOSING)[-1:] in _ENDS
    return is_ended and not any(mark in raw for mark in _NO_SENTENCE)


def _is_run(blocks: BlockPage, tokens: Tokens, before: int, behind: int) -> bool:
    """Return whether the blocks between two others are paragraphs of one kind without links: one
    sentence of the kind of both ("“Gotcha.”"), or several short ones that are no captions."""
    if behind - before != 2 and not MIN_CELLS <= behind - before <= MAX_CELLS:
        return False
    elements, cells = blocks.elements, slice(before + 1, behind)
    owners = blocks.owners[before : behind + 1].tolist()
    kinds = [(elements.tags[each], elements.depths[each], elements.names(each)) for each in owners]
    if tokens.linked[cells].any() or len(set(kinds[1:-1])) > 1:
        return False
    if behind - before == 2:
        return len(set(kinds)) == 1 and _is_sentence(blocks.raw[before + 1])
    tag, _, names = kinds[1]
    is_caption = _OF_CAPTIONS[tag] or not OF_ASIDES.isdisjoint(hints_of(names))
    is_one_box = len(set(elements.parents[owners].tolist())) == 1
    return is_one_box and not is_caption and _are_short(tokens, cells, linked=0.0)


def _are_short(tokens: Tokens, cells: slice, linked: float) -> bool:
    """Return whether cells are short, and at most this share of their words is linked."""
    words = int(tokens.words[cells].sum())
    few = words <= WORDS_OF_CELL * (cells.stop - cells.start)
    return few and int(tokens.linked[cells].sum()) <= linked * words


def _is_sibling_sentence(blocks: BlockPage, place: int, beside: int, may_be_far: bool) -> bool:
    """Return whether a block ends as a sentence, and its element is of the same kind and in the
    same one as that of another block, next to it or not, or folded in it."""
    tags, parents = blocks.elements.tags, blocks.elements.parents
    owner, sibling = blocks.owners[place], blocks.owners[beside]
    around = parents[owner]
    if around >= 0 and tags[around] == tag_id("details"):
        around = parents[around]
    elif abs(place - beside) > 1 and not may_be_far:
        return False
    is_sibling = bool(around == parents[sibling] and tags[owner] == tags[sibling])
    return is_sibling and _is_sentence(blocks.raw[place])


def _is_listed(blocks: BlockPage, owner: int, around: int, in_box: bool = False) -> bool:
    """Return whether an element is in a list or table right within another one or quoted there, or
    in a table in a box within it."""
    elements, last, outer = blocks.elements, owner, 0
    while owner > around:
        last = owner
        outer = int(elements.tags[owner]) if _LISTS[elements.tags[owner]] else outer
        owner = int(elements.parents[owner])
    tag = elements.tags[last]
    is_listed = _LISTS[tag] or (outer and (tag == _QUOTE or (in_box and outer == _TABLE)))
    return bool(last > owner == around and is_listed)


def _without_no_text(page: ParsedPage, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the kept blocks without those that are no text, as `NO_TEXT` has it, and biographies;
    notices where nothing else would be left."""
    raws, words = page.candidates.page.raw, page.candidate_features.tokens.words
    without = mask.copy()
    places = mask.nonzero()[0].tolist()
    texts = [raws[place] for place in places]
    columns = zip(places, texts, words[places].tolist(), with_signs(texts), strict=True)
    rules = [
        (place, rule)
        for place, raw, count, has_sign in columns
        if (has_sign or count <= _MOST_WITHOUT_SIGN)
        and (rule := rule_of_no_text(raw, count, has_sign))
    ]
    without[[place for place, _ in rules]] = False
    without[_biographies(page, without.nonzero()[0].tolist())] = False
    if not without.any():
        without[[place for place, rule in rules if rule.has_sign]] = True
    return without


def rule_of_no_text(raw: str, words: int, has_sign: bool | None = None) -> NoText | None:
    """Return the rule of `NO_TEXT` that drops a paragraph, None if no rule does."""
    if has_sign is None:
        (has_sign,) = with_signs((raw,))
    for rule in NO_TEXT:
        if words <= rule.max_words and has_sign >= rule.has_sign and rule.matches(raw):
            return rule
    return None


def _biographies(page: ParsedPage, places: list[int]) -> list[int]:
    """Return which of these blocks tell of the author: with a name that the page states, below
    the first one, or set apart at the end, or with the first name below the name in the second
    half. So does the name alone above such a block."""
    blocks = page.candidates.page
    # A name of one word is often a company's.
    authors = [name for name in page.metadata.authors if " " in name or not name.isascii()]
    first_names = {name.split()[0] for name in authors if " " in name}
    if authors and sum(clean(blocks.raw[place]) in authors for place in places) > MOST_NAMES:
        first_names.clear()
    openings = {"&", *(name.lower()[:1] for name in authors)}
    biographies = []
    for number, place in enumerate(places[1:], 1):
        raw = blocks.raw[place]
        is_last = number >= len(places) - LAST_BLOCKS and _is_set_apart(blocks, place)
        may_open = is_last or (authors and raw.lstrip(_UNSEEN)[:1].lower()[:1] in openings)
        if not may_open or len(text := clean(raw)) > LONGEST_BIOGRAPHY:
            continue
        is_below_name = (
            2 * number >= len(places)
            and text.partition(" ")[0].rstrip(",") in first_names
            and any(
                clean(name) in authors for name in blocks.raw[max(0, place - BELOW_NAME) : place]
            )
        )
        if (
            is_below_name
            or (authors and is_biography(text, authors))
            or (is_last and is_biography(text, ()))
        ):
            before = places[number - 1]
            biographies += [before, place] if clean(blocks.raw[before]) in authors else [place]
    return biographies


def _is_set_apart(blocks: BlockPage, place: int) -> bool:
    """Return whether a block begins in italics or below a line."""
    first, end = blocks.removed_from[place], blocks.removed_from[place + 1]
    if first < end and blocks.removed[first] in _ITALICS:
        return True
    owner = blocks.owners[place]
    return bool(owner > 0 and blocks.elements.tags[owner - 1] == tag_id("hr"))


def _fe(page: ParsedPage) -> Body:
    """Keep blocks within all eight limits; confidence is their share of the words outside links."""
    mask = keep(page.features, limits_for(page.features))
    words = page.features.tokens.words - page.features.tokens.linked
    share = float(words[mask].sum() / max(int(words.sum()), 1))
    return Body(_paragraphs(page.blocks, mask), share)


def _pr(page: ParsedPage) -> Body:
    """Keep all blocks that pruning and removal leave (Ziegler & Skubacz, Table 1)."""
    return Body(_paragraphs(page.blocks, np.ones(len(page.blocks), dtype=bool)), 1.0)


def _tb(page: ParsedPage) -> Body:
    """Keep all text nodes of the tree, scripts and styles too (Ziegler & Skubacz, Table 1)."""
    root = page.tree.root
    nodes = () if root is None else root.traverse(include_text=True)
    texts = (" ".join((node.text_content or "").split()) for node in nodes if node.is_text_node)
    return Body([text for text in texts if text], 1.0)


def _cetr(variant: cetr.Variant) -> Callable[[ParsedPage], Body]:
    def method(page: ParsedPage) -> Body:
        lines = cetr.read_lines(page.source.decode("utf-8", "replace"))
        mask = cetr.keep_lines(lines, variant)
        share = float(lines.chars[mask].sum() / max(int(lines.chars.sum()), 1))
        return Body(cetr.paragraphs(lines, mask), share)

    return method


METHODS: Final[dict[str, Callable[[ParsedPage], Body]]] = {
    "combined": _combined_method(BALANCED),
    "combined-precision": _combined_method(FOR_PRECISION),
    "combined-recall": _combined_method(FOR_RECALL),
    "fe": _fe,
    "pr": _pr,
    "tb": _tb,
    **{variant: _cetr(variant) for variant in get_args(cetr.Variant)},
}

# The method that "combined" uses for a page that isn't an article.
of_other_page: Final = _combined_method(FOR_OTHER_PAGES, of_article=False)
