"""newscrawl train, label and evaluate: learn the limits of FE, label more pages, score methods."""

import shlex
import sys
import time
import webbrowser
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.answers.names import match_one
from newscrawl.cli.arguments import Format, InputError, corpus_from, open_workers
from newscrawl.cli.extract import read_page
from newscrawl.cli.output import Column, exit_if, progress, render, write_note

if TYPE_CHECKING:
    from newscrawl.cluster import Workers
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.evaluation import Grouping, PageScore
    from newscrawl.training.limits import Plan, Vectors
    from newscrawl.training.pso import Generation


EXAMPLE = "Example: newscrawl train --corpus corpus --populations 3"


@dataclass(frozen=True, slots=True)
class _PageOptions:
    """The pages to learn from.

    page_types --page-type: Pages of this type, may be repeated; else articles.
    """

    corpus: Path | None = None
    sets: list[str] | None = None
    langs: list[str] | None = None
    page_types: list[str] | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class _LimitsOptions:
    """The limits to learn, and the swarm that learns them.

    --profile: which elements end a block.
    --unspaced: Limits of their own for Chinese, Japanese, Thai and the like.
    --run: run of Figure 3; tau and phi are 2 and 2, or 2.5 and 1.5.
    --tau: cognitive component.
    --phi: social component.
    --omega: inertia; close to 1 in the paper.
    --largest-step: bound of a step, in shares of a range; 0 for none, as in the paper.
    --particles: particles of a population.
    --generations: generations of a population.
    --populations: populations, a seed each.
    --force: Overwrite even better ones.
    """

    profile: Literal["html5", "2007"] = "html5"
    unspaced: bool = False
    run: Literal["equal", "cognition"] = "equal"
    tau: float | None = None
    phi: float | None = None
    omega: float = 0.7
    largest_step: float = 0.1
    particles: Annotated[int, typer.Option(min=1)] = 100
    generations: Annotated[int, typer.Option(min=0)] = 100
    populations: Annotated[int, typer.Option(min=1)] = 1
    force: bool = False

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
    """How to fit and score the limits, and where to write them.

    --seed: Seed of the first population.
    --split-seed: Which sites are for testing.
    --folds: No file: score by folds of sites, all of them unseen.
    -o, --output FILE: File to write; else ours.
    """

    seed: Annotated[int, typer.Option(min=0)] = 0
    split_seed: Annotated[int, typer.Option(min=0)] = 0
    folds: Annotated[int | None, typer.Option(min=2)] = None
    output: Path | None = None
    form: Format = "table"


@dataclass(frozen=True, slots=True)
class _Pages:
    """A corpus, whose sites are split as a whole, and those of its pages that were chosen; workers
    read their features."""

    corpus: "Corpus"
    chosen: "Corpus"
    workers: "Workers"


def train(*, pages: _PageOptions, limits: _LimitsOptions, fit: _FitOptions) -> None:
    """Learn the eight limits of FE with a swarm, on 70 % of the sites, and test on the others.

    Limits on file that score better on the same test pages are kept. Ctrl-C ends the swarm and
    keeps the best so far. The same seed gives the same limits to the last digit.

    The models that newscrawl ships are trained from a checkout: docs/training.md.
    """
    from newscrawl.training.limits import learnable

    corpus = corpus_from(pages.corpus)
    chosen = learnable(
        corpus,
        unspaced=limits.unspaced,
        sets=pages.sets or (),
        langs=pages.langs or (),
        page_types=pages.page_types or ("article",),
    )
    plan = limits.plan(fit.seed)
    with open_workers(None, pages.cluster) as workers:
        if fit.folds:
            _cross_validate(_Pages(corpus, chosen, workers), plan, fit, fit.folds)
        else:
            _learn(_Pages(corpus, chosen, workers), plan, fit, force=limits.force)


def _learn(pages: _Pages, plan: "Plan", options: _FitOptions, *, force: bool) -> None:
    from newscrawl.extraction.features import NAMES, UPPER_LIMITS
    from newscrawl.training.corpus import split_by_site
    from newscrawl.training.limits import (
        LIMITS_FILE,
        Origin,
        check_better,
        learn,
        read_limits,
        score_limits,
        write_limits,
    )

    corpus, chosen = pages.corpus, pages.chosen
    split = split_by_site(corpus, seed=options.split_seed).only(chosen)
    vectors = _read_vectors(pages, plan)
    with _swarm(plan, "swarm") as on_generation:
        fit = learn(split, vectors, plan, on_generation)
    rows = [
        {"feature": name, "side": "at most" if name in UPPER_LIMITS else "at least", "limit": limit}
        for name, limit in zip(NAMES, fit.limits.tolist(), strict=True)
    ]
    columns = [
        Column("feature"),
        Column("side", "kept if"),
        Column("limit", number=True, show=_four),
    ]
    render(rows, columns, options.form, title=f"limits of {plan.name}")
    write_note(
        f"similarity {fit.train_score:.4f} on {len(split.train)} training pages, "
        f"{fit.test_score:.4f} on {len(split.test)} pages of other sites"
    )
    path = options.output or LIMITS_FILE
    if not force:
        limits = read_limits(path, plan.name)
        test = [vectors[page] for page in split.test]
        check_better(fit, None if limits is None else score_limits(test, limits), path)
    words = (Path(word).name if "/" in word else word for word in sys.argv[1:])
    origin = Origin(
        corpus.name,
        corpus.fingerprint,
        len(chosen),
        options.seed,
        shlex.join(["newscrawl", *words]),
    )
    write_limits(path, plan, fit, origin)
    write_note(f"{path}: limits of {plan.name} written")
    exit_if(fit.interrupted)


