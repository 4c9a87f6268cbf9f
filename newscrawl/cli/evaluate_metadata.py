"""newscrawl evaluate metadata: title, authors, day and language against the golds."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from newscrawl.cli.arguments import Format
from newscrawl.cli.benchmark import ANSWERS
from newscrawl.cli.labelled import progress
from newscrawl.cli.output import Column, render, say

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus, GoldPage
    from newscrawl.training.metadata_peers import ToolScores
    from newscrawl.training.metadata_score import Fields, Score

# Names of the measures in CSV and JSON, and over the columns of a table.
_MEASURES = {
    "title exact": ("title_exact", "title"),
    "title F1": ("title_f1", "title F1"),
    "authors F1": ("authors_f1", "authors"),
    "day": ("day", "day"),
    "language": ("language", "language"),
}


def evaluate_metadata(everything: "Corpus", chosen: "Corpus", form: Format) -> None:
    """Score our metadata of some pages of a corpus beside those that peers' answers hold."""
    from newscrawl.training.metadata_peers import ToolScores, score_peers
    from newscrawl.training.metadata_score import labelled, read_page, score

    pages = labelled(chosen)
    if not pages:
        say(f"newscrawl: {chosen.name}: no article with gold title, authors or date")
        raise typer.Exit(1)
    with progress("pages", len(pages)) as step:

        def read(page: "GoldPage") -> "Fields":
            step("")
            return read_page(page)

        ours = ToolScores("newscrawl", "", score(pages, read))
    tools = [ours, *score_peers(ANSWERS, everything.fingerprint, pages)]
    if len(tools) == 1:
        say("no other tool's answers to this corpus here: newscrawl benchmark --peers stores them")
    _show(tools, form, len(pages))


def _show(tools: "list[ToolScores]", form: Format, pages: int) -> None:
    rows = [
        {"set": group, "tool": tool.tool, "version": tool.version or None}
        | _values(tool.scores[group])
        for group in sorted(tools[0].scores, key=lambda group: (group == "all", group))
        for tool in tools
    ]
    columns = [
        Column(key="set", heading="set"),
        Column(key="tool", heading="tool"),
        Column(key="version", heading="version", table=False),
        *(
            Column(key=key, heading=heading, number=True, show=_three)
            for key, heading in _MEASURES.values()
        ),
        *(
            Column(key=f"{key}.pages", heading="pages", table=False)
            for key, _ in _MEASURES.values()
        ),
    ]
    title = f"metadata of {pages} articles: exact title and its word F1, F1 of authors, same day"
    render(rows, columns, form, title=title, note="A dash: no gold, or no such field in the tool.")


def _values(scores: "Mapping[str, Score]") -> dict[str, object]:
    values: dict[str, object] = {}
    for name, (key, _) in _MEASURES.items():
        if name in scores:
            values[key] = round(scores[name].mean, 6)
            values[f"{key}.pages"] = scores[name].pages
    return values


def _three(value: object) -> str:
    return "–" if value is None else f"{value:.3f}"
