"""The table of scores on unseen sites that all who learn from evidence share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from newscrawl.cli.arguments import Format
from newscrawl.cli.output import Column, render

if TYPE_CHECKING:
    from newscrawl.training.examples import Scored

_MEASURES = {
    "word.f1": "word F1",
    "word.precision": "precision",
    "word.recall": "recall",
    "shingle.f1": "4-gram F1",
    "similarity": "similarity",
}


def show_unseen(scored: "Sequence[Scored]", form: Format, *, title: str) -> None:
    """Means over pages by threshold and set; daniel by language too."""
    from newscrawl.training.examples import by_group

    rows = [
        {"threshold": threshold, "group": group, "pages": len(found)}
        | {key: sum(each.values[key] for each in found) / len(found) for key in _MEASURES}
        for (threshold, group), found in by_group(scored).items()
    ]
    columns = [
        Column(key="threshold", heading="kept from", number=True),
        Column(key="group", heading="pages of"),
        Column(key="pages", heading="pages", number=True),
        *(
            Column(key=key, heading=heading, number=True, show=lambda value: f"{value:.4f}")
            for key, heading in _MEASURES.items()
        ),
    ]
    render(rows, columns, form, title=title)
