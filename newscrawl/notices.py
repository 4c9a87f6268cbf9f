"""Sentences in which a page speaks of itself: notices in place of an article, and paragraphs within
one that ask the reader to subscribe, follow, share or consent, that name another article, the
author or the rights.

They are known by their words alone, in all languages at once: those of a class, and few beside
them. The words stand in data/notices.toml.
"""

import re
import tomllib
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate, chain
from typing import Final, NamedTuple

from ahocorasick_rs import AhoCorasick

from newscrawl.text import LINK_END, LINK_START, stop_words_of

# The key of words that are the same in all languages.
ANY: Final = "any"
# Ours: different words about pages that a notice has at least beside one that addresses the reader.
MIN_SELF_WORDS: Final = 3
# Ours: letters of words that are whole: with "you", "sie", "us", "app" other words begin.
_WHOLE_WORDS: Final = {"reader": 4, "platform": 4, "us": 3, "what": 3, "fill": 2, "pay": 3}
# Ours: characters around the name of an article's rest in which the price of it stands; a letter by
# mail that is offered there is none.
NEAR: Final = 120
_LETTER: Final = re.compile("newsletter|e-?mail|inbox|posteingang|com+ent|kommentar")
_LEFT: Final = re.compile(r"\b[1-9][0-9] ?%|\d\d+ ?(?:文字|字)")
_WITHOUT_BLANKS: Final = frozenset({"zh", "ja", "ko", "th"})
_WITHOUT_WORDS: Final = frozenset({"zh", "ja", "th"})
_SENTENCE: Final = re.compile(r"[.!?:;。！？।؟\n]+(?=\s|$)|[。！？।؟]")
_MARKS: Final = "\"'()[]{}«»„“”‚‘’‹›…–—,/|"


def _lower(text: str) -> str:
    """Return a text in lower case, in which letters with a dot are written in one way."""
    lowered = text.lower().replace("i\u0307", "i")
    return lowered if lowered.isascii() else unicodedata.normalize("NFC", lowered)


@cache
def words_of_notices() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the words by language and kind."""
    source = _lower(files("newscrawl").joinpath("data/notices.toml").read_text("utf-8"))
    return {
        language: {kind: tuple(words.split(", ")) for kind, words in kinds.items()}
        for language, kinds in tomllib.loads(source).items()
    }


# --- Notices in place of an article --------------------------------------------------------------

_OF_PAGES: Final = ("page", "state", "reader", "rest", "pay")
_OF_REST: Final = frozenset({"rest", "pay"})
_OF_SELF: Final = frozenset({"page", "state", "reader"})
# Where a sentence says what somebody said, did or earned, it asks its reader for nothing.
_NEWS: Final = "news"
# Ours: the share of each sentence's words that may be others where a notice addresses nobody, and
# where it addresses its reader; the mean share where it does with several words about pages, which
# a text on robots has, too.
MAX_OTHERS: Final = 0.25
MAX_OTHERS_TO_READER: Final = 0.34
MEAN_OTHERS: Final = 0.72
# Ours: letters of a text that is all of a page, too short for an article, and that share there.
MAX_LETTERS: Final = 90
OTHERS_OF_SHORT: Final = 0.5
# Ours: the mean share on a page without a headline, where it addresses its reader or nobody.
OTHERS_WITHOUT_HEADLINE: Final = (0.8, 0.6)
_CRY: Final = re.compile(r"^ [¡]?[^\W\d_]{2,8} $")
# "404", "Error 404", "HTTP-Fehler 503": the number of an answer, which says what became of a page.
_ANSWER: Final = re.compile(
    r"^ (?:[^\W\d][\w/-]* ){0,2}(?:4(?:0[0134]|10|29|51)|50[0234]) (?:[^\W\d]\w* )?$"
)


@cache
def _notices() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the words of notices in place of an article by language, with the blanks that stand
    around them: a word of a few letters that addresses the reader is whole, all others are
    beginnings."""
    return {
        language: {
            kind: tuple(
                _spread(form) if kind in _OF_REST else _elided(form)
                for form in (_form(language, kind, word) for word in kinds.get(kind, ()))
            )
            for kind in _OF_PAGES
        }
        for language, kinds in words_of_notices().items()
        if not kinds.keys().isdisjoint(_OF_PAGES)
    }


