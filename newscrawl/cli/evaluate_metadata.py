"""newscrawl evaluate metadata: title, authors, day and language against labelled pages."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from newscrawl.cli.arguments import Format
from newscrawl.cli.labelled import progress
from newscrawl.cli.output import Column, render, say

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus, GoldPage
    from newscrawl.training.metadata_score import Fields, Score

# Names of the measures in CSV and JSON, and over the columns of a table.
_MEASURES = {
    "title exact": ("title_exact", "title"),
    "title F1": ("title_f1", "title F1"),
    "authors F1": ("authors_f1", "authors"),
    "day": ("day", "day"),
    "language": ("language", "language"),
}


def _three(value: object) -> str:
    return "–" if value is None else f"{value:.3f}"


COLUMNS = (
    *(
        Column(key=key, heading=heading, number=True, show=_three)
        for key, heading in _MEASURES.values()
    ),
    *(Column(key=f"{key}.pages", heading="pages", table=False) for key, _ in _MEASURES.values()),
)


def evaluate_metadata(chosen: "Corpus", form: Format) -> None:
    """Score our metadata of the pages of a corpus that have a gold title, authors or date."""
    from newscrawl.training.metadata_score import labelled, read_page, score

    pages = labelled(chosen)
    if not pages:
        say(f"newscrawl: {chosen.name}: no article with gold title, authors or date")
        raise typer.Exit(1)
    with progress("pages", len(pages)) as step:

        def read(page: "GoldPage") -> "Fields":
            step("")
            return read_page(page)

        scores = score(pages, read)
    rows = [
        {"set": group} | values_of(scores[group])
        for group in sorted(scores, key=lambda group: (group == "all", group))
    ]
    title = f"metadata of {len(pages)} articles: exact title and its word F1, F1 of authors, day"
    render(rows, (Column(key="set", heading="set"), *COLUMNS), form, title=title)


def values_of(scores: "Mapping[str, Score]") -> dict[str, object]:
    """Return the means by column, and the number of pages that each is over."""
    values: dict[str, object] = {}
    for name, (key, _) in _MEASURES.items():
        if name in scores:
            values[key] = round(scores[name].mean, 6)
            values[f"{key}.pages"] = scores[name].pages
    return values
