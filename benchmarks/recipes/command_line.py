"""Train a model in a checkout, and write it into the package: python -m benchmarks.recipes MODEL.

With --folds nothing is written: the model is scored on sites that it was not trained on.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.recipes import runs
from benchmarks.recipes.console import RecipeError, write_note
from newscrawl.training.corpus import DEVELOPMENT, Corpus, load_corpus
from newscrawl.training.limits import learnable

_MODELS: Final = {
    "network": "learn how the combined method weighs its features; needs PyTorch, '.[network]'",
    "further": "train our network further on the pages of an archive whose JSON-LD has their text, "
    "and write it if it beats ours on sites that it was not trained on; needs PyTorch",
    "confidence": "fit the confidence of the combined method to what pages of unseen sites score, "
    "by networks that are trained for that; needs PyTorch",
    "kinds": "learn to tell articles from other pages whose data hold no article",
    "mentions": "fit the score of a mention to judged mentions; prints how well it fits those of "
    "unseen sites",
    "tree": "learn a decision tree of depth 8, for comparison; needs '.[train]'",
    "boosted": "learn boosted trees, for comparison; needs '.[train]'",
}
_OF_PAGES: Final = frozenset({"network", "confidence", "kinds", "tree", "boosted"})
_OF_ALL_TYPES: Final = frozenset({"network", "confidence"})
_INTERRUPTED: Final = 130  # as in shells


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a recipe; an error that newscrawl names is one line and exit code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(words)
    try:
        _run(options, runs.command_of(words))
    except KeyboardInterrupt:
        write_note("interrupted")
        sys.exit(_INTERRUPTED)
    except Exception as error:
        # Exceptions of newscrawl are messages for the user. All others are bugs.
        if not isinstance(error, RecipeError) and not type(error).__module__.startswith(
            "newscrawl."
        ):
            raise
        write_note(f"recipes: {' '.join(str(error).split())}")
        sys.exit(2)


def _run(options: argparse.Namespace, command: str) -> None:
    fit = runs.FitOptions(
        command, options.seed, options.split_seed, options.folds, options.output, options.form
    )
    if options.model == "further":
        runs.train_from_archive(options.archive, options.epochs, fit, force=options.force)
    elif options.model == "mentions":
        pages = load_corpus(options.corpus) if options.corpus else None
        if options.sealed:
            runs.score_sealed_mentions(_required(options.corpus), fit)
        else:
            runs.train_mentions(pages, options.cases, fit)
    else:
        corpus = _required(options.corpus)
        task = runs.Task(corpus, _choose_pages(corpus, options), options.include_sealed, fit)
        if options.model == "network":
            runs.train_network(task, options.epochs)
        elif options.model == "confidence":
            runs.calibrate_confidence(task, options.epochs)
        elif options.model == "kinds":
            runs.train_kinds(task)
        else:
            runs.train_trees(task, options.model)


def _required(folder: Path | None) -> Corpus:
    if folder is None:
        raise RecipeError("which labelled pages? give --corpus DIR or set NEWSCRAWL_CORPUS")
    return load_corpus(folder)


def _choose_pages(corpus: Corpus, options: argparse.Namespace) -> Corpus:
    """Return the pages to learn from, by default all for the network and kinds, else articles."""
    sets, langs, page_types = options.sets, options.langs, options.page_types
    if options.model == "kinds":
        pages = corpus.select(sets=sets, langs=langs, page_types=page_types)
    else:
        page_types = page_types or (() if options.model in _OF_ALL_TYPES else ("article",))
        pages = learnable(corpus, sets=sets, langs=langs, page_types=page_types)
    return pages if options.include_sealed else pages.part(DEVELOPMENT)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recipes", description=__doc__)
    recipes = parser.add_subparsers(dest="model", required=True, metavar="MODEL")
    for model, purpose in _MODELS.items():
        recipe = recipes.add_parser(model, help=purpose, description=purpose)
        if model == "further":
            recipe.add_argument("archive", type=Path, metavar="DIR", help="see docs/archive.md")
            recipe.add_argument("--force", action="store_true", help="write it even if it is worse")
        else:
            corpus = os.environ.get("NEWSCRAWL_CORPUS")
            recipe.add_argument(
                "--corpus",
                type=Path,
                metavar="DIR",
                default=Path(corpus) if corpus else None,
                help="folder of labelled pages; else NEWSCRAWL_CORPUS",
            )
        if model in _OF_PAGES:
            for option, name, metavar in (
                ("--set", "sets", "NAME"),
                ("--lang", "langs", "CODE"),
                ("--page-type", "page_types", "TYPE"),
            ):
                help_text = f"only pages of this {name[:-1].replace('_', ' ')}; may be repeated"
                recipe.add_argument(
                    option, dest=name, metavar=metavar, action="append", default=[], help=help_text
                )
            recipe.add_argument(
                "--include-sealed",
                action="store_true",
                help="learn from the sealed sites too; with --folds, one fold more",
            )
        if model in ("network", "confidence", "further"):
            recipe.add_argument("--epochs", type=_positive, help="times that each page is seen")
        if model == "mentions":
            recipe.add_argument(
                "--cases", type=Path, help="cases that `newscrawl corrections export` has written"
            )
            recipe.add_argument(
                "--sealed", action="store_true", help="score ours on sealed texts; write nothing"
            )
        recipe.add_argument("--seed", type=int, default=0, help="seed of the network or the trees")
        recipe.add_argument("--split-seed", type=int, default=0, help="which sites are for testing")
        recipe.add_argument("--folds", type=_positive, help="no file: score by folds of sites")
        recipe.add_argument(
            "-o", "--output", type=Path, metavar="PATH", help="file or folder to write"
        )
        recipe.add_argument("-f", "--format", dest="form", choices=("table", "csv", "json"))
        recipe.set_defaults(form="table")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number
