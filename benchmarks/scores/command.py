"""Score companies, metadata and kinds of pages: python -m benchmarks.scores COMMAND.

`mentions` scores the companies found in bundled texts and, with a corpus, in its news; `metadata`
titles, authors, days and languages of pages with such golds; `kinds` counts what labelled pages of
each type are taken for.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.scores.kinds import KINDS, score_kinds
from benchmarks.scores.mentions import (
    ArticleLabels,
    JudgedText,
    LabelledText,
    LabelsError,
    join_texts,
    judge,
    pair_mistakes,
    read_labelled,
    read_labels,
    renamed,
    score_languages,
    score_mentions,
    score_rules,
)
from benchmarks.scores.metadata import Score, labelled_pages, read_page, score
from newscrawl.answers.names import match_one
from newscrawl.cli.arguments import (
    Command,
    Format,
    InputError,
    companies_from,
    corpus_from,
    open_workers,
)
from newscrawl.cli.output import Column, Row, progress, render, write_note
from newscrawl.mentions import Companies
from newscrawl.text import count_of
from newscrawl.training.corpus import DEVELOPMENT, SEALED, Corpus, map_pages
from newscrawl.training.metrics import Overlap

SealedOption = Annotated[
    bool,
    typer.Option("--sealed", help="Only the sealed sites or texts, to which nothing was fitted."),
]

_FIGURES = (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))


def mentions(
    corpus: Path | None = None,
    langs: list[str] | None = None,
    sealed: SealedOption = False,
    cases: Annotated[
        Path | None,
        typer.Option(
            help="Also the texts of this file, as newscrawl corrections export writes it.",
            metavar="FILE",
        ),
    ] = None,
    worst: Annotated[
        int, typer.Option(min=0, help="Also list this number of texts with most mistakes.")
    ] = 0,
    form: Format = "table",
) -> None:
    """Score mentions by language: of bundled texts and, with --corpus, of its labelled news."""
    news = corpus_from(corpus) if corpus or sealed else None
    try:
        texts, labels = read_labelled(), read_labels()
        case_texts = read_labelled(cases) if cases else []
    except LabelsError as error:
        raise InputError(str(error)) from error
    companies = companies_from(None)
    listed = {text.language for text in (*texts, *case_texts)} | {text.language for text in labels}
    languages = {
        match_one(lang, sorted(listed), "language", "benchmarks.scores mentions")
        for lang in langs or ()
    } or listed
    texts = [text for text in texts if text.language in languages]
    case_texts = [text for text in case_texts if text.language in languages]
    part = SEALED if sealed else DEVELOPMENT
    labels = [text for text in labels if text.part == part and text.language in languages]
    rows_by_kind = {"written": _written_rows(companies, texts)}
    if cases:
        rows_by_kind["cases"] = _written_rows(companies, case_texts)
    if news is None:
        number = count_of(len(labels), "labelled text")
        write_note(f"{number} of real news skipped: give --corpus DIR")
    else:
        judged = _judge_texts(companies, labels, news)
        rows_by_kind |= {
            "real": [
                {
                    "group": score.group,
                    "texts": score.texts,
                    "pairs": score.pairs,
                    "unregistered": score.unregistered,
                }
                | _figures(score.overlap)
                for score in score_languages(judged)
            ],
            "rule": [
                {"group": score.rule, "pairs": score.pairs, "precision": round(score.precision, 6)}
                for score in score_rules(judged)
            ],
        }
        if worst:
            _write_worst(judged, worst)
    _show_figures(rows_by_kind, part, form)


def _written_rows(companies: Companies, texts: Sequence[LabelledText]) -> list[Row]:
    scores = [(score.group, score) for score in score_mentions(companies, texts)]
    for part in dict.fromkeys(text.part for text in texts):
        of_part = [text for text in texts if text.part == part]
        scores.append((part, score_mentions(companies, of_part)[-1]))
    return [
        {"group": group, "texts": score.texts, "mentions": score.mentions} | _figures(score.overlap)
        for group, score in scores
    ]


def _judge_texts(
    companies: Companies, labels: Iterable[ArticleLabels], corpus: Corpus
) -> list[JudgedText]:
    texts, skipped = join_texts(labels, corpus)
    for reason, count in skipped.items():
        write_note(f"{count_of(count, 'labelled text')} of real news skipped: {reason}")
    judged = judge(companies, texts)
    for label, company in renamed(judged):
        write_note(f"same span, other name: label {label}, registry {company}; rename the label")
    return judged


def _figures(overlap: Overlap) -> dict[str, object]:
    values = (overlap.precision, overlap.recall, overlap.f1)
    return {key: round(value, 6) for (key, _), value in zip(_FIGURES, values, strict=True)}


def _write_worst(judged: Iterable[JudgedText], count: int) -> None:
    for text in pair_mistakes(judged)[:count]:
        labels = text.text.labels
        write_note(f"{labels.set}/{labels.page} ({labels.language}, {labels.site})")
        for company, surface in text.missed:
            write_note(f"  missed: {company}: {surface!r}")
        for company, surface, rule in text.wrong:
            write_note(f"  wrong: {company}: {surface!r} by {rule}")


def _show_figures(kinds: Mapping[str, Sequence[Row]], part: str, form: Format) -> None:
    if form != "table":
        rows = [{"kind": kind, **row} for kind, of_kind in kinds.items() for row in of_kind]
        keys = dict.fromkeys(key for row in rows for key in row)
        render(rows, [Column(key) for key in keys], form)
        return
    columns = {"group": "texts in", "texts": "texts", "mentions": "mentions", **dict(_FIGURES)}
    note = "held-out: texts whose mistakes were never inspected."
    title = "mentions of companies in labelled texts"
    _table(kinds["written"], columns, title=title, note=note)
    if "cases" in kinds:
        _table(kinds["cases"], columns, title="mentions of companies in the cases of the file")
    if "real" in kinds:
        counts = {"texts": "texts", "pairs": "pairs", "unregistered": "unregistered"}
        _table(
            kinds["real"],
            {"group": "texts in", **counts, **dict(_FIGURES)},
            title=f"pairs of text and company in labelled real news ({part})",
            note="unregistered: pairs of companies that the registry does not have.",
        )
        _table(
            kinds["rule"],
            {"group": "rule", "pairs": "pairs", "precision": "precision"},
            title=f"pairs found in real news ({part}) by the rule of their first mention",
        )


def _table(rows: Sequence[Row], headings: Mapping[str, str], *, title: str, note: str = "") -> None:
    figures = dict(_FIGURES)
    columns = [
        Column(
            key,
            heading,
            number=key != "group",
            show=(lambda value: f"{value:.3f}") if key in figures else None,
        )
        for key, heading in headings.items()
    ]
    render(rows, columns, "table", title=title, note=note)


# Names of the measures in CSV and JSON, and over the columns of a table.
METADATA_MEASURES = {
    "title exact": ("title_exact", "title"),
    "title F1": ("title_f1", "title F1"),
    "authors F1": ("authors_f1", "authors"),
    "day": ("day", "day"),
    "language": ("language", "language"),
}


def _three(value: object) -> str:
    return "–" if value is None else f"{value:.3f}"


METADATA_COLUMNS = (
    *(
        Column(key, heading, number=True, show=_three)
        for key, heading in METADATA_MEASURES.values()
    ),
    *(Column(f"{key}.pages", "pages", table=False) for key, _ in METADATA_MEASURES.values()),
)


def metadata(
    corpus: Path | None = None,
    sets: list[str] | None = None,
    langs: list[str] | None = None,
    sealed: SealedOption = False,
    cluster: str | None = None,
    form: Format = "table",
) -> None:
    """Score title, authors, day and language of the pages that have such golds, by set."""
    chosen = corpus_from(corpus)
    chosen = (chosen.part(SEALED) if sealed else chosen).select(sets=sets or (), langs=langs or ())
    pages = labelled_pages(chosen)
    if not pages:
        write_note(f"newscrawl: {chosen.name}: no article with gold title, authors or date")
        raise typer.Exit(1)
    with open_workers(None, cluster) as workers, progress("pages", len(pages)) as step:
        fields = map_pages(read_page, pages, workers=workers, on_page=lambda: step(""))
    scores = score(pages, dict(zip(pages, fields, strict=True)).__getitem__)
    rows = [
        {"set": group} | metadata_values(scores[group])
        for group in sorted(scores, key=lambda group: (group == "all", group))
    ]
    title = f"metadata of {len(pages)} articles: exact title and its word F1, F1 of authors, day"
    render(rows, (Column("set"), *METADATA_COLUMNS), form, title=title)


def metadata_values(scores: Mapping[str, Score]) -> dict[str, object]:
    """Return the means by column, and the number of pages that each is over."""
    values: dict[str, object] = {}
    for name, (key, _) in METADATA_MEASURES.items():
        if name in scores:
            values[key] = round(scores[name].mean, 6)
            values[f"{key}.pages"] = scores[name].pages
    return values


def kinds(
    corpus: Path | None = None,
    sets: list[str] | None = None,
    langs: list[str] | None = None,
    sealed: SealedOption = False,
    cluster: str | None = None,
    form: Format = "table",
) -> None:
    """Count, for pages of each type, the detected kinds: articles, live blogs, fronts, others."""
    pages = corpus_from(corpus).part(SEALED if sealed else DEVELOPMENT)
    pages = pages.select(sets=sets or (), langs=langs or ())
    with open_workers(None, cluster) as workers, progress("pages", len(pages)) as step:
        scores = score_kinds(pages.pages, lambda: step(""), workers)
    rows = [
        {"type": score.page_type, "pages": score.pages, "stored": round(score.stored, 6)}
        | {kind: score.kinds[kind] for kind in KINDS}
        for score in scores
    ]
    chosen = [kind for kind in KINDS if any(row[kind] for row in rows) or form != "table"]
    columns = (
        Column("type", "pages of type"),
        Column("pages", number=True),
        *(Column(kind, number=True) for kind in chosen),
        Column("stored", number=True, show=_three),
    )
    render(rows, columns, form, title=f"kinds of {len(pages)} pages, and the share stored")


app = typer.Typer(
    help=__doc__,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (mentions, metadata, kinds):
    app.command(cls=Command)(command)
