"""What stands around an article on its page and reads like its text: comments of readers below it,
other stories, cards of other articles, enciphered paragraphs; and the standfirst apart from it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.block_features import BlockFeatures, hints_of
from newscrawl.extraction.blocks import UNWANTED, BlockPage, ElementNames, Elements, clean, tag_id
from newscrawl.extraction.features import members_of
from newscrawl.extraction.metadata.dates import find
from newscrawl.extraction.metadata.vocabulary import any_of, contains_any, words
from newscrawl.extraction.tokens import Tokens
from newscrawl.notices import offers_the_rest, words_of_notices
from newscrawl.text import LINK_END, LINK_START

# Ours: characters of the longest label above comments; words of a text below which they stand, if
# the label is a heading, and if it is not: a count of comments may stand below the headline, too.
LONGEST_LABEL: Final = 80
MIN_ABOVE_HEADING: Final = 40
MIN_ABOVE_LABEL: Final = 100
# Words of a label that other words may follow, as in "Comments are closed for this story".
_OPENS_LABEL: Final = 3
# Ours, fitted on the development corpus: the most words outside links and blocks of a card of
# another article, words of its linked headline and the share of them in the link; cards alike that
# make a list, elements around a block that may be one, the share of the kept words that the list
# has at most, and the mean probability of its blocks.
WORDS_OF_CARD: Final = 80
BLOCKS_OF_CARD: Final = 8
MIN_HEADLINE: Final = 3
LINKED_HEADLINE: Final = 0.8
MIN_CARDS: Final = 3
AROUND_CARD: Final = 6
SHARE_OF_CARDS: Final = 0.4
# Ours, fitted on the development corpus: cards alike between two paragraphs that make a list, the
# words of the headline of each, the words that tease below it, and the paragraphs around.
MIN_TEASERS: Final = 2
WORDS_OF_TEASER: Final = (6, 5)
AROUND_TEASERS: Final = 3
# Ours, fitted on the development corpus: the share of the kept words of an element that holds the
# text, behind which nothing belongs to it; the probability from which on a sentence there is text
# all the same, and below a heading; the fewest frequent questions, and the words of one; and words
# of what one link encloses that is a card. Of an article from which on a second one may follow it,
# and of that.
SHARE_OF_HOLDER: Final = 0.5
LIKELY_BEHIND: Final = 0.8
LIKELY_CHAPTER: Final = 0.97
FREQUENT_QUESTIONS: Final = (2, 20)
WORDS_IN_LINK: Final = 8
MIN_STORY: Final = 40
MIN_TEXT: Final = 60
# Ours: words of a label above the headlines of other articles, characters of the line that offers
# the rest of an article that isn't free.
WORDS_OF_LABEL: Final = 7
LONGEST_GATE: Final = 160
LIKELY_TEXT: Final = 0.9
# Ours, fitted on the development corpus: the fewest words of a standfirst between the headline and
# the first paragraph, the share of them in links at most, and its probability, by itself and in an
# element that is named as one.
MIN_STANDFIRST: Final = 10
LINKED_STANDFIRST: Final = 0.2
LIKELY_STANDFIRST: Final = 0.3
NAMED_STANDFIRST: Final = 0.05
_AROUND_STANDFIRST: Final = 3
_OF_STANDFIRSTS: Final = frozenset(words("names", "standfirsts"))
_OF_OTHER_LINES: Final = frozenset(words("names", "beside_standfirsts"))
# Ours, fitted on the development corpus: elements around a paragraph whose names are read; the
# share of the kept words that one which stands beside the text has at most, and that all of them
# have; and the probability from which on the text of a card is the article's.
AROUND_ASIDE: Final = 3
SHARE_OF_ASIDE: Final = 0.2
SHARE_OF_ASIDES: Final = 0.4
LIKELY_IN_CARD: Final = 0.9
OF_ASIDES: Final = frozenset(words("names", "asides"))
_OF_CARDS: Final = frozenset(words("names", "cards"))
_OF_BESIDE: Final = OF_ASIDES | _OF_CARDS
_OF_HOLDERS: Final = frozenset(words("names", "holders"))
_HOLDERS: Final = members_of("article main")
_ARTICLE: Final = tag_id("article")
_MARKS: Final = f"{LINK_START}{LINK_END}"
_LINK_OVER_BLOCKS: Final = re.compile(
    rf"\n[{_MARKS} ]*{LINK_START}([^{_MARKS}\n]+\n[^{_MARKS}]*){LINK_END}"
)
# Names of elements whose text only subscribers see in clear; a tag or a category of WordPress is
# none.
_IN_CIPHERS: Final = ("obfuscated", "encrypted", "enciphered", "ciphered", "scrambled")
_ENCIPHERED: Final = re.compile(rf"(?<!tag-)(?<!category-)\b(?:{any_of(_IN_CIPHERS)})\b")
_HEADINGS: Final = members_of("h1 h2 h3 h4 h5 h6")
_OPENING: Final = re.compile(r"[\W\d_]*+([^\W\d_]{1,3})")
_QUESTION: Final = ("?", "？", "؟")
_NO_LETTERS: Final = re.compile(rf"[\W\d_{UNWANTED}]+")


@cache
def _comments() -> tuple[frozenset[str], frozenset[str], tuple[str, ...]]:
    """Return all labels of comments; their first letters, by which most blocks are passed over; and
    those that other words may follow."""
    kinds = words_of_notices().values()
    labels = frozenset(label for by_kind in kinds for label in by_kind.get("comments", ()))
    openings = frozenset(label.split()[0][:3] for label in labels)
    beginnings = tuple(f"{label} " for label in labels if label.count(" ") + 1 >= _OPENS_LABEL)
    return labels, openings, beginnings


def enciphered(features: BlockFeatures) -> NDArray[np.bool_]:
    """Return which blocks are in an element whose text only subscribers see in clear."""
    if not contains_any(" ".join(map(_class_of, set(features.elements))).lower(), _IN_CIPHERS):
        return np.zeros(len(features.paths), dtype=bool)
    classes = map(_class_of, features.elements)
    matches = np.array([_ENCIPHERED.search(name.lower()) is not None for name in classes])
    return np.asarray(matches[features.paths].any(axis=1))


def with_standfirst(
    tokens: Tokens,
    features: BlockFeatures,
    probabilities: NDArray[np.float32],
    mask: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return the kept blocks with a standfirst between the headline and the first of them."""
    places = mask.nonzero()[0]
    titles = features.is_title[: places[0]].nonzero()[0] if len(places) else places
    if not len(titles):
        return mask
    result = mask.copy()
    for place in range(int(titles[-1]) + 1, int(places[0])):
        words, linked = int(tokens.words[place]), int(tokens.linked[place])
        if (
            words < MIN_STANDFIRST
            or linked > LINKED_STANDFIRST * words
            or probabilities[place] < NAMED_STANDFIRST
        ):
            continue
        rows = features.paths[place, :_AROUND_STANDFIRST].tolist()
        names = {hint for row in rows for hint in hints_of(features.elements[row])}
        is_named = not _OF_STANDFIRSTS.isdisjoint(names)
        result[place] = _OF_OTHER_LINES.isdisjoint(names) and (
            is_named or probabilities[place] >= LIKELY_STANDFIRST
        )
    return result


