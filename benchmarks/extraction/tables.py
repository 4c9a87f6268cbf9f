"""Markdown tables from a benchmark's result, which `--write-docs` writes into the documents."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from benchmarks.extraction.comparison import SPEED, UNSEEN, Benchmark, Row
from benchmarks.extraction.peers import BARE_PARSE
from newscrawl.training.metrics import harmonic_mean

# The sets with full gold texts and the groups of articles in them, by their names in the tables.
ARTICLES = {
    "atf": "atf", "daniel": "daniel", "dragnet": "dragnet", "fundeval": "fundeval",
    "fundus": "fundus", "fundusold": "fundusold", "htt": "htt", "irdata": "irdata", "l3s": "l3s",
    "ldjson": "ldjson", "postlight": "postlight", "wcxb": "wcxb articles", "zhcontent": "zhcontent",
}  # fmt: skip
# Means over the pages of several groups.
KINDS = {
    "recent news": ("atf", "fundeval", "fundus", "fundusold"),
    "news of 2008–12": ("daniel", "l3s"),
    "business news": ("irdata",),
    "blogs": ("dragnet",),
    "other articles": ("wcxb articles",),
    "all": tuple(ARTICLES.values()),
}
COMPARED = ("daniel", "wcxb articles", "fundus")  # groups compared by further measures
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
    "rs-trafilatura",
    BARE_PARSE,
)
KIND = "benchmark"  # of the marks in the documents


def summary(result: Benchmark) -> str:
    """Return the README's table: word F1 by kind of page, mentions and speed of the tools in
    SUMMARY."""
    rows = {row.name: row for row in result.rows}
    lines = []
    for row in (rows[name] for name in SUMMARY if name in rows):
        cells = [_of_kind(result, row, kind, "word.f1") for kind in KINDS]
        lines.append((_name(row), *cells, _mean(row, "mentions.f1"), _times(row)))
    return _markdown(("Tool", *KINDS, "mentions", "× parse"), lines)


def overview(result: Benchmark) -> str:
    """Return word F1 by set, phrases and speed of all tools.

    The last row is the bare parse, which extracts no text, as the lower bound of time.
    """
    lines = []
    floor = [row for row in result.rows if row.name == BARE_PARSE]
    for row in (*ranked(result), *floor):
        cells = [_of_kind(result, row, "all", "word.f1")]
        cells += [_score(row, group, "word.f1") for group in ARTICLES.values()]
        lines.append((_name(row), *cells, _score(row, PHRASES, "phrases"), _times(row)))
    table = _markdown(("Tool", "all", *ARTICLES, "phrases", "× parse"), lines)
    return f"{table}\n\n{FOOTNOTE}"


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
    heads = ("Tool", "other pages F1", *(f"4-gram {_set_name(group)}" for group in COMPARED))
    heads += tuple(f"similarity {_set_name(group)}" for group in COMPARED)
    lines = []
    for row in ranked(result):
        cells = [_score(row, "wcxb other", "word.f1")]
        cells += [_score(row, group, "shingle.f1") for group in COMPARED]
        cells += [_score(row, group, "similarity") for group in COMPARED]
        lines.append((_name(row), *cells))
    return _markdown(heads, lines)


def mentions(result: Benchmark) -> str:
    """Return companies counted in each tool's text against those in the gold text."""
    measures = ("precision", "recall", "f1", "count_ratio")
    heads = ["Tool"]
    for group in COMPARED:
        heads += [f"{_set_name(group)} {m}" for m in ("P", "R", "F1", "count")]
    lines = [
        (_name(row), *(_score(row, group, f"mentions.{m}") for group in COMPARED for m in measures))
        for row in ranked(result)
        if row.name != UNSEEN
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
    """Return the tools that could not be run, with the reason, and the sets that others were not
    run over."""
    lines = []
    for row in result.rows:
        left_out = [name for name in result.sets if name not in row.days]
        if row.reason:
            lines.append((row.name, row.paper or "–", row.reason))
        elif left_out and row.name not in (UNSEEN, BARE_PARSE):
            lines.append((row.name, row.paper or "–", f"not run over {', '.join(left_out)}"))
    if not lines:
        return "Every tool could be run."
    return _markdown(("Tool", "in the paper", "why figures are missing"), lines)


def provenance(result: Benchmark) -> str:
    """Return on which machine and pages the result was made, and on which days."""
    pages = ", ".join(f"{name} {result.pages[name]}" for name in result.sets)
    days: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for part in (*result.sets, SPEED):
        of_part = {row.days[part] for row in result.rows if part in row.days}
        days[tuple(sorted(of_part))].append(part)
    days_text = "; ".join(
        f"{', '.join(parts)} on {', '.join(on)}" for on, parts in days.items() if on
    )
    return (
        f"Made on {result.machine}; corpus `{result.corpus}` ({pages} pages; without those whose"
        f" gold text may be wrong). Run: {days_text}."
    )


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
    """Return the tools by mean word F1 on all articles, best first, those without it last."""
    rows = [row for row in result.rows if row.name != BARE_PARSE]
    return sorted(
        rows, key=lambda row: (-(kind_mean(result, row, "all", "word.f1") or -1.0), row.name)
    )


def kind_mean(result: Benchmark, row: Row, kind: str, measure: str) -> float | None:
    """Return the mean over the pages of a kind, of the sets that were run; None without figures."""
    groups = [group for group in KINDS[kind] if group in result.pages]
    if not groups or any(measure not in row.scores.get(group, {}) for group in groups):
        return None
    total = sum(row.scores[group][measure] * result.pages[group] for group in groups)
    return total / sum(result.pages[group] for group in groups)


def mentions_mean(row: Row, measure: str) -> float | None:
    """Return the mean over the groups of COMPARED, each counting alike; None without figures."""
    values = [row.scores[g][measure] for g in COMPARED if measure in row.scores.get(g, {})]
    return sum(values) / len(values) if values else None


def _f_of_means(row: Row) -> float:
    scores = row.scores["daniel"]
    return harmonic_mean(scores["word.precision"], scores["word.recall"])


def _set_name(group: str) -> str:
    return group.removesuffix(" articles")


def _name(row: Row) -> str:
    mark = " ¹" if row.name.startswith(LEARNED) else ""
    return f"**{row.name}**{mark}" if row.package == "newscrawl" else row.name


def _score(row: Row, group: str, measure: str) -> str:
    value = row.scores.get(group, {}).get(measure)
    return "–" if value is None else f"{value:.3f}"


def _of_kind(result: Benchmark, row: Row, kind: str, measure: str) -> str:
    value = kind_mean(result, row, kind, measure)
    return "–" if value is None else f"{value:.3f}"


def _mean(row: Row, measure: str) -> str:
    value = mentions_mean(row, measure)
    return "–" if value is None else f"{value:.2f}"


def _times(row: Row) -> str:
    return f"{row.speed['ratio']:.1f}" if row.speed else "–"


def _markdown(heads: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> str:
    rule = "|".join("---" if i == 0 else "--:" for i in range(len(heads)))
    body = [
        "| "
        + " | ".join(
            cell.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") for cell in line
        )
        + " |"
        for line in lines
    ]
    return "\n".join(["| " + " | ".join(heads) + " |", f"|{rule}|", *body])
