"""Measure each source of evidence: train the network without each of them in turn.

`python -m benchmarks.ablation --corpus DIR --folds 5 -o docs/data/ablation.csv`; needs PyTorch.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import typer

from benchmarks.command_line import run
from benchmarks.recipes.examples import Example, ExampleScore, by_group
from benchmarks.recipes.runs import examples_from, needing_torch
from newscrawl.cli.arguments import corpus_from
from newscrawl.cli.output import progress, write_note
from newscrawl.extraction.block_features import OPENERS
from newscrawl.extraction.explain import columns_of
from newscrawl.training.corpus import Split, folds_by_site

if TYPE_CHECKING:
    from benchmarks.recipes.network import NetworkSettings

# The sources of evidence by the kinds of `explain_reasons`; an empty list is handled by name.
SOURCES: Final[dict[str, tuple[str, ...]]] = {
    "nothing": (),
    "the eight features and counts": (
        "length", "sentences", "characters", "stop words", "links", "tags inside",
    ),
    "CETR": ("tag ratio",),
    "tree": ("prose around", "landmark"),
    "names of elements": (),
    "first words": (),
    "headline": ("headline",),
    "page and place": ("page", "place", "repetition", "menus beside"),
    "JSON-LD": ("JSON-LD",),
    "neighbours": (),
}  # fmt: skip
GROUPS: Final = ("daniel article", "fundus article", "wcxb article")


SETS = ("daniel", "fundus", "wcxb")


@dataclass(frozen=True, slots=True)
class Ablated:
    """Word F1 (mean of pages of unseen sites) by set, with one source left out."""

    source: str
    daniel: float
    fundus: float
    wcxb: float


def as_csv(rows: Sequence[Ablated]) -> str:
    """Return the table as CSV, for the documents."""
    out = StringIO()
    writer = csv.DictWriter(out, ["source", "daniel", "fundus", "wcxb"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                key: value if isinstance(value, str) else f"{value:.4f}"
                for key, value in asdict(row).items()
            }
        )
    return out.getvalue()


def as_markdown(text: str) -> str:
    """Return a CSV table as one of Markdown, with the change by each source in points."""
    rows = list(csv.DictReader(StringIO(text)))
    full_row = rows[0]
    lines = [
        "| left out | news of 2011 | recent news | articles | mean change |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        change = fmean(float(row[name]) - float(full_row[name]) for name in SETS)
        cells = " | ".join(f"{float(row[name]):.3f}" for name in SETS)
        difference = "" if row is full_row else f"{100 * change:+.1f}"
        lines.append(f"| {row['source']} | {cells} | {difference} |")
    return "\n".join(lines)


def ablate(
    examples: Sequence[Example],
    splits: Sequence[Split],
    settings: "NetworkSettings",
    on_epoch: Callable[[], None] = lambda: None,
) -> Iterator[Ablated]:
    """Train and score once for each source of evidence, on all splits."""
    from benchmarks.recipes.network import cross_validate  # noqa: PLC0415  needs PyTorch

    for source in SOURCES:
        source_settings = replace(
            settings, shape=replace(settings.shape, neighbours=source != "neighbours")
        )
        without = [leave_out(example, source) for example in examples]
        scored = cross_validate(without, splits, source_settings, [0.5], lambda _: on_epoch())
        yield Ablated(source, *_means(scored))


def leave_out(example: Example, source: str) -> Example:
    """Return the example with one source of evidence equal in all blocks."""
    features = example.block_features
    if source == "names of elements":
        bare = replace(
            features,
            elements=[None] * len(features.elements),
            tags=np.zeros_like(features.tags),
            openers=np.full_like(features.openers, len(OPENERS)),
        )
        return replace(example, block_features=bare)
    if source == "first words":
        counts = np.zeros_like(features.word_counts)
        bare = replace(features, words=features.words[:0], word_counts=counts)
        return replace(example, block_features=bare, openings=[[] for _ in example.openings])
    values = features.values.copy()
    for kind in SOURCES[source]:
        columns = columns_of(kind, features.names)
        values[:, [k for k in columns if features.names[k] != "is_title"]] = 0
    return replace(example, block_features=replace(features, values=values))


def _means(scored: Sequence[ExampleScore]) -> Iterator[float]:
    groups = {group: group_scores for (_, group), group_scores in by_group(scored).items()}
    for group in GROUPS:
        group_scores = groups.get(group, [])
        yield (
            float(np.mean([each.values["word.f1"] for each in group_scores]))
            if group_scores
            else 0.0
        )


def ablation(
    corpus: Path | None = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of sites.")] = 5,
    scored: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of folds to score.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Times each page is seen.")] = 7,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A CSV file.", metavar="FILE")
    ] = None,
) -> None:
    """Train the network without each source of evidence in turn, and score it on unseen sites.

    Prints a table for the documents. Needs PyTorch: the extra "network".
    """
    with needing_torch():
        from benchmarks.recipes.network import NetworkSettings  # noqa: PLC0415

    pages = corpus_from(corpus)
    examples = examples_from(pages)
    splits = folds_by_site(pages, k=folds)[:scored]
    settings = NetworkSettings(epochs=epochs)
    with progress("ablation", len(SOURCES) * len(splits) * settings.members * epochs) as step:
        rows = list(ablate(examples, splits, settings, lambda: step("")))
    text = as_csv(rows)
    if output is not None:
        output.write_text(text, encoding="utf-8")
        write_note(f"{output} written")
    typer.echo(as_markdown(text))


if __name__ == "__main__":
    run(ablation)