def _form(language: str, kind: str, word: str) -> str:
    if kind == "platform":
        is_part = not word.isascii()
    else:
        is_part = language in _WITHOUT_BLANKS or (
            language in _WITH_PREFIXES and kind not in _OF_PAGES
        )
    if is_part:
        return word
    is_whole = kind == "ask" or len(word) <= _WHOLE_WORDS.get(kind, 0)
    return f" {word} " if is_whole else f" {word}"


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text in lower case, with single blanks around their words."""
    sentences = (
        f" {' '.join(word.strip(_MARKS) for word in part.split())} "
        for part in _SENTENCE.split(_lower(text))
    )
    return [sentence for sentence in sentences if any(map(str.isalpha, sentence))]


def speaks_to_reader(text: str) -> bool:
    """Return whether a text has a word that addresses its reader."""
    spoken = " ".join(_sentences(_elided(text)))
    return any(word in spoken for kinds in _notices().values() for word in kinds["reader"])


def tells_of_itself(text: str, *, has_headline: bool = True) -> bool:
    """Return whether a short text speaks to its reader of page, browser, cookies, access or login
    in each of its sentences, as do soft errors, shells, consent and maintenance pages; without a
    headline it may speak of other things, too."""
    text = _elided(text)
    spoken = [f" {' '.join(part.split())} " for part in _SENTENCE.split(_lower(text))]
    has_answer = any(map(_ANSWER.match, spoken))
    sentences = [sentence for sentence in _sentences(text) if not _ANSWER.match(sentence)]
    # "Oops!" says nothing.
    sentences = [part for part in sentences if not _CRY.match(part)] or sentences
    for language, kinds in _notices().items():
        hits = {
            kind: {word for word in words for sentence in sentences if word in sentence}
            for kind, words in ((kind, kinds[kind]) for kind in ("page", "state", "reader"))
        }
        is_told = bool(hits["state"] or has_answer or (hits["reader"] and not has_headline))
        if not hits["page"] or not is_told:
            continue
        finder, meanings = _finder(_OF_SELF | {_NEWS}, language)
        hits_of = [_hits(finder, meanings, sentence) for sentence in sentences]
        if any(hit.kind == _NEWS for hit in chain.from_iterable(hits_of)):
            continue
        others = [
            _kinds_and_others(language, *pair)[1] for pair in zip(sentences, hits_of, strict=True)
        ]
        most = OTHERS_WITHOUT_HEADLINE[not hits["reader"]] * len(others)
        if not has_headline and sum(others) <= most:
            return True
        limit = MAX_OTHERS_TO_READER if hits["reader"] else MAX_OTHERS
        if len(text) <= MAX_LETTERS and hits["reader"] and len(hits["page"] | hits["state"]) > 1:
            limit = OTHERS_OF_SHORT
        if max(others, default=0) <= limit:
            return True
        if hits["reader"] and len(hits["page"]) + len(hits["state"]) >= MIN_SELF_WORDS:
            words = set().union(*hits.values())
            is_spoken = all(any(word in sentence for word in words) for sentence in sentences)
            if is_spoken and sum(others) <= MEAN_OTHERS * len(others):
                return True
    return False


def _elided(text: str) -> str:
    """Return a text in which a short word before an apostrophe stands alone."""
    return _ELIDED.sub(r"\1 ", text) if "'" in text or "’" in text else text


def _spread(text: str) -> str:
    """Return a text in which a word stands alone behind an apostrophe."""
    return text.replace("’", "'").replace("'", "' ")


def offers_the_rest(lowered: str) -> bool:
    """Return whether a text names the rest of an article and what it takes to read it, within
    `NEAR` characters: a subscription, a membership, a login, or the percentage that is left."""
    spoken = _spread(f" {_lower(lowered)} ")
    finder, prices = _rests()
    for number, place, _ in finder.find_matches_as_indexes(spoken, overlapping=True):
        around = spoken[max(0, place - NEAR) : place + NEAR]
        is_price = any(price in around for price in prices[number])
        if (is_price or _LEFT.search(around)) and not _LETTER.search(around):
            return True
    return False


@cache
def _rests() -> tuple[AhoCorasick, list[tuple[str, ...]]]:
    """Return a finder of names of the rest, and for each what it takes in that language."""
    pairs = [(name, of["pay"]) for of in _notices().values() for name in of["rest"]]
    return AhoCorasick([name for name, _ in pairs]), [prices for _, prices in pairs]


# --- Paragraphs within an article ----------------------------------------------------------------

# Ours: characters of the longest such paragraph.
LONGEST_NOTICE: Final = 320
# Ours: a request stands within this number of words of the beginning or end of its sentence, and a
# word that names the article within this number of its beginning.
EDGE: Final = 3
# Ours: words of a sentence that begins with who helped with the article; a longer one goes on.
MOST_CREDITED: Final = 7
# Ours: labels of a language that begin with a word with which further ones may.
MIN_LABELS: Final = 2
# Ours: sentences of such a paragraph.
MOST_SENTENCES: Final = 3
# Ours: characters of the owner's name behind a notice of rights.
LONGEST_OWNER: Final = 12
# Ours: words of a sentence that opens with a request.
MOST_ASKED: Final = 8
# Ours: words of a biography before which the first word of a profession stands.
BEFORE_ROLE: Final = 9
# What a paragraph has, and the share of the words of each of its sentences, stop words apart, that
# may be others. Fitted on paragraphs of the development corpus.
_CLASSES: Final = (
    (frozenset({"ask", "us", "what", "platform"}), 0.5),
    (frozenset({"us", "what", "platform", "reader"}), 0.2),
    (frozenset({"ask", "us", "what"}), 0.4),
    (frozenset({"ask", "us", "platform"}), 0.4),
    (frozenset({"ask", "us"}), 0.0),
    (frozenset({"ask", "what"}), 0.15),
    (frozenset({"opens", "what", "reader"}), 0.34),
    (frozenset({"ask", "what", "platform"}), 0.3),
    (frozenset({"ask", "platform"}), 0.34),
    (frozenset({"consent", "embed"}), 0.3),
    (frozenset({"consent", "platform"}), 0.2),
    (frozenset({"rest", "pay"}), 0.3),
    (frozenset({"rights"}), 0.6),
    (frozenset({"piece", "origin"}), 0.75),
    (frozenset({"credit"}), 0.9),
)
# A question of few words before a request to the reader: "Got a tip? Message us." A longer one is
# of the text.
_QUESTION: Final = re.compile(r"(?:[^\s.!?؟？]{1,40} ){0,6}[^\s.!?؟？]{2,40} ?[?؟？]\s*")
_ADDRESSED: Final = frozenset({"us", "reader", "platform"})
# Ours: characters of a request behind a question.
SHORTEST_REQUEST: Final = 15
# Without one of these a paragraph is of no class.
_DECISIVE: Final = frozenset({"ask", "platform", "consent", "pay", "rights", "origin", "credit"})
_IN_CLASSES: Final = frozenset().union(*(required for required, _ in _CLASSES)) - {"opens"}
# Words that such paragraphs have beside those.
_BESIDE: Final = frozenset({"fill", "page", "state", "reader", "rest", "pay", "role"})
_TELLS: Final = frozenset({"ask", "opens", "consent", "platform"})
_IN_PARAGRAPHS: Final = _IN_CLASSES | _BESIDE | {_NEWS}
_ADDRESSES: Final = frozenset({"us", "reader", "embed", "rest", "pay"})
# Ours: blanks around the words of the shortest statement: "Spotify changes its terms".
WORDS_OF_STATEMENT: Final = 4
_BLANKS: Final = re.compile(f"[{re.escape(_MARKS)}.!?:;。！？।؟\n{LINK_START}{LINK_END}]")
# Languages in which a request may end with its verb.
_ASKS_LAST: Final = frozenset({"de", "nl", "tr", "hi", "bn", "fa", "hu"})
_AT_EDGE: Final = frozenset({"ask", "piece", "credit"})
_WITH_PREFIXES: Final = frozenset({"ar", "he"})
# Somebody's words; a name of one word stands in quotation marks, too, as in Lithuanian.
_QUOTED: Final = re.compile('["“”„«»「」『』]')
_QUOTED_NAME: Final = re.compile(r'[„«“"]\s?(\w[\w.\'’-]*)\s?[“»”"]')
# "l'afficher", "dell'articolo": a word of its own before the apostrophe.
_ELIDED: Final = re.compile(r"(?<!\w)([ldsnmtcj]|qu|un|(?:de|a|su|ne|da|que)ll)['’]", re.IGNORECASE)
# Where a word of Latin letters meets one of a script without blanks, and marks between its words.
_SCRIPTS: Final = re.compile(
    "(?<=[A-Za-z])(?=[\u3040-\u9fff\uac00-\ud7af])|(?<=[\u3040-\u9fff\uac00-\ud7af])(?=[A-Za-z])"
    "|[、，：・]"
)
# A text of Chinese signs is Chinese, or Japanese where it has these.
_SIGNS: Final = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
_KANA: Final = re.compile("[\u3041-\u30ff]")
_TOKEN: Final = re.compile(r"\S+")
_LABEL: Final = re.compile(
    rf"[^\w\n]*([^\n{LINK_START}{LINK_END}]{{2,40}}?) ?"
    rf"(?:[:：՝|›»>→–—/\]】{LINK_START}]|- |[.…]*\Z)"
)
_PERSON: Final = re.compile(
    r"[\W_]*(?:[^\W\d_a-zа-яёα-ωà-ÿ][\w'’.-]*[ ]+){1,3}[^\W\d_a-zа-яёα-ωà-ÿ][\w'’-]*"
    r"(?![\w'’.-]| [^\W\d_a-zа-яёα-ωà-ÿ])"
)


class _Hit(NamedTuple):
    kind: str
    start: int
    end: int


# Words in the order of a finder's numbers, each with its languages and kinds.
Meanings = tuple[tuple[str, list[tuple[str, str]]], ...]


def _meanings(kinds: frozenset[str], language: str = "") -> Meanings:
    """Return the words of some kinds, of all languages or one of them, and their meanings."""
    meanings: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for of, words_by_kind in words_of_notices().items():
        if language in {"", of} or of == ANY:
            for kind in kinds & words_by_kind.keys():
                for word in words_by_kind[kind]:
                    form = _form(of, kind, _elided(word))
                    meanings[form].append((of, kind))
    return tuple(meanings.items())


@cache
def _finder(kinds: frozenset[str], language: str = "") -> tuple[AhoCorasick, Meanings]:
    """Return a finder of these words, and their meanings."""
    meanings = _meanings(kinds, language)
    return AhoCorasick([word for word, _ in meanings]), meanings


@cache
def _signs() -> AhoCorasick:
    """Return a finder of labels and the beginnings of words without which nothing is a notice."""
    words = (word.rstrip() for word, _ in _meanings(_DECISIVE))
    return AhoCorasick(sorted(_labels().union(words)))


def with_signs(raws: Sequence[str]) -> list[bool]:
    """Return which of a page's paragraphs may be notices, all of them in one search."""
    openings = [f" {raw.lstrip(_MARKS)}" if len(raw) <= LONGEST_NOTICE else "" for raw in raws]
    joined = _lower("\n".join(openings))
    ends = list(accumulate(len(part) + 1 for part in joined.split("\n")))
    flags = [False] * len(raws)
    for _, start, _ in _signs().find_matches_as_indexes(joined):
        flags[bisect_right(ends, start)] = True
    return flags


