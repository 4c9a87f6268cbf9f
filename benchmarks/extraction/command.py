"""The command of the extraction benchmark: our methods and, on request, every other tool."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.documents import fill
from benchmarks.extraction import floors, speed
from benchmarks.extraction.answers import AnswerStore
from benchmarks.extraction.comparison import Benchmark, Plan, Row, read_unseen, run
from benchmarks.extraction.environments import install as install_peers
from benchmarks.extraction.peers import BARE_PARSE, MAIN_ENV, PEERS
from benchmarks.extraction.tables import KIND, TABLES, mentions_mean, ranked
from newscrawl.answers.names import match_one
from newscrawl.cli.arguments import Format, corpus_from
from newscrawl.cli.output import Column, render, write_note
from newscrawl.training.corpus import SEALED

RESULT = Path("results/benchmark.json")  # of the latest run, on this machine
PUBLISHED = Path("docs/data/benchmark.json")  # the one that the documents show
DOCUMENTS = (Path("README.md"), Path("docs/benchmark.md"))
ANSWERS = Path("results/benchmark")  # texts of tools, by version and corpus


@dataclass(frozen=True, slots=True)
class _RunOptions:
    """What to run, and on which pages.

    all_tools --peers: Every other tool too, not our methods alone.
    --tool NAME: Only this tool; may be repeated.
    --install: First install the peers, into .venv-bench*.
    --fresh: Run all tools again, and delete their earlier texts.
    --unseen FILE: Output of benchmarks.recipes network --folds 5 -f csv: unseen sites.
    --sealed: Only the sealed sites, to which nothing was fitted.
    --rounds: Rounds of the speed test; 0 for none.
    """

    corpus: Path | None = None
    sets: list[str] | None = None
    all_tools: bool = False
    tool: list[str] | None = None
    install: bool = False
    fresh: bool = False
    unseen: Path | None = None
    sealed: bool = False
    rounds: Annotated[int, typer.Option(min=0)] = speed.ROUNDS

    def plan(self) -> Plan:
        return Plan(
            tools=_choose_tools(self.tool or [], self.all_tools),
            root=Path.cwd(),
            store=AnswerStore(ANSWERS, fresh=self.fresh),
            workers=os.cpu_count() or 1,
            unseen=read_unseen(self.unseen) if self.unseen else None,
            rounds=self.rounds,
        )


def benchmark(
    *,
    options: _RunOptions,
    raise_floors: bool = False,
    write_docs: bool = False,
    form: Format = "table",
) -> None:
    """Score and time extraction on labelled pages, each tool in a process of its own.

    Scores are means over pages: word F1 (phrases: share of right decisions), companies
    counted against the gold text, CPU time against the bare lxml parse of the same pages.
    Exit code 1 if a method fell below its floor.

    --raise-floors: Raise the quality floors to the new scores.
    --write-docs: No run: fill the documents from the latest result, and from the published one of
        the same pages for tools, sets and speeds that it lacks.
    """
    if write_docs:
        _write_docs()
        return
    pages = corpus_from(options.corpus).select(sets=options.sets or ())
    if options.sealed:
        pages = pages.part(SEALED)
    if options.install:
        install_peers(Path.cwd(), write_note)
    with _progress(options.plan()) as shown:
        result = run(pages, shown)
    result.save(RESULT)
    groups = [group for group in result.pages if " " not in group]
    columns = [Column("tool")]
    columns += [Column(group, group[:6], show=_three, number=True) for group in groups]
    columns += [
        Column("mentions", "names", show=_three, number=True),
        Column("ratio", "×", show=_one, number=True),
        Column("pages_per_second", "/s", show=_whole, number=True),
        Column("milliseconds", "ms a page", show=_one, number=True, table=False),
        Column("errors", "failed", number=True, table=False),
        Column("version", table=False),
        Column("reason", "why not", table=False),
    ]
    note = "names: F1 of companies; ×: CPU time by that of a bare lxml parse; /s: pages a second"
    if bare := [row.speed["parse"] for row in result.rows if "parse" in row.speed]:
        ms = median(bare)
        note += f"; the bare parse: {ms:.1f} ms a page, {1000 / ms:.0f} a second"
    rows = [_line(row, groups) for row in ranked(result)]
    render(rows, columns, form, title=f"{result.corpus}: mean word F1 by set", note=note)
    for row in result.rows:
        if row.reason:
            write_note(f"{row.name}: {row.reason}")
    floors.check(result.reached(), result.fingerprint, "raise" if raise_floors else None)


def _choose_tools(tools: Sequence[str], all_tools: bool) -> tuple[str, ...]:
    if tools:
        known = tuple(PEERS)
        chosen_tools = {
            match_one(tool, known, "tool", "python -m benchmarks.extraction --help")
            for tool in tools
        }
        return tuple(name for name in known if name in chosen_tools)
    return tuple(
        name
        for name, peer in PEERS.items()
        if all_tools or peer.environment == MAIN_ENV or name == BARE_PARSE
    )


@contextmanager
def _progress(plan: Plan) -> Iterator[Plan]:
    """Yield the plan with a progress bar for each stage, on standard error."""
    columns = (TextColumn("{task.description:<7}"), BarColumn(), MofNCompleteColumn())
    more = (TimeElapsedColumn(), TextColumn("{task.fields[tool]}"))
    with Progress(*columns, *more, console=Console(stderr=True), transient=True) as bars:

        def stage(name: str, steps: int) -> None:
            bars.add_task(name, total=steps, tool="")

        def step(tool: str) -> None:
            bars.update(bars.task_ids[-1], advance=1, tool=tool)

        yield replace(plan, on_stage=stage, on_answer=step)


def _line(row: Row, groups: Sequence[str]) -> dict[str, object]:
    line: dict[str, object] = {"tool": row.name, "version": row.version, "reason": row.reason}
    for group in groups:
        scores = row.scores.get(group, {})
        line[group] = scores.get("word.f1", scores.get("phrases"))
    line["mentions"] = mentions_mean(row, "mentions.f1")
    line["errors"] = row.errors if row.pages else None
    return line | {key: row.speed.get(key) for key in ("ratio", "pages_per_second", "milliseconds")}


def _write_docs() -> None:
    if RESULT.is_file():
        latest = Benchmark.load(RESULT)
        if PUBLISHED.is_file():
            latest = latest.completed_by(Benchmark.load(PUBLISHED))
        latest.save(PUBLISHED)
    result = Benchmark.load(PUBLISHED)
    for document in DOCUMENTS:
        if document.is_file():
            names = fill(document, KIND, TABLES, result)
            write_note(f"{document}: {', '.join(names) or 'no place marked for a table'}")


def _three(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "–"


def _one(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else "–"


def _whole(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, float) else "–"
