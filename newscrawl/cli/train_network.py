"""newscrawl train-network: learn the network of the combined method from labelled pages."""

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl.cli.arguments import Format, FormatOption
from newscrawl.cli.labelled import CorpusOption, corpus_from, examples_from, needing_torch, progress
from newscrawl.cli.output import say
from newscrawl.cli.unseen import show_unseen

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.network.examples import Example
    from newscrawl.training.network.fit import Recipe

EXAMPLE = "Example: newscrawl train-network --corpus corpus --folds 5"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)


def train_network(
    corpus: CorpusOption = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Write nothing: score by folds of sites.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Times each page is seen.")] = 7,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, order and dropout.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder; else ours.", metavar="DIR")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Learn how the combined method weighs its evidence (needs PyTorch: the extra "network").

    With --folds, trains on all folds of sites but one and scores the pages of that one.
    """
    with needing_torch():
        from newscrawl.training.network.fit import Recipe
    pages = corpus_from(corpus)
    recipe = Recipe(seed=seed, epochs=epochs)
    examples = examples_from(pages)
    if folds:
        _cross_validate(pages, examples, recipe, folds, form)
    else:
        _train(pages, examples, recipe, output)


def _train(
    pages: "Corpus", examples: "list[Example]", recipe: "Recipe", output: Path | None
) -> None:
    from newscrawl.training.network import export, fit

    with progress("network", recipe.members * recipe.epochs) as step:
        fitted = fit.fit(examples, recipe, lambda now: step(f"loss {now.f1_loss:.4f}"))
    folder = output or export.DATA_FOLDER
    provenance: dict[str, object] = {
        "corpus": pages.name,
        "fingerprint": pages.fingerprint,
        "pages": len(examples),
        "seed": recipe.seed,
        "members": recipe.members,
        "epochs": recipe.epochs,
        "command": shlex.join(["newscrawl", *sys.argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
    }
    export.write(fitted, folder, examples[0].evidence.names, provenance)
    say(f"{folder}/combined.npz and combined.json written")


def _cross_validate(
    pages: "Corpus", examples: "list[Example]", recipe: "Recipe", folds: int, form: Format
) -> None:
    from newscrawl.training.network.validation import cross_validate
    from newscrawl.training.splits import folds_by_site

    with progress(f"{folds} folds", folds * recipe.members * recipe.epochs) as step:
        scored = cross_validate(
            examples,
            folds_by_site(pages, k=folds),
            recipe,
            THRESHOLDS,
            lambda now: step(f"loss {now.f1_loss:.4f}"),
        )
    show_unseen(scored, form, title=f"unseen sites, {folds} folds by site")
