"""Functions over text that several packages need: closest names, sentences, safe normalisation."""

import html
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

# In the raw text of a block these two enclose the text of a link.
LINK_START: Final = "\x02"
LINK_END: Final = "\x03"

# Unicode Standard Annex 15, section 13, "Stream-Safe Text Format".
MAX_MARKS: Final = 30

# The likeness of a similar name, from 0 to 1. Ours: of 58 typing errors in the names of 30 large
# companies, 53 lead to the name among the 24,861 registered ones, as with 0.6; of 19 names unlike
# any, 9 get a suggestion, with 0.6 all. With 0.8, 50 lead to the name.
_LIKE: Final = 0.75

# Combining marks of the Basic Multilingual Plane; all characters beyond it count as marks.
_MARKS: Final = "".join(
    chr(code) for code in range(0x300, 0xFFFF) if unicodedata.combining(chr(code))
)
_MARK: Final = re.compile(rf"[{_MARKS}\U00010000-\U0010ffff]")
_LONG_RUN: Final = re.compile(rf"[{_MARKS}\U00010000-\U0010ffff]{{{MAX_MARKS + 1},}}")
# Ours: what Chinese says in 111 characters, English says in 430 (a brief of one event). Blocks of
# Unicode: kana, ideographs with their extensions, syllables of Korean.
_IDEOGRAPH: Final = re.compile(
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
# A paragraph ends at a blank line; a sentence at a stop before a capital or a letter of another
# script, or at a stop of another script, which needs no blank after it.
_END: Final = re.compile(
    r"""\n\s*\n|[.!?…]["'“”’»«)\]]*\s+(?=["'“„«(\[¿¡]*[^\W\da-zà-öø-ÿ_])|[。！？]+["”’」』）]*|[؟۔։।။]\s*"""
)
# Stops that don't end a sentence: titles, legal forms, single letters, and ordinals as in
# "am 12. November", since few sentences within a paragraph end with a number of two digits.
_ABBREVIATION: Final = re.compile(
    r"\b(?:[A-Za-zА-я]|Mrs?|Ms|Dr|Prof|St|Inc|Corp|Co|Ltd|Mio|Mrd|bzw|ca|vs|No|Nr|Sig|Sra?"
    r"|Sen|Rep|Gen|Gov|Col|Capt|Sgt|Lt|Maj|Rev|Hon|Jr|Ing|Dipl|Frl|Hr|Mme|Mlle|Dott|Avv|Dña|EE"
    r"|Dhr|Mevr|Mw|Dl|Dna|inż|hab|mgr|prof|dr|ul|ved|tzv|проф|акад|ген|им|ул|пл|обл|д-р|гр)\.[^\S\n]+$"
    r"|(?:^|[\s(])\d{1,2}\.[^\S\n]+$"
)
_LONGEST_ABBREVIATION: Final = len(" Dipl.  ")

# Ours: how often a text may have been escaped.
MOST_ESCAPES: Final = 4
# Python refuses to make a number of more than 4,300 decimal digits.
_NO_CHARACTER: Final = re.compile(r"&#[0-9]{4000,}")
_BEYOND_UNICODE: Final = "&#1114112"


def unescape(text: str) -> str:
    """Resolve references to characters ("&amp;"); a reference to none becomes U+FFFD."""
    return html.unescape(_NO_CHARACTER.sub(_BEYOND_UNICODE, text) if "&#" in text else text)


def unescape_all(text: str) -> str:
    """Resolve references that were escaped several times ("Q&amp;amp;A"), as many systems do."""
    for _ in range(MOST_ESCAPES):
        before, text = text, unescape(text) if "&" in text else text
        if text == before:
            break
    return text


def weight_of(text: str) -> int:
    """Return how many characters of an alphabet say what a text says: a Chinese or Japanese
    character counts three, a Korean one two. Limits in characters are compared with it."""
    if text.isascii():
        return len(text)
    return len(text) + 2 * len(_IDEOGRAPH.findall(text)) + len(_HANGUL.findall(text))


def count_of(number: int, noun: str) -> str:
    """Return a number with a noun in singular or plural: "1 day", "1,200 articles"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def estimate_of(number: float, noun: str) -> str:
    """Return an estimated number above 0 with a noun: "about 6 articles", "less than 1 article"."""
    return f"about {count_of(round(number), noun)}" if number >= 0.5 else f"less than 1 {noun}"


def match_name(text: str, names: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the name that equals the text in any case, or None and up to three similar names."""
    from difflib import get_close_matches  # noqa: PLC0415 - imported only for misspelt names

    by_folded = {name.casefold(): name for name in reversed(names)}
    folded = text.strip().casefold()
    if folded in by_folded:
        return by_folded[folded], []
    near = get_close_matches(folded, by_folded, n=3, cutoff=_LIKE)
    # The first word of a name is often given alone.
    near = near or [name for name in by_folded if name.startswith(f"{folded} ")][:3]
    return None, [by_folded[name] for name in near]


def stream_safe(text: str) -> str:
    """Return the text with at most `MAX_MARKS` combining marks in a row; the rest become U+FFFD.

    The length does not change. Normalisation sorts combining marks in time quadratic in the length
    of a run: 50,000 in the wrong order take two seconds.
    """
    # A run that is too long covers one of these characters, and few texts have a mark there.
    sample = text[MAX_MARKS :: MAX_MARKS + 1]
    if sample.isascii() or not _MARK.search(sample):
        return text
    return _LONG_RUN.sub(
        lambda run: run[0][:MAX_MARKS].ljust(len(run[0]), "\N{REPLACEMENT CHARACTER}"),
        text,
    )


# Characters on each side within which a sentence is searched.
_REACH: Final = 600


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return start and end of the sentence around a place of a text."""
    floor, ceiling = max(0, start - _REACH), min(len(text), end + _REACH)
    first, last = floor, ceiling
    for stop in sentence_ends(text, floor, ceiling):
        if stop.end() <= start:
            first = stop.end()
        elif stop.start() >= end - 1:
            last = stop.end()
            break
    while last > first and text[last - 1].isspace():
        last -= 1
    return first, max(last, end)


def sentence_ends(text: str, begin: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the stops and blank lines that end the sentences of a part of a text."""
    for stop in _END.finditer(text, begin, end):
        last = max(begin, stop.end() - _LONGEST_ABBREVIATION)
        if _ABBREVIATION.search(text, last, stop.end()) is None:
            yield stop


@cache
def stop_word_lists() -> Mapping[str, Sequence[str]]:
    """Return the stop words by language, ISO 639-1."""
    source = files("newscrawl").joinpath("data/stopwords.toml").read_text("utf-8")
    return {language: table["words"].split() for language, table in tomllib.loads(source).items()}


@cache
def stop_words_of(language: str | None) -> frozenset[str]:
    """Return the stop words of a language, ISO 639-1; none of a language without a list."""
    return frozenset(stop_word_lists().get(language or "", ()))
