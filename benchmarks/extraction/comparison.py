"""Compare all tools over the same pages, by text and speed.

`run` gets the texts of each tool (stored on disk by version and corpus), scores them by the rules
of training.evaluation, counts companies in them, measures speed, and returns a `Benchmark`, which
docs/data/benchmark.json contains and all tables show.
"""

import csv
import json
import math
import os
import platform
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import newscrawl
from benchmarks.extraction import peers, speed
from benchmarks.extraction.answers import Answer, AnswerStore, Runner, ToolError, source_version
from benchmarks.extraction.environments import Installed, Missing, find
from benchmarks.extraction.floors import MEASURES as FLOOR_MEASURES, MethodMean
from benchmarks.extraction.peers import Peer
from newscrawl.extraction.classifier import BALANCED
from newscrawl.mentions import Companies, load_companies
from newscrawl.training.corpus import Corpus, CorpusError, GoldPage
from newscrawl.training.evaluation import align_headlines, score_page
from newscrawl.training.metrics import Overlap

MEASURES = ("word", "shingle", "similarity", "phrases")
# Our method by networks that were trained without the sites of the pages, as on a user's pages. A
# row of its own, since the shipped network was trained on the corpus.
UNSEEN = "newscrawl, new sites"
SPEED = "speed"  # beside the sets, in the days of a row
SMALL_GROUP = 20  # pages; a mean over fewer doesn't represent a language
PACKAGE = Path(newscrawl.__file__).parent
OUR_VERSION = version("newscrawl")

Scores = dict[str, dict[str, float]]  # group of pages -> measure -> mean over its pages