@lru_cache(maxsize=512)  # a page that is no article is read twice, and sites repeat their notices
def is_notice(raw: str, *, has_sign: bool = False) -> bool:
    """Return whether a paragraph only speaks of its paper or platform, or names another article
    behind a label; `raw` may have the marks of links. `has_sign` says that `with_signs` did."""
    if len(raw) > LONGEST_NOTICE:
        return False
    lowered = _lower(raw)
    if not (has_sign or _signs().find_matches_as_indexes(f" {lowered.lstrip(_MARKS)}")):
        return False
    if _names_another(raw):
        return True
    question = _QUESTION.match(raw) if "?" in raw or not raw.isascii() else None
    if question and len(raw) >= question.end() + SHORTEST_REQUEST:
        request = f" {_BLANKS.sub(' ', lowered[question.end() :])} "
        finder, _ = _finder(_ADDRESSED)
        if finder.find_matches_as_indexes(request) and is_notice(raw[question.end() :]):
            return True
    spoken = f" {_BLANKS.sub(' ', lowered)} "
    finder, meanings = _finder(_IN_CLASSES)
    hits = finder.find_matches_as_indexes(spoken, overlapping=True)
    words = [meanings[number][1] for number in {hit[0] for hit in hits}]
    kinds_of_all = {kind for word in words for _, kind in word}
    if not any(required <= kinds_of_all for required, _ in _CLASSES):
        return False
    kinds: dict[str, set[str]] = defaultdict(set)
    for language, kind in chain.from_iterable(words):
        kinds[language].add(kind)
    anywhere = kinds.pop(ANY, set())
    signs = {"zh", "ja"} if _KANA.search(spoken) else {"zh"} if _SIGNS.search(spoken) else None
    languages = [
        language
        for language, spoken_of in kinds.items()
        if signs is None or language in signs
        if any(required <= spoken_of | anywhere for required, _ in _CLASSES)
    ]
    if not languages or _QUOTED.search(_QUOTED_NAME.sub(r"\1", raw)):
        return False
    text = raw.replace(LINK_START, "").replace(LINK_END, "")
    text = _elided(text if text.isascii() else _SCRIPTS.sub(" ", text))
    sentences = _sentences(text)
    asks = len(sentences) == 1 and text.rstrip().endswith(("?", "？", "؟"))
    if asks or len(sentences) > MOST_SENTENCES:
        return False
    return any(_is_of_class(language, sentences) for language in languages)


