"""The table of scores on unseen sites that all who learn from evidence share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from newscrawl.cli.arguments import Format
from newscrawl.cli.output import Column, render

if TYPE_CHECKING:
    from newscrawl.training.block_scores import Scored
    from newscrawl.training.network.remembering import Remembered

_MEASURES = {
    "word.f1": "word F1",
    "word.precision": "precision",
    "word.recall": "recall",
    "shingle.f1": "4-gram F1",
    "similarity": "similarity",
}


def show_unseen(scored: "Sequence[Scored]", form: Format, *, title: str) -> None:
    """Means over pages by threshold and set; daniel by language too."""
    from newscrawl.training.block_scores import by_group

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


def show_remembered(found: "Sequence[Remembered]", form: Format, *, title: str) -> None:
    """Means over pages without template memory and with it, by set and over all."""
    groups: dict[str, list[Remembered]] = {}
    for each in found:
        for group in (each.example.page.set, "all"):
            groups.setdefault(group, []).append(each)
    rows = [
        {
            "group": group,
            "sites": len({each.example.page.owner for each in members}),
            "pages": len(members),
            "changed": sum(each.dropped > 0 for each in members),
            "dropped": sum(each.dropped for each in members),
            "gold": sum(each.dropped_gold for each in members),
            "before": sum(each.without["word.f1"] for each in members) / len(members),
            "after": sum(each.remembering["word.f1"] for each in members) / len(members),
        }
        for group, members in sorted(groups.items())
    ]
    columns = [
        Column(key="group", heading="pages of"),
        Column(key="sites", heading="sites", number=True),
        Column(key="pages", heading="pages", number=True),
        Column(key="changed", heading="changed", number=True),
        Column(key="dropped", heading="words dropped", number=True),
        Column(key="gold", heading="of them gold", number=True),
        Column(key="before", heading="word F1", number=True, show=lambda value: f"{value:.4f}"),
        Column(key="after", heading="with memory", number=True, show=lambda value: f"{value:.4f}"),
    ]
    render(rows, columns, form, title=title)
