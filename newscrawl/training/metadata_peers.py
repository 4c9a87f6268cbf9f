"""Metadata that other tools read, from the answers that `newscrawl benchmark --peers` stored."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from dateutil import parser

from newscrawl.training.corpus import GoldPage
from newscrawl.training.metadata_score import Fields, Score, score

# What each measure is of; a tool that has no such field has no score, rather than none right.
FIELD_OF: Final = {
    "title exact": "title",
    "title F1": "title",
    "authors F1": "authors",
    "day": "date",
    "language": "language",
}

EARLIEST_YEAR: Final = 1900  # before there is no news on the web, and zones overflow in year 1

Answers = Mapping[tuple[str, str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ToolScores:
    """The scores of one tool by set, and over all pages under the name "all"."""

    tool: str
    version: str
    scores: Mapping[str, Mapping[str, Score]]


def score_peers(folder: Path, fingerprint: str, pages: Sequence[GoldPage]) -> list[ToolScores]:
    """Score each tool whose stored answers to this corpus hold dates and cover all pages.

    Tools that know a title at most are left out, and so are our own methods and the variants
    of a tool (trafilatura-fast of trafilatura), which differ in the text.
    """
    files = sorted(folder.glob(f"*_{fingerprint[:12]}.jsonl"))
    named = {path: path.stem.rsplit("_", 2)[:2] for path in files}
    tools = {"newscrawl", *(tool for tool, _ in named.values())}
    found = []
    for path, (tool, version) in named.items():
        if tool.rpartition("-")[0] in tools or tool.startswith("newscrawl-"):
            continue
        answers = _read(path)
        known = {field for answer in answers.values() for field in answer}
        if "date" in known and all((page.set, page.id) in answers for page in pages):
            found.append(ToolScores(tool, version, _score(answers, known, pages)))
    return found


def fields_of(answer: Mapping[str, Any]) -> Fields:
    """A stored answer as what was read off a page."""
    return Fields(
        title=next(_strings(answer.get("title")), None),
        authors=tuple(_strings(answer.get("authors"))),
        published=_moment(next(_strings(answer.get("date")), "")),
        language=next(_strings(answer.get("language")), None),
    )


def _score(
    answers: Answers, known: Iterable[str], pages: Sequence[GoldPage]
) -> dict[str, dict[str, Score]]:
    scores = score(pages, lambda page: fields_of(answers[page.set, page.id]))
    return {
        group: {name: each for name, each in by_name.items() if FIELD_OF[name] in known}
        for group, by_name in scores.items()
    }


def _read(path: Path) -> Answers:
    answers = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            continue  # the last line, empty or cut short by an interrupted run
        answers[answer["set"], answer["id"]] = answer
    return answers


def _strings(found: object) -> Iterator[str]:
    """The strings in a field, which some tools fill with lists, even within lists."""
    if isinstance(found, str) and found:
        yield found
    elif isinstance(found, list):
        for each in found:
            yield from _strings(each)


def _moment(text: str) -> datetime | None:
    """The moment that a tool wrote in whatever form; None where it is none."""
    try:
        moment: datetime = parser.parse(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.year >= EARLIEST_YEAR else None