def _is_of_class(language: str, sentences: Sequence[str]) -> bool:
    """Return whether sentences have together what a class has, and each of them few other words."""
    finder, meanings = _finder(_IN_PARAGRAPHS, language)
    kinds: set[str] = set()
    foreign, tells = 0.0, False
    for sentence in sentences:
        hits = _hits(finder, meanings, sentence)
        tells = tells or any(hit.kind == _NEWS for hit in hits)
        kinds_here, share = _kinds_and_others(language, sentence, hits)
        if not kinds and _begins_with_platform(sentence, hits):
            return False
        if kinds_here:
            foreign = max(foreign, share)
        elif "rights" not in kinds or len(sentence) > LONGEST_OWNER:
            return False
        kinds |= kinds_here
    return any(
        required <= kinds and foreign <= limit and not (tells and required & _TELLS)
        for required, limit in _CLASSES
    )


def _begins_with_platform(sentence: str, hits: Sequence[_Hit]) -> bool:
    """Return whether a platform is the subject of a sentence that addresses nobody: "Twitter will
    allow users to follow topics"."""
    return (
        sentence.count(" ") >= WORDS_OF_STATEMENT
        and not any(hit.kind in _ADDRESSES for hit in hits)
        and any(hit.kind == "platform" and hit.start == 0 for hit in hits)
        and not any(hit.kind == "ask" and hit.start <= sentence.index(" ", 1) for hit in hits)
    )


