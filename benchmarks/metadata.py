"""Metadata of pages as newscrawl and other tools read it, scored against labelled pages.

`python -m benchmarks.metadata --corpus DIR`: the other tools' metadata are in the answers that
`make bench-peers` has stored in this folder.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from dateutil import parser

from benchmarks.command_line import run
from benchmarks.extraction.command import ANSWERS
from benchmarks.scores.command import METADATA_COLUMNS, metadata_values
from benchmarks.scores.metadata import Fields, Score, labelled_pages, read_page, score
from newscrawl.cli.arguments import Format, corpus_from
from newscrawl.cli.output import Column, progress, render, write_note
from newscrawl.training.corpus import DEVELOPMENT, SEALED, GoldPage, part_of

# The field of each measure; a tool without the field has no score instead of 0.
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
    tools_by_path = {path: path.stem.rsplit("_", 2)[:2] for path in files}
    tools = {"newscrawl", *(tool for tool, _ in tools_by_path.values())}
    tool_scores = []
    for path, (tool, version) in tools_by_path.items():
        if tool.rpartition("-")[0] in tools or tool.startswith("newscrawl-"):
            continue
        answers = _read_answers(path)
        fields = {field for answer in answers.values() for field in answer}
        if "date" in fields and all((page.set, page.id) in answers for page in pages):
            tool_scores.append(ToolScores(tool, version, _score(answers, fields, pages)))
    return tool_scores


def fields_of(answer: Mapping[str, Any]) -> Fields:
    """Return the fields of a stored answer."""
    return Fields(
        title=next(_strings(answer.get("title")), None),
        authors=tuple(_strings(answer.get("authors"))),
        published=_moment(next(_strings(answer.get("date")), "")),
        language=next(_strings(answer.get("language")), None),
    )


def _score(
    answers: Answers, fields: Iterable[str], pages: Sequence[GoldPage]
) -> dict[str, dict[str, Score]]:
    scores = score(pages, lambda page: fields_of(answers[page.set, page.id]))
    return {
        group: {name: each for name, each in by_name.items() if FIELD_OF[name] in fields}
        for group, by_name in scores.items()
    }


def _read_answers(path: Path) -> Answers:
    answers = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            continue  # the last line, empty or cut short by an interrupted run
        answers[answer["set"], answer["id"]] = answer
    return answers


def _strings(value: object) -> Iterator[str]:
    """Yield the strings in a field, which some tools fill with lists, even within lists."""
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _moment(text: str) -> datetime | None:
    """Return the moment that a tool wrote in any form; None if it is not a date."""
    try:
        moment: datetime = parser.parse(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.year >= EARLIEST_YEAR else None


def compare_metadata(
    corpus: Path | None = None,
    sets: list[str] | None = None,
    langs: list[str] | None = None,
    sealed: Annotated[
        bool | None,
        typer.Option("--sealed/--open", help="Only the sealed sites, or only the others."),
    ] = None,
    form: Format = "table",
) -> None:
    """Score title, authors, day and language of newscrawl and other tools.

    Rules are fitted on the open sites and judged on the sealed ones, a fifth of all
    (`newscrawl.training.corpus.part_of`). Until November 2026 metadata had a seal of its own, so
    four in five of the sealed sites were open to rules that were fitted before.
    """
    everything = corpus_from(corpus)
    chosen = everything.select(sets=sets or (), langs=langs or ())
    parts = {None: (SEALED, DEVELOPMENT), True: (SEALED,), False: (DEVELOPMENT,)}[sealed]
    pages = [page for page in labelled_pages(chosen) if part_of(page.owner) in parts]
    if not pages:
        write_note(f"{everything.name}: no article with gold title, authors or date")
        raise typer.Exit(1)
    with progress("pages", len(pages)) as step:

        def read(page: GoldPage) -> Fields:
            step("")
            return read_page(page)

        ours = ToolScores("newscrawl", "", score(pages, read))
    tools = [ours, *score_peers(ANSWERS, everything.fingerprint, pages)]
    if len(tools) == 1:
        write_note("no other tool's answers to this corpus here: make bench-peers stores them")
    rows = [
        {"set": group, "tool": tool.tool, "version": tool.version or None}
        | metadata_values(tool.scores[group])
        for group in sorted(ours.scores, key=lambda group: (group == "all", group))
        for tool in tools
    ]
    heads = (
        Column("set"),
        Column("tool"),
        Column("version", table=False),
    )
    title = f"metadata of {len(pages)} articles: exact title and its word F1, F1 of authors, day"
    note = "A dash: no gold, or no such field in the tool."
    render(rows, (*heads, *METADATA_COLUMNS), form, title=title, note=note)


if __name__ == "__main__":
    run(compare_metadata)
