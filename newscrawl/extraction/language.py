"""Detect the language of a text: the declared one, checked against the text's stop words."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray
from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier
from py3langid.modelio import load_model

from newscrawl.cache import cache_folder, write_cache_file
from newscrawl.extraction.tokens import Char, classes, codes_of, count, languages

# Ours: running text of the 27 languages has 0.15 (Korean) to 0.5 stop words; below, or with
# fewer words, the stop words alone don't decide.
SURE_SHARE: Final = 0.15
SURE_WORDS: Final = 40
# A declared language is kept if it has at least this share of the winner's stop words: close
# relatives (Danish and Norwegian, Czech and Slovak) share most of theirs.
CLOSE: Final = 0.8
# Ours: stop words of a language that contradict a declared one, if they are twice as many as its,
# and the words that a text needs for that.
MIN_STOP_WORDS: Final = 3
MIN_WORDS: Final = 12
# Ours: letters of a sentence of fewer words, as in Finnish, from which likelihood decides.
MIN_LETTERS: Final = 80
# Ours: how much likelier another language than the declared one must be, for each character, where
# few of the declared one's stop words stand: sentences in 45 languages declared as English have
# 1.2 to 10, lists of names in English texts at most 0.6.
FAR: Final = 1.0
# Languages of news that are not written in Latin letters, or not only.
NOT_LATIN: Final = frozenset(
    (
        "am", "ar", "be", "bg", "bn", "el", "fa", "gu", "he", "hi", "hy", "ja", "ka", "kk", "km",
        "kn", "ko", "ky", "lo", "mk", "ml", "mn", "mr", "my", "ne", "pa", "ps", "ru", "si", "sr",
        "ta", "te", "tg", "th", "ti", "ug", "uk", "ur", "yi", "zh",
    )
)  # fmt: skip
# Scripts in Unicode's blocks; kana among Chinese characters make a text Japanese.
SCRIPTS: Final = {
    "ja": ((0x3040, 0x30FF),),
    "zh": ((0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
    "ko": ((0xAC00, 0xD7AF),),
    "el": ((0x0370, 0x03FF), (0x1F00, 0x1FFF)),
    "he": ((0x0590, 0x05FF),),
    "th": ((0x0E00, 0x0E7F),),
    "hy": ((0x0530, 0x058F),),
    "ka": ((0x10A0, 0x10FF),),
}
# Ours: the share of a text's letters that must be of the script; Japanese news have 0.3 to 0.6
# kana, Chinese ones none.
USUAL_SCRIPT_SHARE: Final = 0.5
SCRIPT_SHARE: Final = {"ja": 0.05}
# Characters of the text that are read: some 150 words, which are enough.
READ: Final = 1000


# How an array of Python has the numbers of one of numpy.
_CODES: Final = {np.dtype(name): code for name, code in (("u2", "H"), ("u4", "I"), ("i8", "q"))}


@dataclass(frozen=True, slots=True)
class WordCounts:
    """A text's words, and how many are stop words of each of `tokens.languages()`."""

    words: int
    stop_words: NDArray[np.int64]


def decide_language(
    declared: str | None, text: str, word_counts: WordCounts | None = None
) -> str | None:
    """Return the text's language as ISO 639-1: `declared` unless the text contradicts it.

    `word_counts` are the text's, if its words are already counted.
    """
    if word_counts is None:
        tokens = count((text[:READ],))
        word_counts = WordCounts(int(tokens.words[0]), tokens.stop_words[0])
    words, stop_words = word_counts.words, word_counts.stop_words
    if not words:
        return declared
    winner = int(stop_words.argmax())
    best = int(stop_words[winner])
    sure = words >= SURE_WORDS and best >= SURE_SHARE * words
    if not sure and (of_script := _of_script(text[:READ])):
        return of_script
    of_declared = int(stop_words[languages().index(declared)]) if declared in languages() else 0
    if sure and (declared is None or declared in languages()):
        return declared if declared and of_declared >= CLOSE * best else languages()[winner]
    other_script = declared is not None and _is_latin(text[:READ]) is (declared in NOT_LATIN)
    other_words = words >= MIN_WORDS and best >= MIN_STOP_WORDS and best > 2 * of_declared
    few = words < SURE_WORDS or declared in languages()
    is_long = words >= MIN_WORDS or len(text) >= MIN_LETTERS
    if declared in languages() and is_long and of_declared < SURE_SHARE * words:
        scores = dict(_identifier().rank(text[:READ]))
        likeliest = max(scores, key=scores.__getitem__)
        if scores[likeliest] - scores[declared] >= FAR * len(text[:READ]):
            return str(likeliest)
    if declared is not None and few and not (other_script or other_words):
        return declared
    code = str(_identifier().classify(text[:READ])[0])
    return (
        declared if few and declared and not other_script and code != languages()[winner] else code
    )


def _is_latin(text: str) -> bool | None:
    """Return whether nearly all letters are Latin, or nearly none; None where both stand."""
    letters = [letter for letter in text if letter.isalpha()]
    share = sum(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in letters)
    if share >= 0.9 * len(letters):
        return True
    return False if share <= 0.5 * len(letters) else None


def _of_script(text: str) -> str | None:
    """Return the language of a script that only one language of the news uses."""
    codes = codes_of(text)
    classes_of = classes()[codes]
    letters = max(int((classes_of <= Char.CAPITAL).sum()), 1)
    for language, ranges in SCRIPTS.items():
        inside = sum(int(((codes >= first) & (codes <= last)).sum()) for first, last in ranges)
        if inside >= SCRIPT_SHARE.get(language, USUAL_SCRIPT_SHARE) * letters:
            return language
    return None


@cache
def _identifier() -> LanguageIdentifier:
    scores, sums, names, moves, rows, features = read_model()
    return LanguageIdentifier(scores, sums, names, moves, features, tk_row=rows)


def read_model() -> Sequence[Any]:
    """Return the parts of py3langid's model. They are cached (65 MB), since unpacking takes 0.4 s,
    ten times as long as reading."""
    packed = Path(MODEL_DIR, MODEL_FILE)
    digest = sha256(packed.read_bytes()).hexdigest()
    path = cache_folder() / f"languages-{digest[:32]}.npy"
    try:
        with path.open("rb") as file:
            scores, sums, names, *tables = (np.load(file, allow_pickle=False) for _ in range(6))
            moves, rows, features = (
                array(_CODES[table.dtype], table.tobytes()) for table in tables
            )
            return scores, sums, names.tolist(), moves, rows, features
    except (OSError, EOFError, ValueError, LookupError):
        model = load_model(packed)
        write_cache_file(path, lambda file: _save(file, model))
        return tuple(model)


def _save(file: IO[bytes], model: Sequence[Any]) -> None:
    for part in model:
        np.save(file, np.asarray(part), allow_pickle=False)
