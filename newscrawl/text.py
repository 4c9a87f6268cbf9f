"""Functions over text that several packages need: closest names, sentences, safe normalisation."""

import codecs
import html
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import ascii_lowercase
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
# script, or at a stop of another script, which needs no blank after it. The semicolon is the
# question mark of Greek; a line may be an item of a list.
_END: Final = re.compile(
    r"""\n\s*\n|[.!?…](?:[^\S\n]?["'“”’»«)\]])*\s+(?=["'“„«(\[¿¡]*[^\W_])"""
    r"""|;\s+(?=[Ά-ΏΑ-Ϋ])|[。！？]+(?![。！？])(?:[」』](?!と|って)|["”’）])*(?![」』])|[؟۔։।။።፧]\s*|\n"""
)
_OPENING: Final = "\"'“„«([¿¡"
_BULLET: Final = re.compile(r"[^\S\n]*(?:[-–—•*▪◦·‣]|\d{1,2}[.)])[^\S\n]+")
# Ours: characters of the shortest line that may be wrapped, so that its sentence goes on.
WRAPPED: Final = 50
# The word before a stop, and an ordinal as in "am 12. November", since few sentences within a
# paragraph end with a number of two digits.
_LAST_WORD: Final = re.compile(r"[^\W\d_](?:[\w·\u0900-\u0963\u0966-\u0dff-]|(?<=\w)\.(?=\w))*$")
# The number behind "Sept. " or "p. " is none.
_ORDINAL: Final = re.compile(r"(?:^|[\s(])(?<![^\W\d_]\. )\d{1,2}$")
# Letters of a word before a number that no abbreviation is: "It rained. 12 people came."
_LONGER: Final = 4
_STREET: Final = "str"
# "He left the U.S. It rained.": behind two letters a common word in capitals begins a sentence.
_CAPITALISED: Final = re.compile("[A-Z][a-z]+")
_LETTERS: Final = re.compile(r"[A-Z]\.[A-Z]")
_LONGEST_WORD: Final = 12
_GEORGIAN: Final = re.compile("[ა-ჿ]")  # which has no capitals

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


def did_you_mean(near: Sequence[str]) -> str:
    """Return the question whether one of the similar names was meant."""
    return f"did you mean {' or '.join(near)}?"


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


def sentence_around(text: str, start: int, end: int, reach: int = _REACH) -> tuple[int, int]:
    """Return start and end of the sentence around a place of a text, without the mark of an item;
    on each side it has at most `reach` characters."""
    floor, ceiling = max(0, start - reach), min(len(text), end + reach)
    first, last = floor, ceiling
    for stop in sentence_ends(text, floor, ceiling):
        if stop.end() <= start:
            first = stop.end()
        elif stop.start() >= end - 1:
            last = stop.end()
            break
    while last > first and text[last - 1].isspace():
        last -= 1
    if (bullet := _BULLET.match(text, first)) and not bullet[0].strip()[0].isdigit():
        first = min(bullet.end(), start)
    return first, max(last, end)


def sentence_ends(text: str, begin: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the stops, blank lines and ends of lists' lines that end the sentences of a part of a
    text; data/abbreviations.toml has the words behind whose stop a sentence goes on."""
    for stop in _END.finditer(text, begin, end):
        following = text[stop.end() : stop.end() + 3].lstrip(_OPENING)
        if stop[0].count("\n") > 1:
            is_end = True
        elif following[:1].islower() and not _GEORGIAN.match(following):
            is_end = False
        elif stop[0] == "\n":
            line = text.rfind("\n", 0, stop.start()) + 1
            is_end = stop.start() - line < WRAPPED or bool(_BULLET.match(text, stop.end()))
        else:
            before = max(begin, stop.start() - _LONGEST_WORD)
            is_end = stop[0][0] != "." or not _goes_on(text, before, stop)
        if is_end:
            yield stop


def _goes_on(text: str, begin: int, stop: re.Match[str]) -> bool:
    """Return whether a sentence goes on behind a full stop, as behind "Dr." and "12."."""
    word = _LAST_WORD.search(text, begin, stop.start())
    is_number = text[stop.end() : stop.end() + 1].isdigit()
    if word is None:
        return is_number or _ORDINAL.search(text, begin, stop.start()) is not None
    last = word[0].rpartition(".")[2]
    if len(last) == 1:
        following = _CAPITALISED.match(text, stop.end())
        return not (
            following
            and _LETTERS.fullmatch(word[0])
            and following[0].lower() in stop_words_of("en")
        )
    # "Lindenstr. 12": a street.
    return last in _abbreviations() or (
        is_number and (len(last) < _LONGER or last.endswith(_STREET))
    )


@cache
def _abbreviations() -> frozenset[str]:
    source = files("newscrawl").joinpath("data/abbreviations.toml").read_text("utf-8")
    return frozenset(
        word for words in tomllib.loads(source).values() for word in re.split(r",\s+", words)
    )


@cache
def stop_word_lists() -> Mapping[str, Sequence[str]]:
    """Return the stop words by language, ISO 639-1."""
    source = files("newscrawl").joinpath("data/stopwords.toml").read_text("utf-8")
    return {language: table["words"].split() for language, table in tomllib.loads(source).items()}


@cache
def stop_words_of(language: str | None) -> frozenset[str]:
    """Return the stop words of a language, ISO 639-1; none of a language without a list."""
    return frozenset(stop_word_lists().get(language or "", ()))


def _read_pasted(error: UnicodeError) -> tuple[str, int]:
    """Return a byte of windows-1252 within UTF-8 as its character, and half a character as U+FFFD:
    small letters and punctuation are pasted, and begin no two bytes of UTF-8; capitals before a
    letter are, too."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    byte = error.object[error.start : error.start + 1]
    begins_two = 0xC0 <= byte[0] < 0xDF and not error.object[error.end : error.end + 1].isalpha()
    is_pasted = error.end == error.start + 1 and not (begins_two or byte[0] >= 0xFE)
    return byte.decode("cp1252", "replace") if is_pasted else "\ufffd", error.end


PASTED: Final = "newscrawl.pasted"
codecs.register_error(PASTED, _read_pasted)

# What is declared where nothing is known.
WESTERN: Final = frozenset({"cp1252", "iso8859-1", "latin-1", "iso-8859-1", "windows-1252"})
# KOI8-U has letters of Ukrainian where KOI8-R draws boxes.
WIDER_CHARSETS: Final = {"koi8-r": "koi8-u"}
_ASCII: Final = bytes(range(128))
_TEXT_WITH_HIGH_BYTES: Final = re.compile(rb">([^<>]*[\x80-\xff][^<>]*)")


def may_be_western(markup: bytes) -> bool:
    """Return whether the text of markup may be of Western Europe, where most letters of words are
    ASCII; those of a Greek, Russian or Japanese one are not."""
    letters = b" ".join(_TEXT_WITH_HIGH_BYTES.findall(markup))
    high_bytes = len(letters.translate(None, _ASCII))
    small = len(letters) - len(letters.translate(None, ascii_lowercase.encode()))
    return high_bytes <= small