def _read_vectors(pages: _Pages, plan: "Plan") -> "Vectors":
    from newscrawl.training.limits import vectors_of

    start = time.perf_counter()
    with progress("features", len(pages.chosen)) as step:
        vectors = vectors_of(pages.chosen, plan, lambda: step(""), pages.workers)
    write_note(f"features of {len(pages.chosen)} pages: {time.perf_counter() - start:.1f} s")
    return vectors


@contextmanager
def _swarm(plan: "Plan", name: str, swarms: int = 1) -> "Iterator[Callable[[Generation], None]]":
    """Show a bar with best and mean fitness; afterwards the time it took."""
    steps = swarms * plan.populations * (plan.settings.generations + 1)
    start = time.perf_counter()
    with progress(name, steps) as step:
        yield lambda now: step(f"best {now.best_so_far:.4f}, mean {now.mean:.4f}")
    seconds = time.perf_counter() - start
    write_note(f"{steps} generations of {plan.settings.particles} particles: {seconds:.1f} s")


def _cross_validate(pages: _Pages, plan: "Plan", options: _FitOptions, folds: int) -> None:
    from newscrawl.training.corpus import folds_by_site
    from newscrawl.training.limits import cross_validate

    corpus, chosen = pages.corpus, pages.chosen
    splits = [
        split.only(chosen) for split in folds_by_site(corpus, k=folds, seed=options.split_seed)
    ]
    vectors = _read_vectors(pages, plan)
    with _swarm(plan, f"{folds} folds", folds) as on_generation:
        scores = cross_validate(splits, vectors, plan, on_generation)
    groups = defaultdict(list)
    for score in scores:
        for group in (score.page.set, f"{score.page.set} {score.page.lang}", "all"):
            groups[group].append(score)
    rows = [
        {
            "group": group,
            "pages": len(members),
            "fe": sum(score.fe for score in members) / len(members),
            "pr": sum(score.pr for score in members) / len(members),
        }
        for group, members in sorted(groups.items())
    ]
    columns = [
        Column("group", "pages of"),
        Column("pages", number=True),
        Column("fe", "FE", number=True, show=_four),
        Column("pr", "PR", number=True, show=_four),
    ]
    render(rows, columns, options.form, title=f"similarity on unseen sites, {folds} folds by site")


def _four(value: object) -> str:
    return f"{value:.4f}"


LABEL_EXAMPLE = "Example: newscrawl label page1.html page2.html --set corpus/mine"


