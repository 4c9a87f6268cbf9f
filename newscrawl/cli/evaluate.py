"""newscrawl evaluate: text, mentions and metadata against what people labelled."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.cli.arguments import Format, FormatOption, InputError, one_of, refuse_options
from newscrawl.cli.evaluate_mentions import evaluate_mentions
from newscrawl.cli.evaluate_metadata import evaluate_metadata
from newscrawl.cli.labelled import CorpusOption, LangsOption, SetsOption, corpus_from, progress
from newscrawl.cli.output import Column, render, say, write_json

if TYPE_CHECKING:
    from newscrawl.training.aggregation import Grouping, Mean
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.evaluation import PageScore

EXAMPLE = "Example: newscrawl evaluate --corpus corpus --method combined --method fe --worst 5"
SHOWN = ("word", "shingle", "similarity", "phrases")
# Options that mean something to text alone, and those that mean nothing to mentions.
TEXT_ONLY = (
    *("page_types", "methods", "measures", "by", "unseen", "split_seed", "worst", "table"),
    *("check_floors", "raise_floors", "lower_floors"),
)
PAGES_ONLY = ("corpus", "sets")


def evaluate(
    context: typer.Context,
    what: Annotated[
        Literal["text", "mentions", "metadata"],
        typer.Argument(
            help="The text of pages; mentions of companies in bundled texts; or title, authors, "
            "day and language of pages.",
            metavar="[text|mentions|metadata]",
            show_default="text",
        ),
    ] = "text",
    corpus: CorpusOption = None,
    sets: SetsOption = None,
    langs: LangsOption = None,
    page_types: Annotated[
        list[str] | None, typer.Option("--page-type", help="Only this type; may be repeated.")
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method", help="Only this method, may be repeated; else all.", metavar="NAME"
        ),
    ] = None,
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
        Literal["all", "set", "lang", "site", "page_type"], typer.Option(help="Group pages by.")
    ] = "set",
    unseen: Annotated[
        bool,
        typer.Option("--unseen", help="Only sites that train leaves for testing."),
    ] = False,
    split_seed: Annotated[int, typer.Option(min=0, help="The split of --unseen.")] = 0,
    worst: Annotated[
        int, typer.Option(min=0, help="Also list so many pages with the lowest first measure.")
    ] = 0,
    table: Annotated[
        list[int] | None,
        typer.Option(help="Table 1 or 5 to 14 of the papers; may be repeated.", metavar="NUMBER"),
    ] = None,
    check_floors: Annotated[
        bool, typer.Option("--check-floors", help="Exit code 1 if a mean is below its floor.")
    ] = False,
    raise_floors: Annotated[
        bool, typer.Option("--raise-floors", help="Lift the floors to what was reached.")
    ] = False,
    lower_floors: Annotated[
        bool, typer.Option("--lower-floors", help="Set the floors even where that lowers one.")
    ] = False,
    form: FormatOption = "table",
) -> None:
    """Score every extraction method on labelled pages, with 95 % intervals by resampling sites.

    F1 is the mean of the pages' F1; CSV and JSON also have the F1 of mean precision and mean
    recall, which the papers' tables show. The headline is settled by one rule for all methods:
    docs/training.md.

    "evaluate mentions" prints precision, recall and F1 by language; "evaluate metadata" scores
    beside the tools whose answers "newscrawl benchmark --peers" has stored in this folder.
    """
    if what != "text":
        refuse_options(context, TEXT_ONLY, f"is not for {what}")
    if what == "mentions":
        refuse_options(context, PAGES_ONLY, "is not for mentions, whose texts are bundled")
        evaluate_mentions(langs or (), form)
        return
    tables = _known_tables(table or [])
    pages = corpus_from(corpus)
    if what == "metadata":
        chosen = pages.select(sets=sets or (), langs=langs or ())
        evaluate_metadata(pages, chosen, form)
        return
    if unseen:
        pages = _unseen(pages, split_seed)
    pages = pages.select(sets=sets or (), langs=langs or (), page_types=page_types or ())
    wanted = _known_measures(measures or [m for t in tables for m in _measures_of(t)] or SHOWN)
    found = _run(pages, _known_methods(methods or []), wanted)
    if tables:
        _show_tables(tables, found, form)
    else:
        _show(found, wanted, by, form)
    if worst:
        _show_worst(found, wanted[0], worst)
    if check_floors or raise_floors or lower_floors:
        _floors(found, pages, move=raise_floors or lower_floors, lower=lower_floors)


def _unseen(pages: "Corpus", seed: int) -> "Corpus":
    """The sites that `newscrawl train` leaves for testing, whichever pages it learns from."""
    from newscrawl.training.limits_file import LIMITS_FILE, check_corpus
    from newscrawl.training.splits import split_by_site

    check_corpus(LIMITS_FILE, pages)
    return split_by_site(pages, seed=seed).test


def _known_methods(names: Sequence[str]) -> list[str]:
    from newscrawl.extraction.methods import METHODS

    known = tuple(METHODS)
    return [one_of(name, known, "method", "newscrawl evaluate --help") for name in names or known]


def _known_measures(names: Sequence[str]) -> list[str]:
    from newscrawl.training.evaluation import MENTIONS
    from newscrawl.training.scores import MEASURES

    known = (*MEASURES, MENTIONS)
    chosen = [one_of(name, known, "measure", "newscrawl evaluate --help") for name in names]
    return list(dict.fromkeys(chosen))


def _known_tables(numbers: Sequence[int]) -> list[int]:
    from newscrawl.training.paper_tables import TABLES

    if unknown := [number for number in numbers if number not in TABLES]:
        raise InputError(f"no table {unknown[0]}: give 1 (Ziegler & Skubacz) or 5 to 14")
    return list(numbers)


def _measures_of(table: int) -> tuple[str, ...]:
    from newscrawl.training.paper_tables import TABLES

    return TABLES[table].measures


def _run(pages: "Corpus", methods: Sequence[str], measures: Sequence[str]) -> "list[PageScore]":
    from newscrawl.training.evaluation import evaluate as score

    with progress("pages", len(pages)) as step:
        return score(pages.pages, methods, measures, on_page=lambda: step(""))


def _show(found: "list[PageScore]", measures: Sequence[str], by: "Grouping", form: Format) -> None:
    from newscrawl.training.aggregation import group

    rows = [
        {"group": name, "method": method, "pages": len(scores)}
        | _values(scores, measures, everything=form != "table")
        for name, in_group in group(found, by).items()
        for method, scores in group(in_group, "method").items()
    ]
    columns = [
        Column(key="group", heading=by.replace("_", " ")),
        Column(key="method", heading="method"),
        Column(key="pages", heading="pages", number=True),
    ]
    if form == "table":
        shown = [name for name in measures if any(row.get(name) for row in rows)]
        columns += [Column(key=name, heading=_heading(name), number=True) for name in shown]
    else:
        keys = dict.fromkeys(key for row in rows for key in row)
        columns += [Column(key=key, heading=key) for key in list(keys)[3:]]
    render(rows, columns, form, title="mean and 95 % interval (sites resampled)")


def _heading(measure: str) -> str:
    from newscrawl.training.evaluation import MENTIONS
    from newscrawl.training.scores import OVERLAP_MEASURES

    return f"{measure} F1" if measure in (*OVERLAP_MEASURES, MENTIONS) else measure


def _values(
    scores: "list[PageScore]", measures: Sequence[str], *, everything: bool
) -> dict[str, object]:
    from newscrawl.training.aggregation import mean
    from newscrawl.training.evaluation import MENTIONS
    from newscrawl.training.scores import OVERLAP_MEASURES

    values: dict[str, object] = {}
    for name in measures:
        parts = [""]
        if name in OVERLAP_MEASURES:
            parts = [".f1", ".precision", ".recall", ".f1_of_means"]
        elif name == MENTIONS:
            parts = [".f1", ".precision", ".recall", ".count_ratio"]
        means = {f"{name}{part}": mean(scores, f"{name}{part}") for part in parts}
        if not everything:
            values[name] = _interval(means[f"{name}{parts[0]}"])
            continue
        for key, reached in means.items():
            values[key] = reached and round(reached.value, 6)
            values[f"{key}.low"] = reached and round(reached.low, 6)
            values[f"{key}.high"] = reached and round(reached.high, 6)
    if everything:
        values["seconds_per_page"] = round(sum(s.seconds for s in scores) / len(scores), 6)
    return values


def _interval(reached: "Mean | None") -> str | None:
    """The mean and the larger side of its interval, short enough for four measures a line."""
    if reached is None:
        return None
    side = max(reached.high - reached.value, reached.value - reached.low)
    return f"{reached.value:.3f}±{side:.2f}".replace("±0.", "±.")


def _show_tables(numbers: Sequence[int], found: "list[PageScore]", form: Format) -> None:
    from newscrawl.training.paper_tables import TABLES, paper_table

    made = {number: paper_table(number, found) for number in numbers}
    if form == "json":
        write_json({str(number): rows for number, rows in made.items()})
        return
    for number, rows in made.items():
        columns = [Column(key=key, heading=key, number=key != "Tool") for key in rows[0]]
        render(rows, columns, form, title=f"Table {number}: {TABLES[number].title}")


def _show_worst(found: "list[PageScore]", measure: str, count: int) -> None:
    from newscrawl.training.aggregation import group, worst
    from newscrawl.training.scores import OVERLAP_MEASURES

    name = f"{measure}.f1" if measure in OVERLAP_MEASURES else measure
    for method, scores in group(found, "method").items():
        say(f"worst pages of {method} by {name}:")
        for score in worst(scores, name, count):
            command = f"newscrawl explain {shlex.quote(score.path)} -o page.html"
            say(f"  {score.values[name]:.3f}  {score.set}/{score.id}  {command}")


def _floors(found: "list[PageScore]", pages: "Corpus", *, move: bool, lower: bool) -> None:
    from newscrawl.training.floors import falls, load_floors, moved, reached, save_floors

    floors = load_floors()
    means = list(reached(found))
    below = falls(means, pages.fingerprint, floors)
    for line in below:
        say(f"below its floor: {line}")
    if move:
        save_floors(moved(means, pages.fingerprint, floors, lower=lower))
        say("floors set to what was reached" if lower else "floors lifted to what was reached")
    elif pages.fingerprint not in floors:
        say("no floors on file for these pages: --raise-floors sets them")
    if below and not lower:
        raise typer.Exit(1)
