"""newscrawl train-network: learn the network of the combined method from labelled pages."""

import os
import shlex
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl.cli.arguments import Format, FormatOption, InputError
from newscrawl.cli.labelled import CorpusOption, corpus_from, progress
from newscrawl.cli.output import Column, render, say

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.network.examples import Example
    from newscrawl.training.network.fit import Recipe
    from newscrawl.training.network.validation import Scored

EXAMPLE = "Example: newscrawl train-network --corpus corpus --folds 5"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)


def train_network(
    corpus: CorpusOption = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Write nothing: score by folds of sites.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Times each page is seen.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, order and dropout.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder; else ours.", metavar="DIR")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Learn how the combined method weighs its evidence (needs PyTorch: the extra "network").

    With --folds, trains on all folds of sites but one and scores the pages of that one.
    """
    try:
        from newscrawl.training.network.fit import Recipe
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(
            "training the network needs PyTorch: pip install 'newscrawl[network]'"
        ) from error
    pages = corpus_from(corpus)
    recipe = Recipe(seed=seed, epochs=epochs)
    examples = _read(pages)
    if folds:
        _cross_validate(pages, examples, recipe, folds, form)
    else:
        _train(pages, examples, recipe, output)


def _read(pages: "Corpus") -> "list[Example]":
    from newscrawl.training.network.examples import read_examples

    with progress("evidence", sum(bool(page.text) for page in pages)) as step:
        return read_examples(pages, os.cpu_count() or 1, lambda: step(""))


def _train(
    pages: "Corpus", examples: "list[Example]", recipe: "Recipe", output: Path | None
) -> None:
    from newscrawl.training.network import export, fit

    with progress("network", recipe.epochs) as step:
        fitted = fit.fit(examples, recipe, lambda now: step(f"loss {now.f1_loss:.4f}"))
    folder = output or export.DATA_FOLDER
    provenance: dict[str, object] = {
        "corpus": pages.name,
        "fingerprint": pages.fingerprint,
        "pages": len(examples),
        "seed": recipe.seed,
        "epochs": recipe.epochs,
        "command": shlex.join(["newscrawl", *sys.argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
    }
    export.write(export.as_runtime(fitted), folder, examples[0].evidence, provenance)
    say(f"{folder}/combined.npz and combined.json written")


def _cross_validate(
    pages: "Corpus", examples: "list[Example]", recipe: "Recipe", folds: int, form: Format
) -> None:
    from newscrawl.training.network.validation import cross_validate
    from newscrawl.training.splits import folds_by_site

    with progress(f"{folds} folds", folds * recipe.epochs) as step:
        scored = cross_validate(
            examples,
            folds_by_site(pages, k=folds),
            recipe,
            THRESHOLDS,
            lambda now: step(f"loss {now.f1_loss:.4f}"),
        )
    render(
        _rows(scored),
        [
            Column(key="threshold", heading="kept from", number=True),
            Column(key="group", heading="pages of"),
            Column(key="pages", heading="pages", number=True),
            *(
                Column(key=key, heading=heading, number=True, show=lambda value: f"{value:.4f}")
                for key, heading in _MEASURES.items()
            ),
        ],
        form,
        title=f"unseen sites, {folds} folds by site",
    )


_MEASURES = {
    "word.f1": "word F1",
    "word.precision": "precision",
    "word.recall": "recall",
    "shingle.f1": "4-gram F1",
    "similarity": "similarity",
}


def _rows(scored: "list[Scored]") -> list[dict[str, object]]:
    groups: dict[tuple[float, str], list[Scored]] = defaultdict(list)
    for each in scored:
        page = each.example.page
        kind = "article" if page.page_type == "article" else "other"
        for group in {f"{page.set} {kind}", f"{page.set} {page.lang}" if kind == "article" else ""}:
            if group and (page.set == "daniel" or not group.endswith(page.lang)):
                groups[each.threshold, group].append(each)
    return [
        {"threshold": threshold, "group": group, "pages": len(found)}
        | {key: sum(each.values[key] for each in found) / len(found) for key in _MEASURES}
        for (threshold, group), found in sorted(groups.items())
    ]
