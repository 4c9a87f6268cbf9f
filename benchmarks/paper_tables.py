"""Print the papers' tables for labelled pages, in the form of the papers.

`python -m benchmarks.paper_tables --corpus DIR --table 1 --table 7`. Table 1 is that of Ziegler &
Skubacz 2007; 5 to 14 are those of Barbaresi & Lejeune 2020, whose pages are the set daniel:
f-scores of mean precision and mean recall, in percent, best first, with standard deviations over
pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.command_line import run
from newscrawl.cli.arguments import (
    Format,
    InputError,
    corpus_from,
)
from newscrawl.cli.output import Column, progress, render, write_json
from newscrawl.cli.train import known_methods, unseen_part
from newscrawl.training.corpus import CorpusError
from newscrawl.training.evaluation import PageScore, evaluate, group, mean

STRATEGIES = {"FE": "fe", "PR": "pr", "TB": "tb"}  # Z&S section 4.2; HL needs a second human
DISTANCES = {"KL div.": "kl", "Euclidean": "euclidean", "Cosine": "cosine"}
PAPER_SET = "daniel"

Row = dict[str, str]


@dataclass(frozen=True)
class PaperTable:
    """`measure` is "" for the table of distances, `lang` empty for all languages."""

    number: int
    title: str
    measure: str
    lang: str = ""

    @property
    def measures(self) -> tuple[str, ...]:
        return (self.measure,) if self.measure else tuple(DISTANCES.values())


TABLES = {
    table.number: table
    for table in (
        PaperTable(1, "Performance benchmark scores", "similarity"),
        PaperTable(5, "clean_eval", "clean"),
        PaperTable(6, "voc_eval", "voc"),
        PaperTable(7, "occ_eval", "word"),
        PaperTable(8, "KL_eval, Euclidean and cosine distances", ""),
        PaperTable(9, "clean_eval, documents in English", "clean", "en"),
        PaperTable(10, "occ_eval, documents in English", "word", "en"),
        PaperTable(11, "occ_eval, documents in Greek", "word", "el"),
        PaperTable(12, "occ_eval, documents in Polish", "word", "pl"),
        PaperTable(13, "occ_eval, documents in Russian", "word", "ru"),
        PaperTable(14, "occ_eval, documents in Chinese, by character", "word", "zh"),
    )
}


def paper_table(number: int, page_scores: Sequence[PageScore]) -> list[Row]:
    """Return the rows of a table; Table 1 has one row, with a column for each strategy.

    Raises:
        CorpusError: no page of the table's language among the scores.
    """
    table = TABLES[number]
    chosen = [score for score in page_scores if not table.lang or score.lang == table.lang]
    if not chosen:
        raise CorpusError(f"table {number}: no page in {table.lang}; choose other pages")
    by_method = group(chosen, "method")
    if number == 1:
        return [_strategies(by_method)]
    rows = [
        (_distances(method, scores) if not table.measure else _overlap(method, scores, table))
        for method, scores in by_method.items()
    ]
    rows.sort(key=lambda row: row[0])
    return [row for _, row in rows]


def _strategies(by_method: dict[str, list[PageScore]]) -> Row:
    row = {"Strategy": "similarity"}
    for name, method in STRATEGIES.items():
        reached = mean(by_method.get(method, []), "similarity")
        row[name] = f"{reached.value:.3f}" if reached else "–"
    return row


def _overlap(method: str, scores: list[PageScore], table: PaperTable) -> tuple[float, Row]:
    row = {"Tool": method}
    order = 0.0
    for heading, name in (
        ("f-score", "f1_of_means"),
        ("precision", "precision"),
        ("recall", "recall"),
    ):
        measure = f"{table.measure}.{name}"
        reached = mean(scores, measure)
        if reached is None:
            row[heading] = "–"
        elif name == "f1_of_means":
            order = -reached.value
            row[heading] = f"{100 * reached.value:.2f}"
        else:
            row[heading] = (
                f"{100 * reached.value:.2f} (± {100 * _standard_deviation(scores, measure):.0f})"
            )
    return order, row


def _distances(method: str, scores: list[PageScore]) -> tuple[float, Row]:
    row = {"Tool": method}
    order = 0.0
    for heading, measure in reversed(DISTANCES.items()):
        reached = mean(scores, measure)
        order = reached.value if reached else order
        row[heading] = (
            f"{reached.value:.2f} (± {_standard_deviation(scores, measure):.1f})"
            if reached
            else "–"
        )
    return order, {"Tool": method} | {heading: row[heading] for heading in DISTANCES}


def _standard_deviation(page_scores: Sequence[PageScore], measure: str) -> float:
    """Return the standard deviation over pages that have the value, 0 where none has."""
    values = [score.values[measure] for score in page_scores if measure in score.values]
    return float(np.std(values)) if values else 0.0


def paper_tables(
    tables: list[int],
    corpus: Path | None = None,
    sets: list[str] | None = None,
    langs: list[str] | None = None,
    methods: list[str] | None = None,
    unseen: bool = False,
    form: Format = "table",
) -> None:
    """Print Table 1 of Ziegler & Skubacz or Tables 5 to 14 of Barbaresi & Lejeune.

    tables --table NUMBER: 1 or 5 to 14; may be repeated.
    methods --method NAME: Only this method, may be repeated; else all.
    --unseen: Only sites that train leaves for testing.
    """
    if unknown := [number for number in tables if number not in TABLES]:
        raise InputError(f"no table {unknown[0]}: give 1 (Ziegler & Skubacz) or 5 to 14")
    pages = corpus_from(corpus)
    pages = (unseen_part(pages, 0) if unseen else pages).select(sets=sets or (), langs=langs or ())
    measures = list(dict.fromkeys(name for number in tables for name in TABLES[number].measures))
    with progress("pages", len(pages)) as step:
        scores = evaluate(
            pages.pages, known_methods(methods or ()), measures, on_page=lambda: step("")
        )
    tables_by_number = {number: paper_table(number, scores) for number in tables}
    if form == "json":
        write_json({str(number): rows for number, rows in tables_by_number.items()})
        return
    for number, rows in tables_by_number.items():
        columns = [Column(key, number=key != "Tool") for key in rows[0]]
        render(rows, columns, form, title=f"Table {number}: {TABLES[number].title}")


if __name__ == "__main__":
    run(paper_tables)
