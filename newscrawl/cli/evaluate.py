"""newscrawl evaluate: text, mentions, metadata and kinds against labels by people."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.cli.arguments import (
    ClusterOption,
    CorpusOption,
    Format,
    FormatOption,
    LangsOption,
    SetsOption,
    companies_file,
    companies_from,
    corpus_from,
    match_one,
    open_workers,
    refuse_options,
    takes_options,
)
from newscrawl.cli.output import Column, Row, progress, render, write_note
from newscrawl.text import count_of

if TYPE_CHECKING:
    from newscrawl.cluster import Workers
    from newscrawl.mentions import Companies
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.evaluation import Grouping, Mean, PageScore
    from newscrawl.training.mention_score import (
        ArticleLabels,
        CompanyPool,
        JudgedText,
        LabelledText,
    )
    from newscrawl.training.metadata_score import Score
    from newscrawl.training.metrics import Overlap


EXAMPLE = "Example: newscrawl evaluate --corpus corpus --method combined --method fe --worst 5"
SHOWN = ("word", "shingle", "similarity", "phrases")

MethodsOption = Annotated[
    list[str] | None,
    typer.Option("--method", help="Only this method, may be repeated; else all.", metavar="NAME"),
]

_WhatArgument = Annotated[
    Literal["text", "mentions", "metadata", "kinds"],
    typer.Argument(
        help="The text of pages; mentions of companies in texts labelled by hand; title, "
        "authors, day and language of pages; or their kinds.",
        metavar="[text|mentions|metadata|kinds]",
        show_default="text",
    ),
]


@dataclass(frozen=True, slots=True)
class _PageOptions:
    """The labelled pages to score."""

    corpus: CorpusOption = None
    sets: SetsOption = None
    langs: LangsOption = None
    sealed: Annotated[
        bool,
        typer.Option(
            "--sealed",
            help="Only the sealed sites, or texts of mentions, to which nothing was fitted.",
        ),
    ] = False
    cluster: ClusterOption = None


@dataclass(frozen=True, slots=True)
class _TextOptions:
    """The options for scores of texts only."""

    page_types: Annotated[
        list[str] | None, typer.Option("--page-type", help="Only this type; may be repeated.")
    ] = None
    methods: MethodsOption = None
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            help="word, voc, shingle, clean (slow), similarity, kl, euclidean, cosine, phrases or "
            "mentions; may be repeated.",
            metavar="NAME",
        ),
    ] = None
    by: Annotated[
        Literal["all", "set", "lang", "site", "page_type", "length"],
        typer.Option(help="Group pages by; length is that of the gold text."),
    ] = "set"
    unseen: Annotated[
        bool,
        typer.Option("--unseen", help="Only sites that train leaves for testing."),
    ] = False
    split_seed: Annotated[int, typer.Option(min=0, help="The split of --unseen.")] = 0


_TEXT_ONLY = tuple(field.name for field in fields(_TextOptions))
_CasesOption = Annotated[
    Path | None,
    typer.Option(
        help="Mentions also in the texts of this file, as newscrawl corrections export writes it.",
        metavar="FILE",
    ),
]
_WorstOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="Also list this number of pages with the lowest first measure, or of texts with "
        "most wrong mentions.",
    ),
]


@takes_options
def evaluate(
    context: typer.Context,
    *,
    what: _WhatArgument = "text",
    options: _PageOptions,
    text: _TextOptions,
    worst: _WorstOption = 0,
    cases: _CasesOption = None,
    form: FormatOption = "table",
) -> None:
    """Score every extraction method on labelled pages, with 95 % intervals by resampling sites.

    F1 is the mean of the pages' F1; CSV and JSON also have the F1 of mean precision and mean
    recall. One rule decides for all methods whether the headline counts: docs/training.md.

    "evaluate mentions" prints precision, recall and F1 by language: of bundled texts and, with
    --corpus, of its news in which companies are labelled. "evaluate metadata" scores titles,
    authors, days and languages by set. "evaluate kinds" counts, for pages of each type, the
    detected kinds: articles, live blogs, fronts, others.
    """
    if what != "text":
        refuse_options(context, _TEXT_ONLY, f"is not for {what}")
    if what in ("metadata", "kinds"):
        refuse_options(context, ("worst",), f"is not for {what}")
    sealed = options.sealed
    if what == "mentions":
        refuse_options(context, ("sets",), "is not for mentions")
        _evaluate_mentions(options, cases, worst, form)
        return
    refuse_options(context, ("cases",), f"is not for {what}")
    if text.unseen:
        refuse_options(context, ("sealed",), "is not for --unseen")
    from newscrawl.training.corpus import DEVELOPMENT, SEALED

    pages = corpus_from(options.corpus)
    if sealed or what == "kinds":
        pages = pages.part(SEALED if sealed else DEVELOPMENT)
    if text.unseen:
        pages = unseen_part(pages, text.split_seed)
    types = text.page_types or ()
    pages = pages.select(sets=options.sets or (), langs=options.langs or (), page_types=types)
    with open_workers(None, options.cluster) as workers:
        if what == "kinds":
            _evaluate_kinds(pages, workers, form)
        elif what == "metadata":
            _evaluate_metadata(pages, workers, form)
        else:
            _evaluate_text(pages, workers, text, form, worst)


def _evaluate_text(
    pages: "Corpus", workers: "Workers", options: _TextOptions, form: Format, worst: int
) -> None:
    """Score the texts of the chosen methods, and list the worst pages."""
    from newscrawl.training.evaluation import evaluate as score_pages

    measures = _known_measures(options.measures or SHOWN)
    names = known_methods(options.methods or [])
    with progress("pages", len(pages)) as step:
        scores = score_pages(
            pages.pages, names, measures, workers=workers, on_page=lambda: step("")
        )
    _show(scores, measures, options.by, form)
    if worst:
        _show_worst(scores, measures[0], worst)


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


def _known_measures(names: Sequence[str]) -> list[str]:
    from newscrawl.training.evaluation import MENTIONS
    from newscrawl.training.scores import MEASURES

    measures = (*MEASURES, MENTIONS)
    chosen = [match_one(name, measures, "measure", "newscrawl evaluate --help") for name in names]
    return list(dict.fromkeys(chosen))


def _show(
    scores_of_pages: "list[PageScore]", measures: Sequence[str], by: "Grouping", form: Format
) -> None:
    from newscrawl.training.evaluation import group

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
    from newscrawl.training.evaluation import MENTIONS, mean
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
    """Return the mean and the larger side of its interval, in a short form."""
    if reached is None:
        return None
    side = max(reached.high - reached.value, reached.value - reached.low)
    return f"{reached.value:.3f}±{side:.2f}".replace("±0.", "±.")


def _show_worst(scores_of_pages: "list[PageScore]", measure: str, count: int) -> None:
    from newscrawl.training.evaluation import group, worst
    from newscrawl.training.scores import OVERLAP_MEASURES

    name = f"{measure}.f1" if measure in OVERLAP_MEASURES else measure
    for method, scores in group(scores_of_pages, "method").items():
        write_note(f"worst pages of {method} by {name}:")
        for score in worst(scores, name, count):
            command = f"newscrawl explain {shlex.quote(score.path)} -o page.html"
            write_note(f"  {score.values[name]:.3f}  {score.set}/{score.id}  {command}")


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
        Column(key=key, heading=heading, number=True, show=_three)
        for key, heading in METADATA_MEASURES.values()
    ),
    *(
        Column(key=f"{key}.pages", heading="pages", table=False)
        for key, _ in METADATA_MEASURES.values()
    ),
)


def _evaluate_metadata(chosen: "Corpus", workers: "Workers", form: Format) -> None:
    """Score our metadata of the pages of a corpus that have a gold title, authors or date."""
    from newscrawl.training.corpus import map_pages
    from newscrawl.training.metadata_score import labelled_pages, read_page, score

    pages = labelled_pages(chosen)
    if not pages:
        write_note(f"newscrawl: {chosen.name}: no article with gold title, authors or date")
        raise typer.Exit(1)
    with progress("pages", len(pages)) as step:
        fields = map_pages(read_page, pages, workers=workers, on_page=lambda: step(""))
    scores = score(pages, dict(zip(pages, fields, strict=True)).__getitem__)
    rows = [
        {"set": group} | metadata_values(scores[group])
        for group in sorted(scores, key=lambda group: (group == "all", group))
    ]
    title = f"metadata of {len(pages)} articles: exact title and its word F1, F1 of authors, day"
    render(rows, (Column(key="set", heading="set"), *METADATA_COLUMNS), form, title=title)


def metadata_values(scores: "Mapping[str, Score]") -> dict[str, object]:
    """Return the means by column, and the number of pages that each is over."""
    values: dict[str, object] = {}
    for name, (key, _) in METADATA_MEASURES.items():
        if name in scores:
            values[key] = round(scores[name].mean, 6)
            values[f"{key}.pages"] = scores[name].pages
    return values


def _evaluate_kinds(pages: "Corpus", workers: "Workers", form: Format) -> None:
    """Show the numbers of pages by type and detected kind."""
    from newscrawl.training.kind_score import KINDS, score_kinds

    with progress("pages", len(pages)) as step:
        scores = score_kinds(pages.pages, lambda: step(""), workers)
    rows = [
        {"type": score.page_type, "pages": score.pages, "stored": round(score.stored, 6)}
        | {kind: score.kinds[kind] for kind in KINDS}
        for score in scores
    ]
    chosen = [kind for kind in KINDS if any(row[kind] for row in rows) or form != "table"]
    columns = (
        Column(key="type", heading="pages of type"),
        Column(key="pages", heading="pages", number=True),
        *(Column(key=kind, heading=kind, number=True) for kind in chosen),
        Column(key="stored", heading="stored", number=True, show=_three),
    )
    render(rows, columns, form, title=f"kinds of {len(pages)} pages, and the share stored")


_FIGURES = (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))


def _evaluate_mentions(options: _PageOptions, cases: Path | None, worst: int, form: Format) -> None:
    sealed = options.sealed
    news = corpus_from(options.corpus) if options.corpus or sealed else None
    with _company_pool(options.cluster) as companies:
        evaluate_mentions(
            companies, options.langs or (), form, (news, cases), sealed=sealed, worst=worst
        )


@contextmanager
def _company_pool(cluster: str | None) -> "Iterator[Companies | CompanyPool]":
    """Yield the companies, searched on a cluster or in this process, which takes seconds."""
    from newscrawl.training.mention_score import CompanyPool

    with open_workers(None, cluster) as workers:
        companies = companies_from(None)
        if isinstance(workers, int):
            yield companies
        else:
            yield CompanyPool(companies, companies_file(None), workers)


def evaluate_mentions(
    companies: "Companies | CompanyPool",
    langs: Sequence[str],
    form: Format,
    data: "tuple[Corpus | None, Path | None]",
    *,
    sealed: bool,
    worst: int,
) -> None:
    """Score the mentions of the bundled texts and, separately, those of `data`: a file of cases,
    and pairs in a corpus's news."""
    from newscrawl.training.corpus import DEVELOPMENT, SEALED
    from newscrawl.training.mention_score import read_labelled, read_labels

    corpus, cases = data
    texts, labels = read_labelled(), read_labels()
    case_texts = read_labelled(cases) if cases else []
    all_languages = sorted(
        {text.language for text in (*texts, *case_texts)}
        | {labelled.language for labelled in labels}
    )
    languages = {
        match_one(lang, all_languages, "language", "newscrawl evaluate mentions") for lang in langs
    }
    texts = [text for text in texts if not languages or text.language in languages]
    case_texts = [text for text in case_texts if not languages or text.language in languages]
    part = SEALED if sealed else DEVELOPMENT
    labels = [
        labelled
        for labelled in labels
        if labelled.part == part and (not languages or labelled.language in languages)
    ]
    kinds = {"written": _written_rows(companies, texts)}
    if cases:
        kinds["cases"] = _written_rows(companies, case_texts)
    if corpus is None:
        number = count_of(len(labels), "labelled text")
        write_note(f"{number} of real news skipped: give --corpus DIR")
    else:
        judged = _judge_texts(companies, labels, corpus)
        kinds |= {"real": _real_rows(judged), "rule": _rule_rows(judged)}
        if worst:
            _write_worst(judged, worst)
    _show_figures(kinds, part, form)