def _hits(finder: AhoCorasick, meanings: Meanings, sentence: str) -> list[_Hit]:
    return [
        _Hit(kind, start, end)
        for number, start, end in finder.find_matches_as_indexes(sentence, overlapping=True)
        for _, kind in meanings[number][1]
    ]


def _kinds_and_others(language: str, sentence: str, hits: Sequence[_Hit]) -> tuple[set[str], float]:
    """Return the kinds of words that a sentence has, at the places that they may have, and the
    share of its other words."""
    tokens = [match.span() for match in _TOKEN.finditer(sentence)]
    starts = [start for start, _ in tokens]
    kinds, is_known = set[str](), [False] * len(tokens)
    for kind, start, end in hits:
        if kind == _NEWS:
            continue
        first = bisect_right(starts, start + (sentence[start] == " ")) - 1
        last = bisect_right(starts, end - 1 - (sentence[end - 1] == " ")) - 1
        is_known[first : last + 1] = [True] * (last + 1 - first)
        at_edge = first < EDGE or (language in _ASKS_LAST and len(tokens) - last < EDGE)
        if kind == "credit":
            is_short = len(tokens) <= MOST_CREDITED
            at_edge = (first == 0 and is_short) or last == len(tokens) - 1
        opens = kind == "ask" and first == 0 and len(tokens) <= MOST_ASKED
        if opens and language not in _WITHOUT_BLANKS:
            kinds.add("opens")
        if kind in _IN_CLASSES and (at_edge or kind not in _AT_EDGE or language in _WITHOUT_BLANKS):
            kinds.add(kind)
    if language in _WITHOUT_WORDS:
        covered = {at for kind, start, end in hits if kind != _NEWS for at in range(start, end)}
        letters = [place for place, letter in enumerate(sentence) if letter.isalpha()]
        return kinds, sum(place not in covered for place in letters) / max(len(letters), 1)
    stop_words = stop_words_of(language)
    contents = [
        flag
        for flag, (start, end) in zip(is_known, tokens, strict=True)
        if any(map(str.isalpha, sentence[start:end])) and sentence[start:end] not in stop_words
    ]
    return kinds, contents.count(False) / max(len(contents), 1)


