"""Measures between an extracted text and its gold text, each for one page.

Sources: Z&S = Ziegler & Skubacz 2007; B&L = Barbaresi & Lejeune 2020, section 3.2;
CETR = Weninger, Hsu & Han 2010, section 6. An empty result is perfect (1.0) where the gold is
empty, and has precision 0 elsewhere, so that an empty result never improves a score.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

# Scripts written without blanks count by character (B&L do so for Chinese): Thai, the
# ideographs of all planes and their iteration mark, both Japanese kana, halfwidth kana.
_UNSPACED = (
    r"\u0e00-\u0e7f\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ONE_UNSPACED = re.compile(rf"[{_UNSPACED}]")

KL_FOR_ZERO = 1e-5  # B&L 3.2
SHINGLE_LENGTH = 4  # the public article-extraction benchmark

Bag = Counter[str]
Token = TypeVar("Token", str, tuple[str, ...])


def words(text: str) -> list[str]:
    """Return runs of word characters in lower case; unspaced scripts by character."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Overlap:
    """Precision and recall."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return harmonic_mean(self.precision, self.recall)

    @classmethod
    def of(cls, common: float, extracted: float, gold: float) -> "Overlap":
        if not extracted and not gold:
            return cls(1.0, 1.0)
        return cls(common / extracted if extracted else 0.0, common / gold if gold else 0.0)


def harmonic_mean(precision: float, recall: float) -> float:
    """Return the F1 of precision and recall; 0 where both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def similarity(extracted: Bag, gold: Bag) -> float:
    """Return Z&S eq. 2 and 3: cosine of term frequencies times the smaller ratio of lengths.

    Terms are words of more than one character, and single characters of scripts without
    blanks, where the paper's rule would leave no term.
    """
    ours, theirs = _terms(extracted), _terms(gold)
    lengths = sum(ours.values()), sum(theirs.values())
    if not min(lengths):
        return float(lengths[0] == lengths[1])
    return min(lengths) / max(lengths) * _cosine(ours, theirs)


def is_term(word: str) -> bool:
    """Return whether a word counts in the similarity of Z&S."""
    return len(word) > 1 or _ONE_UNSPACED.match(word) is not None


def occ_eval(extracted: Counter[Token], gold: Counter[Token]) -> Overlap:
    """Return word precision and recall over bags (B&L; CETR)."""
    return Overlap.of((extracted & gold).total(), extracted.total(), gold.total())


def voc_eval(extracted: Bag, gold: Bag) -> Overlap:
    """Return word precision and recall over vocabularies (B&L)."""
    return Overlap.of(len(extracted.keys() & gold.keys()), len(extracted), len(gold))


def clean_eval(extracted: Sequence[str], gold: Sequence[str]) -> Overlap:
    """Return word precision and recall of the Ratcliff/Obershelp alignment (B&L); quadratic."""
    matcher = SequenceMatcher(None, extracted, gold, autojunk=False)
    common = sum(block.size for block in matcher.get_matching_blocks())
    return Overlap.of(common, len(extracted), len(gold))


def shingle_eval(extracted: Sequence[str], gold: Sequence[str]) -> Overlap:
    """Return precision and recall over bags of n-word shingles; a shorter text is one shingle."""
    return occ_eval(_shingles(extracted), _shingles(gold))


def kl_eval(extracted: Bag, gold: Bag) -> float:
    """Return the Kullback-Leibler divergence of the distribution of the found words from the
    gold's, in nats."""
    ours, theirs = extracted.total() or 1, gold.total() or 1
    divergence = 0.0
    for word in extracted.keys() | gold.keys():
        p = gold[word] / theirs or KL_FOR_ZERO
        q = extracted[word] / ours or KL_FOR_ZERO
        divergence += p * math.log(p / q)
    return divergence


def euclidean(extracted: Bag, gold: Bag) -> float:
    """Return the Euclidean distance of relative word frequencies (B&L)."""
    ours, theirs = extracted.total() or 1, gold.total() or 1
    return math.sqrt(
        sum(
            (extracted[word] / ours - gold[word] / theirs) ** 2
            for word in extracted.keys() | gold.keys()
        )
    )


def cosine_distance(extracted: Bag, gold: Bag) -> float:
    """Return one minus the cosine of word frequencies (B&L)."""
    if not extracted or not gold:
        return float(bool(extracted) != bool(gold))
    return 1.0 - _cosine(extracted, gold)


def phrase_score(text: str, phrases: Iterable[str], unwanted: Iterable[str]) -> float:
    """Return the share of right decisions: wanted phrases in the text, unwanted ones not in it.

    All white space is compared as one blank.
    """
    text = _one_blank(text)
    right = [_one_blank(phrase) in text for phrase in phrases]
    right += [_one_blank(phrase) not in text for phrase in unwanted]
    return sum(right) / len(right) if right else 1.0


def _terms(bag: Bag) -> dict[str, int]:
    return {word: count for word, count in bag.items() if is_term(word)}


def _cosine(smaller: Mapping[str, int], larger: Mapping[str, int]) -> float:
    if len(larger) < len(smaller):
        smaller, larger = larger, smaller
    dot = sum(count * larger.get(word, 0) for word, count in smaller.items())
    squares = sum(c * c for c in smaller.values()) * sum(c * c for c in larger.values())
    return dot / math.sqrt(squares)


def _shingles(sequence: Sequence[str]) -> Counter[tuple[str, ...]]:
    if len(sequence) < SHINGLE_LENGTH:
        return Counter([tuple(sequence)] if sequence else ())
    return Counter(zip(*(sequence[start:] for start in range(SHINGLE_LENGTH)), strict=False))


def _one_blank(text: str) -> str:
    return " ".join(text.split())
