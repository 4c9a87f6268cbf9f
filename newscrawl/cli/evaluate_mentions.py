"""newscrawl evaluate mentions: how well companies are found in texts labelled by hand."""

from collections.abc import Sequence

from newscrawl.cli.arguments import Format, companies_from, one_of
from newscrawl.cli.output import Column, render


def evaluate_mentions(langs: Sequence[str], form: Format) -> None:
    """Score all mentions of the bundled texts by language, and by part."""
    from newscrawl.training.mention_score import read_labelled, score_mentions

    texts = read_labelled()
    known = sorted({text.language for text in texts})
    wanted = {one_of(lang, known, "language", "newscrawl evaluate mentions") for lang in langs}
    texts = [text for text in texts if not wanted or text.language in wanted]
    companies = companies_from(None)
    scores = [(score.group, score) for score in score_mentions(companies, texts)]
    for part in dict.fromkeys(text.part for text in texts):
        of_part = [text for text in texts if text.part == part]
        scores.append((part, score_mentions(companies, of_part)[-1]))
    rows = [
        {
            "group": group,
            "texts": score.texts,
            "mentions": score.mentions,
            "precision": round(score.overlap.precision, 6),
            "recall": round(score.overlap.recall, 6),
            "f1": round(score.overlap.f1, 6),
        }
        for group, score in scores
    ]
    columns = [
        Column(key="group", heading="texts in"),
        Column(key="texts", heading="texts", number=True),
        Column(key="mentions", heading="mentions", number=True),
        *(
            Column(key=key, heading=heading, number=True, show=lambda value: f"{value:.3f}")
            for key, heading in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
        ),
    ]
    note = "held-out: the texts whose mistakes nobody has looked at."
    render(rows, columns, form, title="mentions of companies in labelled texts", note=note)
