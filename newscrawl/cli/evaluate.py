"""newscrawl evaluate: the text of pages against labels by people."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.cli.arguments import (
    ClusterOption,
    CorpusOption,
    Format,
    FormatOption,
    InputError,
    LangsOption,
    SetsOption,
    corpus_from,
    match_one,
    open_workers,
)
from newscrawl.cli.output import Column, progress, render, write_note

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.evaluation import Grouping, PageScore


EXAMPLE = "Example: newscrawl evaluate --corpus corpus --method combined --method fe --worst 5"
SHOWN = ("word", "shingle", "similarity", "phrases")

MethodsOption = Annotated[
    list[str] | None,
    typer.Option("--method", help="Only this method, may be repeated; else all.", metavar="NAME"),
]


def evaluate(
    corpus: CorpusOption = None,
    sets: SetsOption = None,
    langs: LangsOption = None,
    page_types: Annotated[
        list[str] | None, typer.Option("--page-type", help="Only this type; may be repeated.")
    ] = None,
    sealed: Annotated[
        bool, typer.Option("--sealed", help="Only the sealed sites, to which nothing was fitted.")
    ] = False,
    unseen: Annotated[
        bool, typer.Option("--unseen", help="Only sites that train leaves for testing.")
    ] = False,
    split_seed: Annotated[int, typer.Option(min=0, help="The split of --unseen.")] = 0,
    methods: MethodsOption = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            help="word, voc, shingle, clean (slow), similarity, kl, euclidean, cosine, phrases or "
            "mentions; may be repeated.",
            metavar="NAME",
        ),
    ] = None,
    by: Annotated[
        Literal["all", "set", "lang", "site", "page_type", "length"],
        typer.Option(help="Group pages by; length is that of the gold text."),
    ] = "set",
    worst: Annotated[
        int,
        typer.Option(min=0, help="Also list this number of pages with the lowest first measure."),
    ] = 0,
    cluster: ClusterOption = None,
    form: FormatOption = "table",
) -> None:
    """Score every extraction method on labelled pages, with 95 % intervals by resampling sites.

    F1 is the mean of the pages' F1; CSV and JSON also have the F1 of mean precision and mean
    recall. One rule decides for all methods whether the headline counts: docs/training.md.
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
        Column(key="group", heading=by.replace("_", " ")),
        Column(key="method", heading="method"),
        Column(key="pages", heading="pages", number=True),
    ]
    if form == "table":
        shown = [name for name in measures if any(row.get(name) for row in rows)]
        in_f1 = {*OVERLAP_MEASURES, MENTIONS}
        columns += [
            Column(key=name, heading=f"{name} F1" if name in in_f1 else name, number=True)
            for name in shown
        ]
    else:
        keys = dict.fromkeys(key for row in rows for key in row)
        columns += [Column(key=key, heading=key) for key in list(keys)[3:]]
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
