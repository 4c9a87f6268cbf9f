"""The kind of a page, decided by its metadata, its text and the surroundings of the text.

Metadata declares a kind. The text corrects it: a long text is an article with any title, and a
short one may be an error, a consent page or the free part of an article. Two kinds of wall are not
in the text alone: a long consent page has a button that accepts, and behind a teaser stands the
call to subscribe. Where the rules find nothing against an article and JSON-LD has none, a logistic
regression over a score of features recognises documentation, services, lists and threads.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, MatchKind
from selectolax.lexbor import LexborNode

from newscrawl.extraction.blocks import LETTERS_A_WORD, clean
from newscrawl.extraction.metadata.reader import Metadata, address_of
from newscrawl.extraction.metadata.vocabulary import (
    asks_to_subscribe,
    contains_any,
    tables,
    words,
)
from newscrawl.extraction.methods import ParsedPage
from newscrawl.items import Kind
from newscrawl.notices import NEAR, offers_the_rest, speaks_to_reader, tells_of_itself

_ROBOT_CHECK: Final = words("walls", "robot_check")
_CONSENT: Final = words("phrases", "consent")
_ACCEPT: Final = frozenset(words("walls", "accept"))
_GATES: Final = AhoCorasick(words("walls", "gates"))
_CONTROLS: Final = "button, [role=button], input[type=submit], input[type=button]"

# The markup of forums and shops: types of schema.org in attributes, and what XenForo writes.
_SCHEMA: Final = b"schema.org/"
_TYPES: Final = BytesAhoCorasick(
    (b'Product"', b"DiscussionForumPosting", b"QAPage"), matchkind=MatchKind.LeftmostFirst
)
_XENFORO: Final = b'<html id="XF"'

# Ours, words of body text: the maximum of a wall or teaser, and the minimum of an article.
SHORT: Final = 120
# Ours, words: a notice of a page about itself is shorter, a welcome to a new site longer.
NOTICE: Final = 80
# Ours: letters in a row that the title of a short article shares with its text, at least, and those
# of scripts without blanks.
LEAST_SHARED: Final = 5
LEAST_SHARED_SIGNS: Final = 2
TEASER: Final = 250
LONG: Final = 400
# Ours: words within links for each word of text from which on a page with a section's address may
# be its front.
LINKED_SHARE: Final = 0.5
# Ours: different phrases of consent that make a short text a consent page, and a long one suspect.
MIN_CONSENT_PHRASES: Final = 2
# Ours: blocks behind a text that are searched for a gate.
BLOCKS_BEHIND: Final = 6
# Ours: characters of a text that are searched for phrases of walls; of a long one for consent.
SEARCHED: Final = 2_000
SEARCHED_FOR_CONSENT: Final = 400
# Ours: words of the shortest text of which the model judges the page. A crawl stores a shorter one
# with the headline of its listing, as unreadable.
LEAST_JUDGED: Final = 20
# Ours: characters from the last paragraph on that are searched for a gate.
SEARCHED_FOR_GATE: Final = 600


def decide_kind(page: ParsedPage, paragraphs: Sequence[str], url: str | None = None) -> Kind:
    """Return the kind of a page from which these paragraphs were taken."""
    kind = _kind_by_rules(page, paragraphs)
    if kind != "article":
        return kind
    features = undeclared_features(page, paragraphs, url)
    if not features:
        return "article"
    length = sum(map(_length_of, paragraphs))
    has_links = page.link_words > LINKED_SHARE * length
    if length < LEAST_JUDGED and not has_links:
        return "article"
    is_like_front = page.metadata.declared.could_be_front and has_links
    least = UNLIKELY_ARTICLE if not is_like_front else UNLIKELY_FRONT
    if not load_kind_model().rejects(features, least):
        return "article"
    return "front" if is_like_front else "other"


def _kind_by_rules(page: ParsedPage, paragraphs: Sequence[str]) -> Kind:
    text = "\n\n".join(paragraphs)
    length = _length_of(text)
    kind = _kind_of_text(page.metadata, text, length)
    if kind != "article" or not text:
        return kind
    if (
        length < NOTICE
        and not _has_headline(page, text)
        and tells_of_itself(text, has_headline=False)
    ):
        return "error"
    if _is_consent_page(page, text):
        return "consent"
    if not page.metadata.declared.is_article and _is_thread_or_product(page):
        return "other"
    if length < TEASER and _is_teaser(page, paragraphs):
        return "paywall"
    return kind


def _has_headline(page: ParsedPage, text: str) -> bool:
    """Return whether a page says that it has an article: by type, author or a date other than its
    address, by a heading that is no exclamation and doesn't repeat the beginning of the text, or by
    a title that shares letters with it."""
    metadata = page.metadata
    is_dated = metadata.published and not metadata.date_evidence.place.endswith("address")
    if metadata.declared.is_article or is_dated or metadata.authors:
        return True
    lowered = _squeeze(text)
    if heading := page.tree.css_first("h1, h2, h3"):
        title = _squeeze(heading.text())
        is_exclamation = " " not in title and title.isascii() and " " in lowered
        if lowered.startswith(title) or is_exclamation:
            return False
        if " " in title or not title.isascii():
            return True
    else:
        title = _squeeze(metadata.title or "")
    least = LEAST_SHARED if " " in lowered else LEAST_SHARED_SIGNS
    parts = (title[at : at + least] for at in range(len(title) - least + 1))
    return any(part in lowered for part in parts)


def _is_thread_or_product(page: ParsedPage) -> bool:
    """Return whether the markup declares a thread or a product. A dated page with an author reviews
    a product and doesn't sell it."""
    source, metadata = page.source, page.metadata
    is_signed = metadata.published is not None and bool(metadata.authors)
    return _XENFORO in source[:SEARCHED] or any(
        number >= is_signed and source.endswith(_SCHEMA, 0, start)
        for number, start, _ in _TYPES.find_matches_as_indexes(source)
    )


