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
    from newscrawl.training.examples import Example
    from newscrawl.training.network import NetworkSettings

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
        from newscrawl.training.network import NetworkSettings
    pages = corpus_from(corpus)
    settings = NetworkSettings(seed=seed, epochs=epochs)
    examples = examples_from(pages)
    if folds:
        _cross_validate(pages, examples, settings, folds, form)
    else:
        _train(pages, examples, settings, output)


def _train(
    pages: "Corpus", examples: "list[Example]", settings: "NetworkSettings", output: Path | None
) -> None:
    from newscrawl.training import network

    with progress("network", settings.members * settings.epochs) as step:
        fitted = network.fit(examples, settings, lambda now: step(f"loss {now.f1_loss:.4f}"))
    folder = output or network.DATA_FOLDER
    provenance: dict[str, object] = {
        "corpus": pages.name,
        "fingerprint": pages.fingerprint,
        "pages": len(examples),
        "seed": settings.seed,
        "members": settings.members,
        "epochs": settings.epochs,
        "command": shlex.join(["newscrawl", *sys.argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
    }
    network.write(fitted, folder, examples[0].evidence.names, provenance)
    say(f"{folder}/combined.npz and combined.json written")


def _cross_validate(
    pages: "Corpus",
    examples: "list[Example]",
    settings: "NetworkSettings",
    folds: int,
    form: Format,
) -> None:
    from newscrawl.training.corpus import folds_by_site
    from newscrawl.training.network import cross_validate

    with progress(f"{folds} folds", folds * settings.members * settings.epochs) as step:
        scored = cross_validate(
            examples,
            folds_by_site(pages, k=folds),
            settings,
            THRESHOLDS,
            lambda now: step(f"loss {now.f1_loss:.4f}"),
        )
    show_unseen(scored, form, title=f"unseen sites, {folds} folds by site")
