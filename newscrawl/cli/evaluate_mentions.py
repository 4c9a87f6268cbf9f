"""newscrawl evaluate mentions: how well companies are found in texts labelled by hand."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from newscrawl.cli.arguments import Format, companies_from, match_one
from newscrawl.cli.output import Column, Row, render, write_note

if TYPE_CHECKING:
    from newscrawl.mentions import Companies
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.mention_score import ArticleLabels, JudgedText, LabelledText
    from newscrawl.training.metrics import Overlap

_FIGURES = (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))


def evaluate_mentions(
    langs: Sequence[str],
    form: Format,
    data: "tuple[Corpus | None, Path | None]",
    *,
    sealed: bool,
    worst: int,
) -> None:
    """Score the mentions of the bundled texts, and apart from them those of a file of cases and
    pairs in a corpus's news: `data`."""
    from newscrawl.training.corpus import DEVELOPMENT, SEALED
    from newscrawl.training.mention_score import read_labelled, read_labels

    corpus, cases = data
    texts, labels = read_labelled(), read_labels()
    own = read_labelled(cases) if cases else []
    known = sorted({text.language for text in (*texts, *own)} | {one.language for one in labels})
    wanted = {match_one(lang, known, "language", "newscrawl evaluate mentions") for lang in langs}
    texts = [text for text in texts if not wanted or text.language in wanted]
    own = [text for text in own if not wanted or text.language in wanted]
    part = SEALED if sealed else DEVELOPMENT
    labels = [one for one in labels if one.part == part and (not wanted or one.language in wanted)]
    companies = companies_from(None)
    kinds = {"written": _written_rows(companies, texts)}
    if cases:
        kinds["cases"] = _written_rows(companies, own)
    if corpus is None:
        write_note(f"{len(labels)} labelled texts of real news skipped: give --corpus DIR")
    else:
        judged = _judged(companies, labels, corpus)
        kinds |= {"real": _real_rows(judged), "rule": _rule_rows(judged)}
        if worst:
            _say_worst(judged, worst)
    _show(kinds, part, form)


def _written_rows(companies: "Companies", texts: "Sequence[LabelledText]") -> list[Row]:
    from newscrawl.training.mention_score import score_mentions

    scores = [(score.group, score) for score in score_mentions(companies, texts)]
    for part in dict.fromkeys(text.part for text in texts):
        of_part = [text for text in texts if text.part == part]
        scores.append((part, score_mentions(companies, of_part)[-1]))
    return [
        {"group": group, "texts": score.texts, "mentions": score.mentions} | _figures(score.overlap)
        for group, score in scores
    ]


def _judged(
    companies: "Companies", labels: "Iterable[ArticleLabels]", corpus: "Corpus"
) -> "list[JudgedText]":
    from newscrawl.training.mention_score import join_texts, judge

    texts, skipped = join_texts(labels, corpus)
    for reason, count in skipped.items():
        write_note(f"{count} labelled texts of real news skipped: {reason}")
    return judge(companies, texts)


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


def _say_worst(judged: "Iterable[JudgedText]", count: int) -> None:
    from newscrawl.training.mention_score import pair_mistakes

    for made in pair_mistakes(judged)[:count]:
        labels = made.text.labels
        write_note(f"{labels.set}/{labels.page} ({labels.language}, {labels.site})")
        for company, surface in made.missed:
            write_note(f"  missed: {company}: {surface!r}")
        for company, surface, rule in made.wrong:
            write_note(f"  wrong: {company}: {surface!r} by {rule}")


def _show(kinds: Mapping[str, Sequence[Row]], part: str, form: Format) -> None:
    if form != "table":
        rows = [{"kind": kind, **row} for kind, of_kind in kinds.items() for row in of_kind]
        keys = dict.fromkeys(key for row in rows for key in row)
        render(rows, [Column(key=key, heading=key) for key in keys], form)
        return
    columns = {"group": "texts in", "texts": "texts", "mentions": "mentions", **dict(_FIGURES)}
    note = "held-out: the texts whose mistakes nobody has looked at."
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