def _kind_of_text(metadata: Metadata, text: str, length: int) -> Kind:
    match metadata.declared.kind:
        case "error":
            return "error" if length < TEASER else "article"
        case "gallery" | "video":
            return metadata.declared.kind if length < LONG else "article"
        case "article":
            if length >= TEASER:
                return "article"
            if length < SHORT:
                lowered = text[:SEARCHED].lower()
                if contains_any(lowered, _ROBOT_CHECK):
                    return "error"
                if _asks_for_consent(lowered) and speaks_to_reader(text):
                    return "consent"
                if asks_to_subscribe(lowered):
                    return "paywall"
                if length < NOTICE and not metadata.paywalled and tells_of_itself(text):
                    return "error"
            return "paywall" if metadata.paywalled else "article"
        case _:
            return metadata.declared.kind


def _length_of(text: str) -> int:
    """Return the number of words of a text; two letters are one where no blanks are between."""
    between_blanks = text.count(" ") + text.count("\n\n") + bool(text)
    unspaced = len(text) > LETTERS_A_WORD * max(between_blanks, 1)
    return len(text) // 2 if unspaced else between_blanks


def _asks_for_consent(lowered: str) -> bool:
    return sum(phrase in lowered for phrase in _CONSENT) >= MIN_CONSENT_PHRASES


# --- Walls that the text alone doesn't show -------------------------------------------------------


def _is_consent_page(page: ParsedPage, text: str) -> bool:
    """Return whether a text that begins with consent is above a button that accepts; a page
    that declares an article is none."""
    metadata = page.metadata
    return (
        not metadata.published
        and not metadata.declared.is_article
        and _asks_for_consent(text[:SEARCHED_FOR_CONSENT].lower())
        and any(map(_accepts, page.tree.css(_CONTROLS)))
    )


def _accepts(control: LexborNode) -> bool:
    label = _squeeze(control.text() or control.attributes.get("value") or "")[:60]
    first = label.split()[:1]
    return label in _ACCEPT or (bool(first) and first[0].strip(",.!") in _ACCEPT)


def _is_teaser(page: ParsedPage, paragraphs: Sequence[str]) -> bool:
    """Return whether a call to subscribe ends or follows a short text, on a page that doesn't say
    whether it is free."""
    if page.metadata.paywalled is not None:
        return False
    raws = page.blocks.raw
    ends = (place for place in reversed(range(len(raws))) if clean(raws[place]) == paragraphs[-1])
    end = next(ends, len(raws)) + 1
    # A call that was taken for text is a short last paragraph.
    last = [paragraph for paragraph in paragraphs[-1:] if len(paragraph) <= NEAR]
    texts = [*last, *map(clean, raws[end : end + BLOCKS_BEHIND])]
    behind = _squeeze(" | ".join(texts[:BLOCKS_BEHIND]))[:SEARCHED_FOR_GATE]
    return bool(_GATES.find_matches_as_indexes(behind)) or offers_the_rest(behind)


def _squeeze(text: str) -> str:
    return " ".join(text.split()).lower().replace("’", "'")


# --- Pages whose data hold no article ------------------------------------------------------------

