"""newscrawl train: learn the limits of FE, or trees to compare them with, from labelled pages."""

import shlex
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.cli.arguments import Format, FormatOption, refuse_options
from newscrawl.cli.labelled import CorpusOption, LangsOption, SetsOption, corpus_from, progress
from newscrawl.cli.output import Column, render, say
from newscrawl.cli.train_trees import TreesTask, train_trees

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus, Split
    from newscrawl.training.limits import LimitsFit, Plan, Vectors
    from newscrawl.training.pso import Generation

EXAMPLE = "Example: newscrawl train --corpus corpus --populations 3"
# Options that mean nothing to trees.
LIMITS_ONLY = (
    *("profile", "run", "tau", "phi", "omega", "largest_step", "particles", "generations"),
    *("populations", "force"),
)


def train(
    context: typer.Context,
    corpus: CorpusOption = None,
    model: Annotated[
        Literal["limits", "tree", "boosted"],
        typer.Option(help="What to learn; trees, which need newscrawl[train], only compare."),
    ] = "limits",
    sets: SetsOption = None,
    langs: LangsOption = None,
    page_types: Annotated[
        list[str] | None,
        typer.Option("--page-type", help="Pages of this type, may be repeated; else articles."),
    ] = None,
    profile: Annotated[
        Literal["html5", "2007"], typer.Option(help="Which elements end a block.")
    ] = "html5",
    unspaced: Annotated[
        bool,
        typer.Option(
            "--unspaced", help="Limits of their own for Chinese, Japanese, Thai and the like."
        ),
    ] = False,
    run: Annotated[
        Literal["equal", "cognition"],
        typer.Option(help="Run of Figure 3: tau and phi are 2 and 2, or 2.5 and 1.5."),
    ] = "equal",
    tau: Annotated[float | None, typer.Option(help="Cognitive component.")] = None,
    phi: Annotated[float | None, typer.Option(help="Social component.")] = None,
    omega: Annotated[float, typer.Option(help="Inertia; close to 1 in the paper.")] = 0.7,
    largest_step: Annotated[
        float,
        typer.Option(help="Bound of a step, in shares of a range; 0 for none, as in the paper."),
    ] = 0.1,
    particles: Annotated[int, typer.Option(min=1, help="Particles of a population.")] = 100,
    generations: Annotated[int, typer.Option(min=0, help="Generations of a population.")] = 100,
    populations: Annotated[int, typer.Option(min=1, help="Populations, a seed each.")] = 1,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the first population, or of trees.")
    ] = 0,
    split_seed: Annotated[int, typer.Option(min=0, help="Which sites are for testing.")] = 0,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="No file: score by folds of sites, all of them unseen."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File to write; else our limits.", metavar="FILE"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite better limits too.")] = False,
    form: FormatOption = "table",
) -> None:
    """Learn the eight limits of FE with a swarm, on 70 % of the sites, and test on the others.

    Limits on file that score better on the same test pages are kept. Ctrl-C ends the swarm and
    keeps the best so far. The same seed gives the same limits to the last digit.

    --model tree and --model boosted learn a decision tree of depth 8 or boosted trees over the
    evidence of blocks instead. They are for comparison: no method of newscrawl runs them.
    The options of swarm and limits don't go with them.
    """
    from newscrawl.training.corpus import folds_by_site, split_by_site
    from newscrawl.training.limits import (
        FIGURE_3,
        LIMITS_FILE,
        Origin,
        Plan,
        check_better,
        learn,
        learnable,
        read_limits,
        score_on,
        write_limits,
    )
    from newscrawl.training.pso import SwarmSettings

    everything = corpus_from(corpus)
    pages = learnable(
        everything,
        unspaced=unspaced,
        sets=sets or (),
        langs=langs or (),
        page_types=page_types or ("article",),
    )
    if model != "limits":
        refuse_options(context, LIMITS_ONLY, f"is for limits, not --model {model}")
        task = TreesTask(model, seed, split_seed, output)
        train_trees(everything, pages, task, folds, form)
        return
    settings = SwarmSettings(
        particles=particles,
        generations=generations,
        tau=FIGURE_3[run][0] if tau is None else tau,
        phi=FIGURE_3[run][1] if phi is None else phi,
        omega=omega,
        largest_step=largest_step or None,
        seed=seed,
    )
    plan = Plan(profile, settings, populations, unspaced)
    if folds:
        splits = [s.only(pages) for s in folds_by_site(everything, k=folds, seed=split_seed)]
        _cross_validate(pages, splits, plan, form)
        return
    split = split_by_site(everything, seed=split_seed).only(pages)
    vectors = _read(pages, plan)
    with _swarm(plan, "swarm") as told:
        fit = learn(split, vectors, plan, told)
    _show(fit, split, plan, form)
    origin = Origin(everything.name, everything.fingerprint, len(pages), seed, _command())
    path = output or LIMITS_FILE
    if not force:
        known = read_limits(path, plan.name)
        check_better(fit, None if known is None else score_on(split.test, vectors, known), path)
    write_limits(path, plan, fit, origin)
    say(f"{path}: limits of {plan.name} written")
    if fit.interrupted:
        raise typer.Exit(1)