@dataclass(frozen=True, kw_only=True)
class Row:
    """The figures of one tool. `reason` says why it could not be run, `days` on which day each set
    and "speed" were."""

    name: str
    package: str
    paper: str
    version: str | None = None
    reason: str | None = None
    pages: int = 0
    errors: int = 0
    scores: Scores = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)
    days: dict[str, str] = field(default_factory=dict)

    def completed_by(self, earlier: "Row", *, of_other_sets: bool) -> "Row":
        """Return the row with an earlier one's speed and, if they are of other sets, scores."""
        if self.reason:
            return earlier
        if not of_other_sets or earlier.reason or self.version != earlier.version:
            return self.with_speed_of(earlier)
        return replace(
            self,
            pages=self.pages + earlier.pages,
            errors=self.errors + earlier.errors,
            scores=dict(sorted((earlier.scores | self.scores).items())),
            days=earlier.days | self.days,
        ).with_speed_of(earlier)

    def with_speed_of(self, earlier: "Row") -> "Row":
        """Return the row with an earlier speed where it has none."""
        if self.speed or not earlier.speed:
            return self
        days = self.days | {SPEED: earlier.days[SPEED]}
        return replace(self, speed=earlier.speed, days=days)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """All rows of one run, and the corpus and machine of it."""

    corpus: str
    fingerprint: str
    sets: dict[str, str]  # fingerprint of each
    pages: dict[str, int]  # by group
    machine: str
    rows: tuple[Row, ...]

    def reached(self) -> Iterator[MethodMean]:
        """Yield the means of our methods that quality floors are kept for."""
        for row in self.rows:
            if row.name == UNSEEN or row.package != "newscrawl":
                continue
            method = row.name.removeprefix("newscrawl ")
            for group, measures in row.scores.items():
                for measure in FLOOR_MEASURES:
                    if measure in measures and " " not in group:
                        yield MethodMean(method, group, measure, measures[measure])

    def completed_by(self, earlier: "Benchmark") -> "Benchmark":
        """Return this result with what an earlier one has besides: tools, sets and speeds.

        An earlier result of other pages is ignored.

        Raises:
            CorpusError: some sets, but not all, of the earlier result were run again, so that the
                pages that failed can't be added.
        """
        again = self.sets.keys() & earlier.sets.keys()
        if any(self.sets[name] != earlier.sets[name] for name in again):
            return self
        if again and again != earlier.sets.keys():
            raise CorpusError(f"run all sets of {', '.join(earlier.sets)} again, or none of them")
        older = {row.name: row for row in earlier.rows}
        rows = [
            row.completed_by(older.pop(row.name), of_other_sets=not again)
            if row.name in older
            else row
            for row in self.rows
        ]
        timed = any(row.speed for row in self.rows)
        return replace(
            self,
            sets=dict(sorted((earlier.sets | self.sets).items())),
            pages=dict(sorted((earlier.pages | self.pages).items())),
            machine=self.machine if timed else earlier.machine,
            rows=(*rows, *older.values()),
        )

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", "utf-8")

    @classmethod
    def load(cls, path: Path) -> "Benchmark":
        """Return the result in a file; raise CorpusError if it is not one of the benchmark."""
        try:
            data = json.loads(path.read_text("utf-8"))
            return cls(**data | {"rows": tuple(Row(**row) for row in data["rows"])})
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise CorpusError(f"{path}: no benchmark result ({error}); run `make bench`") from error


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The tools to run, and how; `root` holds the tools' environments, `unseen` are the scores of
    the row UNSEEN."""

    tools: tuple[str, ...]
    root: Path
    store: AnswerStore
    workers: int
    unseen: Scores | None = None
    rounds: int = speed.ROUNDS
    on_answer: Callable[[str], None] = lambda _tool: None
    on_stage: Callable[[str, int], None] = lambda _stage, _steps: None


def run(corpus: Corpus, plan: Plan) -> Benchmark:
    """Run every tool of the plan over the corpus."""
    sets = {page.set for page in corpus}
    load_companies()  # read first, so that an error in the registry appears before the long work
    rows, runners = _look_up(plan)
    collected = _collect(corpus, runners, plan)
    files = {name: path for name, path in collected.items() if isinstance(path, Path)}
    scored = _score(corpus, files, plan)
    for name, missing in collected.items():
        if isinstance(missing, Missing):
            rows[name] = replace(rows[name], reason=missing.reason)
            runners = [runner for runner in runners if runner.peer.name != name]
    today = datetime.now(UTC).date().isoformat()
    for name, result in scored.items():
        rows[name] = replace(rows[name], **result, days=dict.fromkeys(sorted(sets), today))
    for name, measured in _speeds(corpus, runners, plan).items():
        days = rows[name].days | {SPEED: today}
        rows[name] = replace(rows[name], speed=asdict(measured), days=days)
    return Benchmark(
        corpus=corpus.name,
        fingerprint=corpus.fingerprint,
        sets={name: corpus.select(sets=[name]).fingerprint for name in sorted(sets)},
        pages={group: len(pages) for group, pages in groups(corpus).items()},
        machine=f"{_processor()}, Python {platform.python_version()}, load {speed.load()}",
        rows=(*_unseen_row(plan), *(rows[name] for name in plan.tools)),
    )


def _speeds(corpus: Corpus, runners: Sequence[Runner], plan: Plan) -> dict[str, speed.Speed]:
    if not plan.rounds:
        return {}
    plan.on_stage("speed", len(runners) * plan.rounds)
    pages, step = speed.sample(corpus), partial(plan.on_answer, "speed")
    return speed.measure(runners, pages, rounds=plan.rounds, on_round=step)


def _unseen_row(plan: Plan) -> Iterator[Row]:
    if plan.unseen:
        yield Row(
            name=UNSEEN, package="newscrawl", paper="", version=OUR_VERSION, scores=plan.unseen
        )


def read_unseen(path: Path) -> Scores:
    """Return the scores by group, at the threshold of the combined method, from the output of
    `python -m benchmarks.recipes network --folds N --format csv`.

    Raises:
        CorpusError: a file that is something else.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if float(row["threshold"]) == BALANCED]
        return {
            _group_of(row["group"]): {
                key: float(value) for key, value in row.items() if key in SCORES_BY_FOLDS
            }
            for row in rows
        }
    except (OSError, ValueError, KeyError) as error:
        raise CorpusError(
            f"{path}: no scores by folds ({error}); "
            "python -m benchmarks.recipes network --folds 5 --format csv prints them"
        ) from error