def _written_rows(
    companies: "Companies | CompanyPool", texts: "Sequence[LabelledText]"
) -> list[Row]:
    from newscrawl.training.mention_score import score_mentions

    scores = [(score.group, score) for score in score_mentions(companies, texts)]
    for part in dict.fromkeys(text.part for text in texts):
        of_part = [text for text in texts if text.part == part]
        scores.append((part, score_mentions(companies, of_part)[-1]))
    return [
        {"group": group, "texts": score.texts, "mentions": score.mentions} | _figures(score.overlap)
        for group, score in scores
    ]


def _judge_texts(
    companies: "Companies | CompanyPool", labels: "Iterable[ArticleLabels]", corpus: "Corpus"
) -> "list[JudgedText]":
    from newscrawl.training.mention_score import join_texts, judge, renamed

    texts, skipped = join_texts(labels, corpus)
    for reason, count in skipped.items():
        write_note(f"{count_of(count, 'labelled text')} of real news skipped: {reason}")
    judged = judge(companies, texts)
    for label, company in renamed(judged):
        write_note(f"same span, other name: label {label}, registry {company}; rename the label")
    return judged


def _real_rows(judged: "Sequence[JudgedText]") -> list[Row]:
    from newscrawl.training.mention_score import score_languages

    return [
        {
            "group": score.group,
            "texts": score.texts,
            "pairs": score.pairs,
            "unregistered": score.unregistered,
        }
        | _figures(score.overlap)
        for score in score_languages(judged)
    ]


def _rule_rows(judged: "Sequence[JudgedText]") -> list[Row]:
    from newscrawl.training.mention_score import score_rules

    return [
        {"group": score.rule, "pairs": score.pairs, "precision": round(score.precision, 6)}
        for score in score_rules(judged)
    ]


def _figures(overlap: "Overlap") -> dict[str, object]:
    values = (overlap.precision, overlap.recall, overlap.f1)
    return {key: round(value, 6) for (key, _), value in zip(_FIGURES, values, strict=True)}


def _write_worst(judged: "Iterable[JudgedText]", count: int) -> None:
    from newscrawl.training.mention_score import pair_mistakes

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
        render(rows, [Column(key=key, heading=key) for key in keys], form)
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
            key=key,
            heading=heading,
            number=key != "group",
            show=(lambda value: f"{value:.3f}") if key in figures else None,
        )
        for key, heading in headings.items()
    ]
    render(rows, columns, "table", title=title, note=note)
