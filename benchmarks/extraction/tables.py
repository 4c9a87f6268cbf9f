"""Markdown tables from a benchmark's result, which `--write-docs` writes into the documents."""

from collections.abc import Callable, Mapping, Sequence

from benchmarks.extraction.comparison import UNSEEN, Benchmark, Row
from benchmarks.extraction.peers import BARE_PARSE
from newscrawl.training.metrics import harmonic_mean

NEWS = ("daniel", "wcxb articles", "fundus")  # the groups of news pages with full gold texts
LANGUAGES = ("daniel en", "daniel el", "daniel pl", "daniel ru", "daniel zh")
PHRASES = "trafilatura"
LEARNED = "newscrawl combined"
FOOTNOTE = f"¹ Learned from these very pages, phrases aside; *{UNSEEN}* is the fair comparison."
# The README's eight rows: ours, the best of the others, and the floor of speed.
SUMMARY = (
    UNSEEN,
    "newscrawl combined",
    "trafilatura precision",
    "trafilatura",
    "readability-lxml",
    "resiliparse",
    "newspaper4k",
    BARE_PARSE,
)
KIND = "benchmark"  # of the marks in the documents


def summary(result: Benchmark) -> str:
    """Return the README's table: word F1 by set, mentions and speed of the tools in SUMMARY."""
    heads = ("Tool", *map(_set_name, NEWS), "mentions", "× parse")
    rows = {row.name: row for row in result.rows}
    lines = []
    for row in (rows[name] for name in SUMMARY if name in rows):
        cells = [_score(row, group, "word.f1") for group in NEWS]
        lines.append((_name(row), *cells, _mean(row, "mentions.f1"), _times(row)))
    return _markdown(heads, lines)


def overview(result: Benchmark) -> str:
    """Return word F1 by set, phrases, mentions and speed of all tools.

    The last row is the bare parse, which extracts no text, as the lower bound of time.
    """
    heads = ("Tool", *map(_set_name, NEWS), "phrases", "mentions", "count", "× parse")
    lines = []
    floor = [row for row in result.rows if row.name == BARE_PARSE]
    for row in (*ranked(result), *floor):
        cells = [_score(row, group, "word.f1") for group in NEWS]
        cells += [_score(row, PHRASES, "phrases"), _mean(row, "mentions.f1")]
        cells += [_mean(row, "mentions.count_ratio"), _times(row)]
        lines.append((_name(row), *cells))
    return f"{_markdown(heads, lines)}\n\n{FOOTNOTE}"


def languages(result: Benchmark) -> str:
    """Return word F1 on DANIEL by language."""
    heads = ("Tool", *(group.split()[1] for group in LANGUAGES), "all")
    return _markdown(
        heads,
        [
            (_name(row), *(_score(row, group, "word.f1") for group in (*LANGUAGES, "daniel")))
            for row in ranked(result)
        ],
    )


def occ_eval(result: Benchmark) -> str:
    """Return Table 7 of Barbaresi & Lejeune on our pages: F of mean precision and mean recall."""
    rows = [row for row in result.rows if "daniel" in row.scores]
    lines = []
    for row in sorted(rows, key=_f_of_means, reverse=True):
        scores = row.scores["daniel"]
        f, precision, recall = _f_of_means(row), scores["word.precision"], scores["word.recall"]
        figures = (f"{100 * value:.2f}" for value in (f, precision, recall))
        lines.append((_name(row), row.paper or "–", *figures))
    return _markdown(("Tool", "in the paper", "f-score", "precision", "recall"), lines)


def all_pages(result: Benchmark) -> str:
    """Return the pages that are not articles, 4-gram F1 and similarity."""
    heads = ("Tool", "other pages F1", *(f"4-gram {_set_name(group)}" for group in NEWS))
    heads += tuple(f"similarity {_set_name(group)}" for group in NEWS)
    lines = []
    for row in ranked(result):
        cells = [_score(row, "wcxb other", "word.f1")]
        cells += [_score(row, group, "shingle.f1") for group in NEWS]
        cells += [_score(row, group, "similarity") for group in NEWS]
        lines.append((_name(row), *cells))
    return _markdown(heads, lines)


