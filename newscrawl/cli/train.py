"""newscrawl train: learn the limits of FE, the network, the model of kinds, or trees."""

import webbrowser
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.cli.arguments import (
    ClusterOption,
    CorpusOption,
    FormatOption,
    LangsOption,
    PrivateOption,
    SetsOption,
    corpus_from,
    open_workers,
    refuse_options,
    takes_options,
)
from newscrawl.cli.extract import read_page
from newscrawl.cli.output import write_note
from newscrawl.cli.training_runs import (
    FurtherPlan,
    TrainingTask,
    train_from_archive,
    train_kinds,
    train_limits,
    train_mentions,
    train_network,
    train_trees,
)

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.limits import Plan

EXAMPLE = "Example: newscrawl train --corpus corpus --populations 3"
Model = Literal["limits", "network", "kinds", "mentions", "tree", "boosted"]


@dataclass(frozen=True, slots=True)
class _PageOptions:
    """The pages to learn from; none for an archive, whose pages label themselves."""

    corpus: CorpusOption = None
    sets: SetsOption = None
    langs: LangsOption = None
    page_types: Annotated[
        list[str] | None,
        typer.Option(
            "--page-type",
            help="Pages of this type, may be repeated; else articles, and all for network and "
            "kinds.",
        ),
    ] = None
    include_sealed: Annotated[
        bool,
        typer.Option(
            "--include-sealed",
            help="Network, trees: learn from the sealed sites too; with --folds, one fold more.",
        ),
    ] = False
    cluster: ClusterOption = None


@dataclass(frozen=True, slots=True)
class _LimitsOptions:
    """The options for the limits of FE only."""

    profile: Annotated[
        Literal["html5", "2007"], typer.Option(help="Limits: which elements end a block.")
    ] = "html5"
    unspaced: Annotated[
        bool,
        typer.Option(
            "--unspaced", help="Limits of their own for Chinese, Japanese, Thai and the like."
        ),
    ] = False
    run: Annotated[
        Literal["equal", "cognition"],
        typer.Option(help="Limits: run of Figure 3; tau and phi are 2 and 2, or 2.5 and 1.5."),
    ] = "equal"
    tau: Annotated[float | None, typer.Option(help="Limits: cognitive component.")] = None
    phi: Annotated[float | None, typer.Option(help="Limits: social component.")] = None
    omega: Annotated[float, typer.Option(help="Limits: inertia; close to 1 in the paper.")] = 0.7
    largest_step: Annotated[
        float,
        typer.Option(
            help="Limits: bound of a step, in shares of a range; 0 for none, as in the paper."
        ),
    ] = 0.1
    particles: Annotated[int, typer.Option(min=1, help="Limits: particles of a population.")] = 100
    generations: Annotated[
        int, typer.Option(min=0, help="Limits: generations of a population.")
    ] = 100
    populations: Annotated[int, typer.Option(min=1, help="Limits: populations, a seed each.")] = 1
    force: Annotated[bool, typer.Option("--force", help="Overwrite even better ones.")] = False

    def plan(self, seed: int) -> "Plan":
        from newscrawl.training.limits import FIGURE_3, Plan
        from newscrawl.training.pso import SwarmSettings

        tau, phi = FIGURE_3[self.run]
        settings = SwarmSettings(
            particles=self.particles,
            generations=self.generations,
            tau=tau if self.tau is None else self.tau,
            phi=phi if self.phi is None else self.phi,
            omega=self.omega,
            largest_step=self.largest_step or None,
            seed=seed,
        )
        return Plan(self.profile, settings, self.populations, self.unspaced)


@dataclass(frozen=True, slots=True)
class _FitOptions:
    """How to fit and score a model, and where to write it."""

    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the first population, the network or the trees.")
    ] = 0
    split_seed: Annotated[int, typer.Option(min=0, help="Which sites are for testing.")] = 0
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="No file: score by folds of sites, all of them unseen."),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write, a folder for the network; else ours.",
            metavar="PATH",
        ),
    ] = None
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Network: times each page is seen.", show_default="7, of an archive 3"
        ),
    ] = None
    from_archive: Annotated[
        Path | None,
        typer.Option(
            "--from-archive",
            help="Network: train ours further on the pages of this archive whose JSON-LD has their "
            "text.",
            metavar="DIR",
        ),
    ] = None
    cases: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="Mentions: learn from these cases too, as `corrections export` writes them.",
            metavar="FILE",
        ),
    ] = None
    form: FormatOption = "table"


_ModelOption = Annotated[
    Model,
    typer.Option(help="What to learn; trees, which need newscrawl[train], only compare."),
]
_OF_LIMITS = tuple(field.name for field in fields(_LimitsOptions))
_OF_CORPUS = tuple(field.name for field in fields(_PageOptions))
_OF_NETWORK = ("epochs",)
_OF_MENTIONS = ("cases",)
_OF_PAGES = (*(name for name in _OF_CORPUS if name != "corpus"), "seed", "split_seed")


