"""Precision and recall of mentions by language, over texts labelled by hand.

The texts and their labels are ours (data/mentions.jsonl, one object a line: `id, part,
language, text`, `title` where there is one, `mentions` as pairs of company and surface in
reading order). They were labelled before any matcher ran on them; the matcher may be mended
after a look at the parts "development" and "second", never after one at
"held-out" and "held-out-2".
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from newscrawl.mentions import Companies
from newscrawl.training.metrics import Overlap

Pair = tuple[str, str]


class LabelsError(ValueError):
    """A fault in a file of labelled texts, in one line with its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A text and the (company, surface) pairs that a person found in it, title first."""

    id: str
    part: str
    language: str
    text: str
    mentions: tuple[Pair, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A text whose mentions were not found exactly: those missed and those invented."""

    text: LabelledText
    missed: tuple[Pair, ...]
    invented: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class MentionScore:
    """Precision and recall over all mentions of a group of texts."""

    group: str
    texts: int
    mentions: int
    overlap: Overlap


def read_labelled(path: Path | None = None) -> list[LabelledText]:
    """Return the labelled texts of a JSON Lines file, by default of the bundled one.

    Raises LabelsError, naming the line, where one can't be read.
    """
    source = path or files("newscrawl.training").joinpath("data/mentions.jsonl")
    lines = source.read_text(encoding="utf-8").splitlines()
    return [_labelled(line, number, str(source)) for number, line in enumerate(lines, start=1)]


def _labelled(line: str, number: int, file: str) -> LabelledText:
    try:
        row = json.loads(line)
        mentions = tuple((str(company), str(surface)) for company, surface in row.pop("mentions"))
        return LabelledText(mentions=mentions, **row)
    except (ValueError, KeyError, TypeError) as error:
        raise LabelsError(
            f"{file}, line {number}: not a labelled text ({error}); "
            "write id, part, language, text and mentions as [company, surface] pairs"
        ) from None


def score_mentions(companies: Companies, texts: Sequence[LabelledText]) -> list[MentionScore]:
    """Return one score for each language in the order of the texts, then one over all ("all")."""
    counts: dict[str, Counter[str]] = {}
    for text in texts:
        wanted, found = Counter(text.mentions), _found(companies, text)
        count = Counter(
            texts=1,
            wanted=wanted.total(),
            found=found.total(),
            common=(wanted & found).total(),
        )
        counts.setdefault(text.language, Counter()).update(count)
    counts["all"] = sum(counts.values(), Counter())
    return [
        MentionScore(
            group,
            count["texts"],
            count["wanted"],
            Overlap.of(count["common"], count["found"], count["wanted"]),
        )
        for group, count in counts.items()
    ]


def mistakes(companies: Companies, texts: Iterable[LabelledText]) -> list[Mistake]:
    """Return the texts whose mentions were not found exactly."""
    wrong = []
    for text in texts:
        wanted, found = Counter(text.mentions), _found(companies, text)
        missed, invented = tuple((wanted - found).elements()), tuple((found - wanted).elements())
        if missed or invented:
            wrong.append(Mistake(text, missed, invented))
    return wrong


def _found(companies: Companies, text: LabelledText) -> Counter[Pair]:
    mentions = companies.find(text.text, title=text.title, language=text.language)
    return Counter((mention.company, mention.surface) for mention in mentions)