def _read(pages: "Corpus", plan: "Plan") -> "Vectors":
    from newscrawl.training.limits import vectors_of

    start = time.perf_counter()
    with progress("features", len(pages)) as step:
        vectors = vectors_of(pages, plan, lambda: step(""))
    say(f"features of {len(pages)} pages: {time.perf_counter() - start:.1f} s")
    return vectors


@contextmanager
def _swarm(plan: "Plan", name: str, swarms: int = 1) -> "Iterator[Callable[[Generation], None]]":
    """A bar with best and mean fitness; afterwards the time it took."""
    steps = swarms * plan.populations * (plan.settings.generations + 1)
    start = time.perf_counter()
    with progress(name, steps) as step:
        yield lambda now: step(f"best {now.best_so_far:.4f}, mean {now.mean:.4f}")
    seconds = time.perf_counter() - start
    say(f"{steps} generations of {plan.settings.particles} particles: {seconds:.1f} s")


def _show(fit: "LimitsFit", split: "Split", plan: "Plan", form: Format) -> None:
    from newscrawl.extraction.features import NAMES, UPPER_LIMITS

    rows = [
        {"feature": name, "side": "at most" if name in UPPER_LIMITS else "at least", "limit": limit}
        for name, limit in zip(NAMES, fit.limits.tolist(), strict=True)
    ]
    columns = [
        Column(key="feature", heading="feature"),
        Column(key="side", heading="kept if"),
        Column(key="limit", heading="limit", number=True, show=_four),
    ]
    render(rows, columns, form, title=f"limits of {plan.name}")
    say(
        f"similarity {fit.train_score:.4f} on {len(split.train)} training pages, "
        f"{fit.test_score:.4f} on {len(split.test)} pages of other sites"
    )


def _cross_validate(pages: "Corpus", splits: "Sequence[Split]", plan: "Plan", form: Format) -> None:
    from newscrawl.training.limits import cross_validate

    vectors = _read(pages, plan)
    with _swarm(plan, f"{len(splits)} folds", len(splits)) as told:
        scores = cross_validate(splits, vectors, plan, told)
    groups = defaultdict(list)
    for score in scores:
        for group in (score.page.set, f"{score.page.set} {score.page.lang}", "all"):
            groups[group].append(score)
    rows = [
        {
            "group": group,
            "pages": len(found),
            "fe": sum(score.fe for score in found) / len(found),
            "pr": sum(score.pr for score in found) / len(found),
        }
        for group, found in sorted(groups.items())
    ]
    columns = [
        Column(key="group", heading="pages of"),
        Column(key="pages", heading="pages", number=True),
        Column(key="fe", heading="FE", number=True, show=_four),
        Column(key="pr", heading="PR", number=True, show=_four),
    ]
    render(rows, columns, form, title=f"similarity on unseen sites, {len(splits)} folds by site")


def _command() -> str:
    """How to run this again: the options as given, the corpus by its folder's name alone."""
    words = (Path(word).name if "/" in word else word for word in sys.argv[1:])
    return shlex.join(["newscrawl", *words])


def _four(value: object) -> str:
    return f"{value:.4f}"
