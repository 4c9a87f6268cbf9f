"""newscrawl ablation: what each source of evidence is worth to the combined method."""

from pathlib import Path
from typing import Annotated

import typer

from newscrawl.cli.labelled import CorpusOption, corpus_from, examples_from, needing_torch, progress
from newscrawl.cli.output import say

EXAMPLE = "Example: newscrawl ablation --corpus corpus --folds 5 -o docs/data/ablation.csv"


def ablation(
    corpus: CorpusOption = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of sites.")] = 5,
    scored: Annotated[
        int | None, typer.Option(min=1, help="Score only so many of the folds.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Times each page is seen.")] = 7,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A CSV file.", metavar="FILE")
    ] = None,
) -> None:
    """Train the network anew without each source of evidence in turn, and score it on unseen
    sites (needs PyTorch: the extra "network"). Prints a table for the documents."""
    with needing_torch():
        from newscrawl.training.network import ablation as training
        from newscrawl.training.network.fit import Recipe
    from newscrawl.training.ablation_table import as_csv, as_markdown
    from newscrawl.training.splits import folds_by_site

    pages = corpus_from(corpus)
    examples = examples_from(pages)
    splits = folds_by_site(pages, k=folds)[:scored]
    recipe = Recipe(epochs=epochs)
    steps = len(training.SOURCES) * len(splits) * recipe.members * epochs
    with progress("ablation", steps) as step:
        rows = list(training.ablate(examples, splits, recipe, lambda: step("")))
    text = as_csv(rows)
    if output is not None:
        output.write_text(text, encoding="utf-8")
        say(f"{output} written")
    typer.echo(as_markdown(text))