def mentions(result: Benchmark) -> str:
    """Return companies counted in each tool's text against those in the gold text."""
    measures = ("precision", "recall", "f1", "count_ratio")
    heads = ["Tool"]
    for group in NEWS:
        heads += [f"{_set_name(group)} {m}" for m in ("P", "R", "F1", "count")]
    lines = [
        (_name(row), *(_score(row, group, f"mentions.{m}") for group in NEWS for m in measures))
        for row in ranked(result)
    ]
    return _markdown(tuple(heads), lines)


def speed(result: Benchmark) -> str:
    """Return CPU time and its multiple of the bare parse, fastest first."""
    rows = sorted((row for row in result.rows if row.speed), key=lambda row: row.speed["ratio"])
    lines = [
        (
            _name(row),
            row.version or "",
            f"{row.speed['milliseconds']:.1f}",
            f"{row.speed['ratio']:.2f}",
            f"{row.speed['pages_per_second']:.0f}",
            str(row.errors) if row.pages else "–",
        )
        for row in rows
    ]
    return _markdown(
        ("Tool", "version", "ms a page", "× parse", "pages a second", "pages failed"), lines
    )


def missing(result: Benchmark) -> str:
    """Return the tools that could not be run, with the reason."""
    lines = [(row.name, row.paper or "–", row.reason) for row in result.rows if row.reason]
    if not lines:
        return "Every tool could be run."
    return _markdown(("Tool", "in the paper", "why it has no figures"), lines)


def provenance(result: Benchmark) -> str:
    """Return when and on which machine and corpus the result was made, and which rows before."""
    sets = {name: count for name, count in result.pages.items() if " " not in name}
    pages = ", ".join(f"{name} {count}" for name, count in sets.items())
    return (
        f"Made {result.made_at[:10]} on {result.machine}; corpus `{result.corpus}` "
        f"({pages} pages, fingerprint `{result.fingerprint[:12]}`).{_older_rows(result)}"
    )


def _older_rows(result: Benchmark) -> str:
    days = {row.made_at[:10] for row in result.rows if row.made_at}
    if not days:
        return ""
    made = ", ".join(row.name for row in result.rows if not row.made_at)
    return f" Run that day: {made}; the other rows are of {', '.join(sorted(days))}."


TABLES: Mapping[str, Callable[[Benchmark], str]] = {
    "summary": summary,
    "overview": overview,
    "languages": languages,
    "occ-eval": occ_eval,
    "all-pages": all_pages,
    "mentions": mentions,
    "speed": speed,
    "missing": missing,
    "provenance": provenance,
}


def ranked(result: Benchmark) -> list[Row]:
    """Return the tools by mean word F1 on the news groups, best first, those without it last."""
    rows = [row for row in result.rows if row.name != BARE_PARSE]
    return sorted(rows, key=lambda row: (-(news_mean(row, "word.f1") or -1.0), row.name))


def news_mean(row: Row, measure: str) -> float | None:
    """Return the mean over the groups of news pages, each counting alike; None without figures."""
    found = [row.scores[g][measure] for g in NEWS if measure in row.scores.get(g, {})]
    return sum(found) / len(found) if found else None


def _f_of_means(row: Row) -> float:
    scores = row.scores["daniel"]
    return harmonic_mean(scores["word.precision"], scores["word.recall"])


def _set_name(group: str) -> str:
    return {"daniel": "DANIEL", "wcxb articles": "WCXB", "fundus": "Fundus"}[group]


def _name(row: Row) -> str:
    mark = " ¹" if row.name.startswith(LEARNED) else ""
    return f"**{row.name}**{mark}" if row.package == "newscrawl" else row.name


def _score(row: Row, group: str, measure: str) -> str:
    value = row.scores.get(group, {}).get(measure)
    return "–" if value is None else f"{value:.3f}"


def _mean(row: Row, measure: str) -> str:
    value = news_mean(row, measure)
    return "–" if value is None else f"{value:.2f}"


def _times(row: Row) -> str:
    return f"{row.speed['ratio']:.1f}" if row.speed else "–"


def _markdown(heads: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> str:
    rule = "|".join("---" if i == 0 else "--:" for i in range(len(heads)))
    body = ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(heads) + " |", f"|{rule}|", *body])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