def _group_of(name: str) -> str:
    """Return our name for a group of the scores by folds."""
    return {"wcxb article": "wcxb articles"}.get(name, name.removesuffix(" article"))


SCORES_BY_FOLDS = ("word.f1", "word.precision", "word.recall", "shingle.f1", "similarity")


def _look_up(plan: Plan) -> tuple[dict[str, Row], list[Runner]]:
    rows, runners = {}, []
    for name in plan.tools:
        peer = peers.PEERS[name]
        row = Row(name=name, package=peer.package, paper=peer.paper)
        match find(peer, plan.root):
            case Missing(reason):
                rows[name] = replace(row, reason=reason)
            case Installed(python, version):
                rows[name] = replace(row, version=version)
                runners.append(Runner(peer, python, _store_version(peer, version)))
    return rows, runners


def _store_version(peer: Peer, version: str) -> str:
    """Return the version of a tool; that of our methods is a hash of their sources."""
    if peer.environment != peers.MAIN_ENV:
        return version
    sources = [path for path in (PACKAGE / "extraction").rglob("*") if path.suffix in CODE]
    return f"{version}+{source_version(sources)}"


CODE = frozenset({".py", ".json", ".toml", ".npz", ".txt", ".csv"})


def _collect(corpus: Corpus, runners: Sequence[Runner], plan: Plan) -> dict[str, Path | Missing]:
    """Return for every tool the file with its answers, or why it doesn't start."""
    answering = [runner for runner in runners if runner.peer.name != peers.BARE_PARSE]
    plan.on_stage("texts", len(answering) * len(corpus))

    def collect(runner: Runner) -> tuple[str, Path | Missing]:
        name = runner.peer.name
        path = plan.store.path(runner, corpus.fingerprint)
        try:
            for _ in plan.store.complete(runner, corpus, path):
                plan.on_answer(name)
        except ToolError as error:
            return name, Missing(str(error))
        return name, path

    with ThreadPoolExecutor(plan.workers) as pool:
        return dict(pool.map(collect, answering))


def _score(corpus: Corpus, files: Mapping[str, Path], plan: Plan) -> dict[str, dict[str, Any]]:
    plan.on_stage("scores", len(files))
    job = partial(_score_file, corpus)
    longest_first = sorted(files, key=lambda name: -files[name].stat().st_size)
    scored = {}
    with ProcessPoolExecutor(plan.workers, mp_context=get_context("spawn")) as pool:
        results = pool.map(job, (files[name] for name in longest_first))
        for name, result in zip(longest_first, results, strict=True):
            scored[name] = result
            plan.on_answer(name)
    return scored


def _score_file(corpus: Corpus, path: Path) -> dict[str, Any]:
    """Return the scores of the answers in a file; they are kept until answers or rules change."""
    rules = [
        Path(__file__),
        *(PACKAGE / "training" / f"{name}.py" for name in ("evaluation", "metrics")),
    ]
    rules += [file for file in (PACKAGE / "mentions").rglob("*") if file.suffix in CODE]
    key = source_version([path, *rules])
    score_file = path.with_suffix(".scores.json")
    if score_file.is_file() and (stored := json.loads(score_file.read_text("utf-8")))["key"] == key:
        return dict(stored["result"])
    result = score(corpus, AnswerStore(path.parent).load(path), load_companies())
    score_file.write_text(json.dumps({"key": key, "result": result}), "utf-8")
    return result