def without_asides(
    blocks: BlockPage, tokens: Tokens, probabilities: NDArray[np.float32], mask: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the kept blocks without small elements named as what stands beside a text, and those
    of which the network isn't sure without elements below the first that are named as cards; all
    where they are the text, as captions of a gallery and entries of a list are."""
    words = tokens.words * mask
    places = words.nonzero()[0]
    if not len(places):
        return mask
    around, nearest = blocks.owners[places], set[int]()
    for _ in range(AROUND_ASIDE):
        nearest.update(around.tolist())
        around = blocks.elements.parents[around[around > 0]]
    total = words.sum()
    most = SHARE_OF_ASIDES * total
    named, small = np.zeros((2, 2, len(mask)), dtype=bool)
    for element in nearest:
        names = hints_of(blocks.elements.names(element))
        is_card = not _OF_CARDS.isdisjoint(names)
        if is_card or not OF_ASIDES.isdisjoint(names):
            within = blocks.within(element)
            size = words[within].sum()
            named[int(is_card), within] |= size <= most
            small[int(is_card), within] |= size <= SHARE_OF_ASIDE * total
    if not named.any():
        return mask
    is_unsure = (probabilities < LIKELY_IN_CARD) & (np.arange(len(mask)) > places[:1])
    for are_named, are_small, may_go in zip(named, small, (True, is_unsure), strict=True):
        if words[are_named & may_go].sum() <= most:
            mask = mask & ~(are_small & may_go)
    return mask


def without_comments(
    blocks: BlockPage, words: NDArray[np.int64], mask: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the kept blocks above a label of comments, if they are a text."""
    places = mask.nonzero()[0]
    if not len(places):
        return mask
    above = (words * mask).cumsum()
    first, last = int(above.searchsorted(MIN_ABOVE_HEADING)) + 1, int(places[-1])
    tags = blocks.elements.tags[blocks.owners]
    for place in range(first, last + 1):
        raw = blocks.raw[place]
        if len(raw) > LONGEST_LABEL or not _is_label_of_comments(raw):
            continue
        # A button, alone or in a row of links, leads to comments that are elsewhere.
        is_button = raw.count(LINK_START) > 1 or raw[:1] + raw[-1:] == LINK_START + LINK_END
        if is_button and _goes_on(blocks, places, place):
            continue
        if _HEADINGS[tags[place]] or above[place - 1] >= MIN_ABOVE_LABEL:
            mask = mask.copy()
            mask[place:] = False
            return mask
    return mask


def _goes_on(blocks: BlockPage, places: NDArray[np.int64], place: int) -> bool:
    """Return whether the text goes on behind a block in the element that it was in before."""
    behind = int(places.searchsorted(place, side="right"))
    around = blocks.elements.parents[blocks.owners[places[behind - 1 : behind + 1]]]
    return len(around) > 1 and bool(around[0] == around[1])


def _is_label_of_comments(raw: str) -> bool:
    lowered = raw.lower()
    opening = _OPENING.match(lowered)
    labels, openings, beginnings = _comments()
    if opening is None or opening[1] not in openings:
        return False
    label = _NO_LETTERS.sub(" ", lowered).strip()
    return label in labels or label.startswith(beginnings)


class _Cards:
    """The cards of other articles on a page: elements of few words with a linked line, of which
    others of the same tag and class are beside them. Those that `tease` have some words below a
    linked headline, and an ARTICLE may stand alone."""

    def __init__(self, blocks: BlockPage, tokens: Tokens, *, tease: bool) -> None:
        self._blocks, self._tease = blocks, tease
        self._beside: dict[int, dict[tuple[int, str], list[int]]] = {}
        words_of_headline, words_below = WORDS_OF_TEASER if tease else (MIN_HEADLINE, 0)
        self.unlinked = tokens.words - tokens.linked
        self.headlines = (tokens.words >= words_of_headline) & (
            tokens.linked >= LINKED_HEADLINE * tokens.words
        )
        self._unlinked_before = np.append(0, self.unlinked.cumsum()).tolist()
        self._next_headline = _next_of(self.headlines)
        self._next_below = _next_of(self.unlinked >= words_below)

    def around(self, place: int) -> list[int]:
        """Return the list of cards of which one has this block."""
        elements = self._blocks.elements
        least, alone = (MIN_TEASERS, _ARTICLE) if self._tease else (MIN_CARDS, None)
        element = int(self._blocks.owners[place])
        for _ in range(AROUND_CARD):
            within = self._blocks.within(element)
            if element <= 0 or self._unlinked_in(within) > WORDS_OF_CARD:
                break
            if self._is_card(element):
                cards = self._alike(element)
                if len(cards) >= least or elements.tags[element] == alone:
                    return cards
            element = int(elements.parents[element])
        return []

    def _alike(self, element: int) -> list[int]:
        """Return the cards of the same parent, tag and class; a parent's are read once."""
        elements = self._blocks.elements
        parent = int(elements.parents[element])
        if parent not in self._beside:
            beside = self._beside[parent] = defaultdict(list)
            for each in filter(self._is_card, (elements.parents == parent).nonzero()[0].tolist()):
                beside[_kind_of(elements, each)].append(each)
        return self._beside[parent][_kind_of(elements, element)]

    def _unlinked_in(self, within: slice) -> int:
        return int(self._unlinked_before[within.stop] - self._unlinked_before[within.start])

    def _is_card(self, element: int) -> bool:
        """Return whether an element of few words has a linked line, and words below it."""
        within = self._blocks.within(element)
        headline = self._next_headline[within.start]
        return (
            2 <= within.stop - within.start <= BLOCKS_OF_CARD
            and headline < within.stop
            and self._next_below[headline + self._tease] < within.stop
            and self._unlinked_in(within) <= WORDS_OF_CARD
        )


def _next_of(flags: NDArray[np.bool_]) -> list[int]:
    """Return for each place the next one from it on that has the flag; the end where none has."""
    end = len(flags)
    places = np.where(flags, np.arange(end), end)
    return [*np.minimum.accumulate(places[::-1])[::-1].tolist(), end, end]


def _class_of(names: ElementNames) -> str:
    return names if isinstance(names, str) else names[0] if names else ""


def _kind_of(elements: Elements, element: int) -> tuple[int, str]:
    """Return the tag and the class of an element, by which elements are alike."""
    return int(elements.tags[element]), _class_of(elements.names(element))


def without_cards(
    blocks: BlockPage, tokens: Tokens, probabilities: NDArray[np.float32], mask: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the kept blocks without a list of cards of other articles at their end."""
    cards = _Cards(blocks, tokens, tease=False)
    result, total = mask.copy(), int(tokens.words[mask].sum())
    while result.any():
        last = len(result) - 1 - int(result[::-1].argmax())
        listed = np.zeros(len(mask), dtype=bool)
        for card in cards.around(last):
            listed[blocks.within(card)] = True
        listed &= result
        words = int(tokens.words[listed].sum())
        if not listed.any() or words > SHARE_OF_CARDS * total:
            break
        if probabilities[listed & (tokens.words > 0)].mean() > LIKELY_TEXT:
            break
        result &= ~listed
    return result if result.any() else mask


def without_teasers(
    blocks: BlockPage, tokens: Tokens, probabilities: NDArray[np.float32], mask: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the kept blocks without cards of other articles between two paragraphs that are
    named so, or of whose words outside links the network isn't sure, and without what one link
    encloses together: a headline and what teases below it."""
    words = tokens.words * mask
    places = words.nonzero()[0]
    teased = np.zeros(len(mask), dtype=bool)
    for first, end in _within_links(blocks.raw):
        if end - first <= BLOCKS_OF_CARD:
            teased[first:end] = tokens.words[first:end].sum() >= WORDS_IN_LINK
    teasers, read = _Cards(blocks, tokens, tease=True), teased.copy()
    first, last = (int(places[0]) + 1, int(places[-1])) if len(places) else (0, 0)
    for place in teasers.headlines[first:last].nonzero()[0].tolist():
        if read[first + place] or not (cards := teasers.around(first + place)):
            continue
        listed = np.zeros(len(mask), dtype=bool)
        for card in cards:
            listed[blocks.within(card)] = True
        read |= listed
        teasing = teasers.unlinked * listed
        is_card = teasing.any() and (
            teasing @ probabilities < LIKELY_IN_CARD * teasing.sum()
            or not _OF_CARDS.isdisjoint(hints_of(blocks.elements.names(cards[0])))
        )
        if is_card and _are_between(blocks, places, listed.nonzero()[0]):
            teased |= listed
    return mask & ~teased if words[teased].sum() <= SHARE_OF_CARDS * words.sum() else mask


def _are_between(blocks: BlockPage, places: NDArray[np.int64], listed: NDArray[np.int64]) -> bool:
    """Return whether a list stands between two kept blocks of the same tag and depth."""
    elements = blocks.elements
    above = places[places < listed[0]][-AROUND_TEASERS:]
    below = places[places > listed[-1]][:AROUND_TEASERS]
    kinds = [
        {
            (int(elements.tags[owner]), int(elements.depths[owner]))
            for owner in blocks.owners[around]
        }
        for around in (above, below)
    ]
    return not kinds[0].isdisjoint(kinds[1])


def _within_links(raws: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the end of the blocks that one link encloses together."""
    text = "\n".join(("", *raws))
    first = start = 0
    for link in _LINK_OVER_BLOCKS.finditer(text):
        first += text.count("\n", start, link.start(1)) - (start == 0)
        end = first + link[1].rstrip().count("\n") + 1
        if end - first > 1:
            yield first, end
        start = link.start(1)


def without_behind(
    blocks: BlockPage,
    tokens: Tokens,
    probabilities: NDArray[np.float32],
    is_title: NDArray[np.bool_],
    mask: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return the kept blocks without a few behind the element that holds the text, of which the
    network isn't sure: the innermost one around its middle that is an ARTICLE, a MAIN or so named,
    and has half of its words; a part of the text if it goes on in elements alike. Stories that
    follow in ARTICLEs of their own, with headlines alike, are left out, too."""
    elements, owners = blocks.elements, blocks.owners
    mask = mask & (owners < _end_of_story(blocks, tokens.words * mask, is_title))
    words = tokens.words * mask
    places = words.nonzero()[0]
    if not len(places):
        return mask
    sums, last = words[places].cumsum(), int(owners[places].max())
    element = int(owners[places[np.searchsorted(sums, sums[-1] / 2)]])
    while element > 0:
        end = int(elements.ends[element])
        if last >= end and (
            _HOLDERS[elements.tags[element]]
            or not _OF_HOLDERS.isdisjoint(hints_of(elements.names(element)))
        ):
            size = int(words[blocks.within(element)].sum())
            behind = words * (owners >= end)
            if (
                size >= SHARE_OF_HOLDER * sums[-1]
                and behind.sum() <= SHARE_OF_ASIDES * sums[-1]
                and not _is_second_part(blocks, behind, probabilities)
                and not any(
                    mask[blocks.within(each)].any() for each in _alike_behind(blocks, element)
                )
            ):
                return mask & (owners < end)
        element = int(elements.parents[element])
    return mask


def _end_of_story(
    blocks: BlockPage, of_text: NDArray[np.int64], is_title: NDArray[np.bool_]
) -> int:
    """Return the end of the headline's ARTICLE, if it has a text and behind it is an ARTICLE with
    another text and a date below a headline of the same tag or class: entries of a ticker are
    short, chapters without a date; else the end of the page."""
    elements, owners = blocks.elements, blocks.owners
    headings = _HEADINGS[elements.tags[owners]].nonzero()[0].tolist()
    title = next((place for place in headings if is_title[place]), -1)
    article = int(owners[title]) if title >= 0 else 0
    tag, name = elements.tags[article], _class_of(elements.names(article))
    while article > 0 and elements.tags[article] != _ARTICLE:
        article = int(elements.parents[article])
    end = int(elements.ends[article])
    others = end + (elements.tags[end:] == _ARTICLE).nonzero()[0]
    if article <= 0 or not len(others) or of_text[blocks.within(article)].sum() < MIN_STORY:
        return len(elements.tags)
    read = set[int]()
    for owner in owners[headings].tolist():
        around = others[(others < owner) & (owner < elements.ends[others])].tolist()
        is_alike = elements.tags[owner] == tag or _class_of(elements.names(owner)) == name != ""
        if not is_alike or not around or around[-1] in read:
            continue
        read.add(around[-1])
        within = blocks.within(around[-1])
        if of_text[within].sum() >= MIN_TEXT and _has_date(blocks.raw[within], of_text[within]):
            return end
    return len(elements.tags)


def _has_date(raws: Sequence[str], of_text: NDArray[np.int64]) -> bool:
    """Return whether one of these blocks, without those of the text, is a line with a date."""
    lines = (raw for raw, words in zip(raws, of_text.tolist(), strict=True) if not words)
    return any(find(clean(raw)) is not None for raw in lines if len(raw) <= LONGEST_LABEL)


def _is_second_part(
    blocks: BlockPage, words: NDArray[np.int64], probabilities: NDArray[np.float32]
) -> bool:
    """Return whether kept blocks behind the element that holds the text go on with it: one of
    several words is likely text, and very likely if a heading opens them, in no element named as a
    card or aside; frequent questions don't."""
    elements, places = blocks.elements, words.nonzero()[0]
    if _asks_often(blocks, words, places):
        return False
    is_chapter = _HEADINGS[elements.tags[blocks.owners[places[0]]]]
    is_likely = probabilities[places] >= (LIKELY_CHAPTER if is_chapter else LIKELY_BEHIND)
    for place in places[is_likely & (words[places] >= MIN_STANDFIRST)].tolist():
        owner = int(blocks.owners[place])
        around = elements.names(owner), elements.names(int(elements.parents[owner]))
        if _OF_BESIDE.isdisjoint(hint for names in around for hint in hints_of(names)):
            return True
    return False


def _asks_often(blocks: BlockPage, words: NDArray[np.int64], places: NDArray[np.int64]) -> bool:
    """Return whether lines of a kind of their own are questions: those of an interview or a forum
    have the elements of the answers."""
    elements, (least, most) = blocks.elements, FREQUENT_QUESTIONS
    lines, questions = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for place in places.tolist():
        kind = _kind_of(elements, int(blocks.owners[place]))
        lines[kind] += 1
        questions[kind] += words[place] <= most and clean(blocks.raw[place]).endswith(_QUESTION)
    return any(number >= max(least, 2 / 3 * lines[kind]) for kind, number in questions.items())


def _alike_behind(blocks: BlockPage, element: int) -> list[int]:
    """Return the elements of the same tag and class, or other names, behind an element, whatever
    their numbers."""
    elements = blocks.elements
    same_tag = (elements.tags == elements.tags[element]).nonzero()[0]
    behind = same_tag[same_tag >= elements.ends[element]].tolist()
    names = map(elements.names, [element, *behind])
    first, *kinds = [hints_of(_class_of(each) or each) for each in names]
    return [each for each, kind in zip(behind, kinds, strict=True) if kind == first]


def without_last_links(
    blocks: BlockPage, tokens: Tokens, probabilities: NDArray[np.float32], mask: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the kept blocks without a few headlines of other articles that are links at their end,
    of which the network isn't sure, and the label above them."""
    words = tokens.words * mask
    places = words.nonzero()[0]
    is_link = tokens.linked[places] >= LINKED_HEADLINE * words[places]
    is_link &= words[places] > MIN_HEADLINE
    first = len(places) - int(is_link[::-1].argmin()) if len(places) else 0
    links = places[first:]
    if not len(links) or probabilities[links].mean() > LIKELY_TEXT:
        return mask
    are_sentences = any(clean(blocks.raw[place]).endswith(".") for place in links.tolist())
    if are_sentences or words[links].sum() > SHARE_OF_ASIDE * words.sum():
        return mask
    label = int(places[first - 1])
    is_label = _HEADINGS[blocks.elements.tags[blocks.owners[label]]]
    is_label |= clean(blocks.raw[label]).endswith((":", "：", "…"))
    mask = mask.copy()
    mask[label if is_label and tokens.words[label] <= WORDS_OF_LABEL else links[0] :] = False
    return mask


def without_gated(
    blocks: BlockPage, words: NDArray[np.int64], mask: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the kept blocks of a page that isn't free above the line that offers the rest: below
    it the paper speaks of subscriptions, accounts and devices."""
    above = (words * mask).cumsum()
    for place in mask.nonzero()[0][1:].tolist():
        if above[-1] - above[place] > SHARE_OF_ASIDES * above[place]:
            continue
        if len(blocks.raw[place]) <= LONGEST_GATE and offers_the_rest(blocks.raw[place]):
            mask = mask.copy()
            mask[place:] = False
            break
    return mask