@takes_options
def train(
    context: typer.Context,
    *,
    model: _ModelOption = "limits",
    pages: _PageOptions,
    limits: _LimitsOptions,
    fit: _FitOptions,
) -> None:
    """Learn the eight limits of FE with a swarm, on 70 % of the sites, and test on the others.

    Limits on file that score better on the same test pages are kept. Ctrl-C ends the swarm and
    keeps the best so far. The same seed gives the same limits to the last digit.

    --model network learns how the combined method weighs its features, on the pages of all sites
    but the sealed ones (needs PyTorch: the extra "network"). --model kinds learns to tell articles
    from other pages that declare nothing, on the same sites. --model tree and --model boosted
    learn a decision tree of depth 8 or boosted trees over the same features. They are for
    comparison: no method of newscrawl uses them.

    --from-archive trains our network further on your own pages (NEWSCRAWL_ARCHIVE): those whose
    JSON-LD holds their text, which is removed first. It is written if it beats ours on the 30 % of
    sites that it was not trained on.

    --model mentions fits the score of a mention to bundled cases, labelled news of --corpus and
    exported corrections (--cases), and reports how well it fits mentions of unseen sites.
    """
    if fit.from_archive:
        _refuse_options_of_corpora(context, model)
        further = (fit.epochs, fit.seed, fit.split_seed, fit.folds, fit.output, limits.force)
        train_from_archive(FurtherPlan(fit.from_archive, *further), fit.form)
        return
    _refuse_options_of_others(context, model)
    if model == "mentions":
        train_mentions(pages.corpus, fit.cases, fit.folds, fit.output, fit.form)
        return
    corpus = corpus_from(pages.corpus)
    chosen = _choose_pages(corpus, model, pages, unspaced=limits.unspaced)
    with open_workers(None, pages.cluster) as workers:
        run = (fit.seed, fit.split_seed, fit.folds, fit.output, fit.form, pages.include_sealed)
        task = TrainingTask(corpus, chosen, workers, *run)
        if model == "kinds":
            train_kinds(task)
        elif model == "network":
            train_network(task, fit.epochs)
        elif model != "limits":
            train_trees(task, model)
        else:
            train_limits(task, limits.plan(fit.seed), force=limits.force)


def _choose_pages(
    corpus: "Corpus", model: Model, options: _PageOptions, *, unspaced: bool
) -> "Corpus":
    from newscrawl.training.corpus import DEVELOPMENT
    from newscrawl.training.limits import learnable

    sets, langs = options.sets or (), options.langs or ()
    if model == "kinds":
        pages = corpus.select(sets=sets, langs=langs, page_types=options.page_types or ())
    else:
        page_types = options.page_types or (() if model == "network" else ("article",))
        pages = learnable(corpus, unspaced=unspaced, sets=sets, langs=langs, page_types=page_types)
    return pages if model == "limits" or options.include_sealed else pages.part(DEVELOPMENT)


def _refuse_options_of_corpora(context: typer.Context, model: Model) -> None:
    """Raise InputError for an option that has no meaning with --from-archive."""
    if model != "network":
        refuse_options(context, ("model",), "is not for --from-archive, which trains the network")
    limits = tuple(name for name in _OF_LIMITS if name != "force")
    refuse_options(context, (*_OF_CORPUS, *_OF_MENTIONS, *limits), "is not for --from-archive")


def _refuse_options_of_others(context: typer.Context, model: Model) -> None:
    """Raise InputError for an option that only another model has."""
    if model == "mentions":
        refuse_options(context, (*_OF_LIMITS, *_OF_PAGES), "is not for --model mentions")
    else:
        refuse_options(context, _OF_MENTIONS, f"is for mentions, not --model {model}")
    if model == "limits":
        refuse_options(context, ("include_sealed",), "is not for limits")
    elif model != "mentions":
        refuse_options(context, _OF_LIMITS, f"is for limits, not --model {model}")
    if model != "network":
        refuse_options(context, _OF_NETWORK, f"is for the network, not --model {model}")


LABEL_EXAMPLE = "Example: newscrawl label page1.html page2.html --set corpus/mine"


def label(
    pages: Annotated[list[str], typer.Argument(help="Files or URLs.", metavar="FILE|URL...")],
    folder: Annotated[
        Path, typer.Option("--set", help="The set that grows: gold.jsonl, pages/.", metavar="DIR")
    ] = Path("corpus/labelled"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    allow_private: PrivateOption = False,
) -> None:
    """Tick the content of pages in your browser, and save them as labelled pages.

    At first, the boxes are ticked by our method. Each saved page adds a line to gold.jsonl and a
    file to pages/, which train, evaluate and benchmark read.

    Exit code 1 if nothing was saved.
    """
    from newscrawl.training.label import Candidate, LabelledSet, LabelServer

    candidates = []
    for name in pages:
        read = read_page(name, allow_private=allow_private)
        candidates.append(Candidate(name, read.html, read.url, read.encoding))
    server = LabelServer(tuple(candidates), LabelledSet(folder), port)
    write_note(f"label {len(candidates)} page(s) at {server.url}  (Ctrl-C ends)")
    if browser:
        webbrowser.open(server.url)
    server.run()
    write_note(f"{server.saved} saved in {folder}")
    if not server.saved:
        raise typer.Exit(1)