def score(
    corpus: Corpus, answers: Mapping[tuple[str, str], Answer], companies: Companies
) -> dict[str, Any]:
    """Return `pages`, `errors` and `scores` of one tool's answers (by set and id) to every page."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    counts: dict[tuple[str, str], tuple[dict[str, int], dict[str, int]]] = {}
    for page in corpus:
        key = page.set, page.id
        text, title = answers[key]["text"], answers[key].get("title")
        values[key] = score_page(page, text, title, MEASURES)
        if page.text is not None:
            texts = align_headlines(page, text, title)
            companies_found, gold = (
                Counter(mention.company for mention in companies.find(each, language=page.lang))
                for each in texts
            )
            counts[key] = companies_found, gold
    means = {}
    for group, pages in groups(corpus).items():
        keys = [(page.set, page.id) for page in pages]
        means[group] = _means([values[key] for key in keys])
        with_gold = [counts[key] for key in keys if key in counts]
        if with_gold:
            means[group] |= _mention_measures(with_gold)
    errors = sum(answer["error"] is not None for answer in answers.values())
    return {"pages": len(corpus), "errors": errors, "scores": means}


def _mention_measures(
    counts: Sequence[tuple[Mapping[str, int], Mapping[str, int]]],
) -> dict[str, float]:
    agreement = mention_agreement([ours for ours, _ in counts], [gold for _, gold in counts])
    return {
        "mentions.precision": agreement.pairs.precision,
        "mentions.recall": agreement.pairs.recall,
        "mentions.f1": agreement.pairs.f1,
        "mentions.count_ratio": agreement.count_ratio,
    }


@dataclass(frozen=True, slots=True)
class Agreement:
    """Companies found in extracted texts against those in gold texts, over many pages.

    `pairs` compares (page, company) pairs; `count_ratio` is all mentions found over all
    mentions in the gold (infinite where the gold has none and some were found).
    """

    pairs: Overlap
    count_ratio: float


def mention_agreement(
    extracted: Sequence[Mapping[str, int]], gold: Sequence[Mapping[str, int]]
) -> Agreement:
    """Compare counts of mentions by company; the two sequences hold the same pages in order."""
    if len(extracted) != len(gold):
        raise ValueError(f"{len(extracted)} pages found against {len(gold)} gold pages")
    ours = {(page, name) for page, counts in enumerate(extracted) for name in counts}
    theirs = {(page, name) for page, counts in enumerate(gold) for name in counts}
    totals = [sum(sum(counts.values()) for counts in side) for side in (extracted, gold)]
    pairs = Overlap.of(len(ours & theirs), len(ours), len(theirs))
    return Agreement(pairs, _ratio(*totals))


def _ratio(count: int, gold: int) -> float:
    if gold:
        return count / gold
    return math.inf if count else 1.0


def _means(values: Iterable[Mapping[str, float]]) -> dict[str, float]:
    table: dict[str, list[float]] = defaultdict(list)
    for page_values in values:
        for measure, value in page_values.items():
            table[measure].append(value)
    return {measure: sum(column) / len(column) for measure, column in table.items()}


def groups(corpus: Corpus) -> dict[str, list[GoldPage]]:
    """Return the pages by set, and also by a set's larger languages and kinds of pages.

    Pages whose gold text may be wrong are left out, as in training.
    """
    pages_by_group: dict[str, list[GoldPage]] = defaultdict(list)
    for page in corpus:
        if page.doubt is None:
            pages_by_group[page.set].append(page)
    for name, pages in list(pages_by_group.items()):
        by_language: dict[str, list[GoldPage]] = defaultdict(list)
        by_type: dict[str, list[GoldPage]] = defaultdict(list)
        for page in pages:
            by_language[f"{name} {page.lang}"].append(page)
            by_type[f"{name} {'articles' if page.page_type == 'article' else 'other'}"].append(page)
        for parts in (by_language, by_type):
            if len(parts) > 1:
                pages_by_group |= {k: part for k, part in parts.items() if len(part) >= SMALL_GROUP}
    return dict(sorted(pages_by_group.items()))


def _processor() -> str:
    """Return the name of the processor (on Linux)."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine()) + f", {os.cpu_count()} cores"