@cache
def _offers() -> re.Pattern[str]:
    """Return a pattern of links that all offer something at a shop."""
    words = [
        (language, re.escape(word))
        for language, kinds in words_of_notices().items()
        for word in kinds.get("shop", ())
    ]
    begin = "|".join(word for _, word in words)
    end = "|".join(word for language, word in words if language in _ASKS_LAST | _WITHOUT_BLANKS)
    text = rf"(?:(?:{begin})\b|[$€£¥] ?\d|\d[\d.,]* ?[$€£])[^{LINK_END}]*|[^{LINK_END}]*(?:{end})"
    link = rf"{LINK_START}\s*(?:{text})?\s*{LINK_END}"
    return re.compile(rf"(?:{link}[\s|,•·/–—-]*)+")


def is_offer(raw: str) -> bool:
    """Return whether a paragraph is nothing but links to shops: "Buy on Amazon", "$20 at Argos"."""
    return raw[:1] == LINK_START and _offers().fullmatch(_lower(raw)) is not None


def _bare(label: str) -> str:
    """Return a label in lower case without accents, which capitals of Greek and French lack."""
    letters = unicodedata.normalize("NFD", label.lower())
    return letters.translate(dict.fromkeys(map(ord, filter(unicodedata.combining, letters))))


@cache
def _labels() -> frozenset[str]:
    """Return the labels of other articles, of biographies and of comments in all languages, with
    and without accents."""
    labels = (kinds.get("label", ()) for kinds in words_of_notices().values())
    words = _alone().union(_abouts(), *labels)
    return words.union(map(_bare, words))


@cache
def _alone() -> frozenset[str]:
    """Return the labels behind which a colon begins no headline: "Advertising: TF1 earns less"."""
    kinds_of_all = words_of_notices().values()
    labels = (kinds.get(kind, ()) for kinds in kinds_of_all for kind in ("alone", "comments"))
    words = frozenset[str]().union(*labels)
    return words.union(map(_bare, words))


@cache
def _abouts() -> tuple[str, ...]:
    """Return what stands before biographies in all languages, the longest first."""
    words = {word for kinds in words_of_notices().values() for word in kinds.get("about", ())}
    return tuple(sorted(words, key=len, reverse=True))


@cache
def _words_of_labels() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return the words of labels by language, and those that begin two of them: "read", "mehr"."""
    words = []
    for language, kinds in words_of_notices().items():
        labels = [_bare(label).split() for label in kinds.get("label", ())]
        firsts = Counter(label[0] for label in labels)
        core = frozenset(word for word, times in firsts.items() if times >= MIN_LABELS)
        words.append((stop_words_of(language).union(*labels), core))
    return tuple(words)


def _names_another(raw: str) -> bool:
    """Return whether a paragraph is the headline of another article behind a label, or a label
    alone; a link behind a label goes up to the end."""
    label = _LABEL.match(raw)
    if label is None:
        return False
    name = _bare(label[1].strip())
    if name not in _labels():
        # "Mehr zu diesem Thema lesen: Der Hafen öffnet", made of the words of other labels.
        words = name.replace(",", "").split()
        return (
            len(words) > 1
            and label[0].endswith((":", "："))
            and raw.rstrip()[-1:] not in ".!?。"
            and any(
                words[0] in core and usual.issuperset(words) for usual, core in _words_of_labels()
            )
        )
    if name in _alone() and label[0].endswith((":", "：")):
        return not any(map(str.isalnum, raw[label.end() :]))
    return not label[0].endswith(LINK_START) or raw.rstrip(_MARKS + ". ").endswith(LINK_END)


def is_biography(text: str, authors: Collection[str]) -> bool:
    """Return whether a paragraph begins with a person and goes on with a profession. Without
    authors any capitalised name is a person, and "the author"."""
    folded = text.lstrip().lstrip(_MARKS).lstrip().lower()
    names = [author.lower() for author in authors] if authors else _abouts()
    name = next(filter(folded.startswith, names), None)
    person = _PERSON.match(text) if not (name or authors) else None
    behind = len(text) - len(folded) + len(name) if name else person.end() if person else -1
    if behind < 0:
        return False
    words = " ".join(" ".join(_sentences(text[behind:])).split()[:BEFORE_ROLE])
    finder, _ = _finder(frozenset({"role"}))
    return bool(finder.find_matches_as_indexes(f" {words} "))