def label(
    pages: list[str],
    folder: Path = Path("corpus/labelled"),
    port: Annotated[int, typer.Option(min=0, max=65535)] = 0,
    browser: bool = True,
    allow_private: bool = False,
) -> None:
    """Tick the content of pages in your browser, and save them as labelled pages.

    At first, the boxes are ticked by our method. Each saved page adds a line to gold.jsonl and a
    file to pages/, which train, evaluate and benchmark read.

    Exit code 1 if nothing was saved.

    pages FILE|URL...: Files or URLs.
    folder --set DIR: The set that grows: gold.jsonl, pages/.
    --port: Port; 0 for a free one.
    --browser/--no-browser: Open the page in a browser.
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
    exit_if(not server.saved)


EVALUATE_EXAMPLE = (
    "Example: newscrawl evaluate --corpus corpus --method combined --method fe --worst 5"
)
SHOWN = ("word", "shingle", "similarity", "phrases")


def evaluate(
    corpus: Path | None = None,
    sets: list[str] | None = None,
    langs: list[str] | None = None,
    page_types: list[str] | None = None,
    sealed: bool = False,
    unseen: bool = False,
    split_seed: Annotated[int, typer.Option(min=0)] = 0,
    methods: list[str] | None = None,
    measures: list[str] | None = None,
    by: Literal["all", "set", "lang", "site", "page_type", "length"] = "set",
    worst: Annotated[int, typer.Option(min=0)] = 0,
    cluster: str | None = None,
    form: Format = "table",
) -> None:
    """Score every extraction method on labelled pages, with 95 % intervals by resampling sites.

    F1 is the mean of the pages' F1; CSV and JSON also have the F1 of mean precision and mean
    recall. One rule decides for all methods whether the headline counts: docs/training.md.

    page_types --page-type: Only this type; may be repeated.
    --sealed: Only the sealed sites, to which nothing was fitted.
    --unseen: Only sites that train leaves for testing.
    --split-seed: The split of --unseen.
    methods --method NAME: Only this method, may be repeated; else all.
    measures --measure NAME: word, voc, shingle, clean (slow), similarity, kl, euclidean, cosine,
        phrases or mentions; may be repeated.
    --by: Group pages by; length is that of the gold text.
    --worst: Also list this number of pages with the lowest first measure.
    """
    if sealed and unseen:
        raise InputError("--sealed is not for --unseen")
    from newscrawl.training.corpus import SEALED
    from newscrawl.training.evaluation import MEASURES, MENTIONS, evaluate as score_pages

    pages = corpus_from(corpus)
    if sealed:
        pages = pages.part(SEALED)
    if unseen:
        pages = unseen_part(pages, split_seed)
    pages = pages.select(sets=sets or (), langs=langs or (), page_types=page_types or ())
    with open_workers(None, cluster) as workers:
        every_measure = (*MEASURES, MENTIONS)
        chosen = list(
            dict.fromkeys(
                match_one(name, every_measure, "measure", "newscrawl evaluate --help")
                for name in measures or SHOWN
            )
        )
        names = known_methods(methods or [])
        with progress("pages", len(pages)) as step:
            scores = score_pages(
                pages.pages, names, chosen, workers=workers, on_page=lambda: step("")
            )
        _show(scores, chosen, by, form)
        if worst:
            _show_worst(scores, chosen[0], worst)


def unseen_part(pages: "Corpus", seed: int) -> "Corpus":
    """Return the pages of the sites that `newscrawl train` leaves for testing."""
    from newscrawl.training.corpus import split_by_site
    from newscrawl.training.limits import LIMITS_FILE, check_corpus

    check_corpus(LIMITS_FILE, pages)
    return split_by_site(pages, seed=seed).test


def known_methods(names: Sequence[str]) -> list[str]:
    """Return the methods of these names, or all; raise InputError for an unknown one."""
    from newscrawl.extraction.methods import METHODS

    methods = tuple(METHODS)
    return [
        match_one(name, methods, "method", "newscrawl evaluate --help") for name in names or methods
    ]


def _show(
    scores_of_pages: "list[PageScore]", measures: Sequence[str], by: "Grouping", form: Format
) -> None:
    from newscrawl.training.evaluation import MENTIONS, OVERLAP_MEASURES, group

    rows = [
        {"group": name, "method": method, "pages": len(scores)}
        | _values(scores, measures, everything=form != "table")
        for name, in_group in group(scores_of_pages, by).items()
        for method, scores in group(in_group, "method").items()
    ]
    columns = [
        Column("group", by.replace("_", " ")),
        Column("method"),
        Column("pages", number=True),
    ]
    if form == "table":
        shown = [name for name in measures if any(row.get(name) for row in rows)]
        in_f1 = {*OVERLAP_MEASURES, MENTIONS}
        columns += [
            Column(name, f"{name} F1" if name in in_f1 else name, number=True) for name in shown
        ]
    else:
        keys = dict.fromkeys(key for row in rows for key in row)
        columns += [Column(key) for key in list(keys)[3:]]
    render(rows, columns, form, title="mean and 95 % interval (sites resampled)")


def _values(
    scores: "list[PageScore]", measures: Sequence[str], *, everything: bool
) -> dict[str, object]:
    from newscrawl.training.evaluation import MENTIONS, OVERLAP_MEASURES, mean

    values: dict[str, object] = {}
    for name in measures:
        parts = [""]
        if name in OVERLAP_MEASURES:
            parts = [".f1", ".precision", ".recall", ".f1_of_means"]
        elif name == MENTIONS:
            parts = [".f1", ".precision", ".recall", ".count_ratio"]
        means = {f"{name}{part}": mean(scores, f"{name}{part}") for part in parts}
        if not everything:
            # The mean and the larger side of its interval, in a short form.
            reached = means[f"{name}{parts[0]}"]
            side = reached and max(reached.high - reached.value, reached.value - reached.low)
            values[name] = reached and f"{reached.value:.3f}±{side:.2f}".replace("±0.", "±.")
            continue
        for key, reached in means.items():
            values[key] = reached and round(reached.value, 6)
            values[f"{key}.low"] = reached and round(reached.low, 6)
            values[f"{key}.high"] = reached and round(reached.high, 6)
    if everything:
        values["seconds_per_page"] = round(sum(s.seconds for s in scores) / len(scores), 6)
    return values


def _show_worst(scores_of_pages: "list[PageScore]", measure: str, count: int) -> None:
    from newscrawl.training.evaluation import OVERLAP_MEASURES, group, worst

    name = f"{measure}.f1" if measure in OVERLAP_MEASURES else measure
    for method, scores in group(scores_of_pages, "method").items():
        write_note(f"worst pages of {method} by {name}:")
        for score in worst(scores, name, count):
            command = f"newscrawl explain {shlex.quote(score.path)} -o page.html"
            write_note(f"  {score.values[name]:.3f}  {score.set}/{score.id}  {command}")