# Ours, chosen one after the other by what each adds on unseen sites: `benchmarks.recipes kinds
# --folds 5`.
KIND_FEATURES: Final = (
    "slug_words",
    "news_path",
    "service_path",
    "forum_path",
    "docs_path",
    "shop_path",
    "number_in_path",
    "section_path",
    "has_date",
    "has_author",
    "buttons",
    "code",
    "figures",
    "forum_words",
    "shop_words",
    "results",
    "first_person",
    "long_paragraphs",
    "short_paragraphs",
    "linked_words",
)
_PATHS_OF: Final = {name: frozenset(names) for name, names in tables("places").items()}
# A thread's number in an address.
_THREAD: Final = re.compile(r"/(?:[td]|topics?|thread)[/-][^?#]*\d|showtopic|showthread")
_ENDING: Final = re.compile(r"\.(?:html?|php|aspx?|jsp)$")
_NUMBER: Final = re.compile(r"\d{4}")
# In markup, mostly names of classes.
_FORUM_WORDS: Final = (b"forum", b"vote", b"member", b"message")
_SHOP_WORDS: Final = (b"price", b"cart", b"card")
_IN_MARKUP: Final = (
    (b"<button",), (b"<code",), (b"<figure",), _FORUM_WORDS, _SHOP_WORDS, (b"results",)
)  # fmt: skip
_WORDS_IN_MARKUP: Final = tuple(word for group in _IN_MARKUP for word in group)
# A twentieth of the time of the usual kind; no word is a part of another one, so it finds the same.
_FINDER: Final = BytesAhoCorasick(_WORDS_IN_MARKUP, matchkind=MatchKind.LeftmostFirst)
# English alone: in other languages no pages but articles are labelled.
_FIRST_PERSON: Final = BytesAhoCorasick(
    (b" we ", b" us ", b" our ", b" ours "), matchkind=MatchKind.LeftmostFirst
)
MAX_SLUG_WORDS: Final = 12
LONG_PARAGRAPH: Final = 25  # ours: words
SHORT_PARAGRAPH: Final = 8  # ours: words
MAX_FIRST_PERSON: Final = 4.0  # ours: percent of the words
# The probability of not being an article from which a page is none, fitted by the same command: an
# article that is lost costs more than a page that is stored for nothing.
UNLIKELY_ARTICLE: Final = 0.8
# The same of a page that is like a section's front: those of papers aren't among the labelled ones.
UNLIKELY_FRONT: Final = 0.03


@dataclass(frozen=True, slots=True)
class KindModel:
    """A logistic regression: the weights of `KIND_FEATURES`, and the log-odds where all are 0."""

    weights: tuple[float, ...]
    bias: float

    def rejects(self, features: Sequence[float], min_probability: float = UNLIKELY_ARTICLE) -> bool:
        """Return whether the page is not an article with `min_probability` or more."""
        log_odds = self.bias + sum(map(math.prod, zip(self.weights, features, strict=True)))
        return log_odds >= math.log(min_probability / (1 - min_probability))


@cache
def load_kind_model() -> KindModel:
    """Return the model in `data/kinds.json`, which `python -m benchmarks.recipes kinds` writes."""
    file = files("newscrawl.extraction").joinpath("data", "kinds.json")
    stored = json.loads(file.read_text("utf-8"))
    return KindModel(tuple(stored["weights"][name] for name in KIND_FEATURES), stored["bias"])


def undeclared_features(
    page: ParsedPage, paragraphs: Sequence[str], url: str | None
) -> tuple[float, ...]:
    """Return the `KIND_FEATURES` of a page that has an address and no article in JSON-LD; of others
    none."""
    metadata, source = page.metadata, page.source
    if metadata.declared.has_data or not url or not paragraphs:
        return ()
    address = address_of(url)
    if address is None:
        return ()
    labels = (address.hostname or "").split(".")[:-1]
    parts = [_ENDING.sub("", part) for part in address.path.split("/") if part]
    places = {*parts, *labels}
    of_path = {name: not names.isdisjoint(places) for name, names in _PATHS_OF.items()}
    # What ends in "/news" is a list of news.
    of_path["news_path"] = not _PATHS_OF["news_path"].isdisjoint((*parts[:-1], *labels))
    of_path["forum_path"] |= bool(_THREAD.search(url.lower()))
    lengths = [*map(_length_of, paragraphs)]
    spoken = f"  {'  '.join(paragraphs).lower().replace(' ', '  ')}  "
    first_person = len(_FIRST_PERSON.find_matches_as_indexes(spoken.encode("utf-8", "replace")))
    words = sum(paragraph.count(" ") + 1 for paragraph in paragraphs)
    tokens = page.candidate_features.tokens
    in_markup = _FINDER.find_matches_as_indexes(source)
    counts = Counter(_WORDS_IN_MARKUP[number] for number, _, _ in in_markup)
    return (
        min(len(re.split("[-_+]", parts[-1] if parts else "")), MAX_SLUG_WORDS),
        *map(float, of_path.values()),
        float(bool(_NUMBER.search(address.path))),
        float(metadata.declared.could_be_front),
        float(metadata.published is not None),
        float(bool(metadata.authors)),
        *(math.log1p(sum(map(counts.__getitem__, group))) for group in _IN_MARKUP),
        min(100 * first_person / max(words, 1), MAX_FIRST_PERSON),
        sum(count for count in lengths if count >= LONG_PARAGRAPH) / max(sum(lengths), 1),
        sum(count <= SHORT_PARAGRAPH for count in lengths) / len(lengths),
        float(tokens.linked.sum()) / max(float(tokens.words.sum()), 1.0),
    )
