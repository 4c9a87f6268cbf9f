"""Train the models of `newscrawl train`, show their scores and write their files."""

import json
import shlex
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from newscrawl.cli.arguments import Format, InputError, companies_from, corpus_from
from newscrawl.cli.output import Column, progress, render, write_note

if TYPE_CHECKING:
    from newscrawl.cluster import Workers
    from newscrawl.training.corpus import Corpus, Split
    from newscrawl.training.examples import Example, ExampleScore
    from newscrawl.training.kinds import PageRejection
    from newscrawl.training.limits import LimitsFit, Plan, Vectors
    from newscrawl.training.network import ScoreComparison
    from newscrawl.training.pso import Generation
    from newscrawl.training.publisher_labels import PublisherPage
    from newscrawl.training.trees import TreesName

_SCORE_FOLDS = 5  # ours: parts of the sites, each scored by a model of the others
_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
_OF_KINDS = (0.5, 0.6, 0.7, 0.8, 0.9)  # probabilities of not being an article
_MEASURES = {
    "word.f1": "word F1",
    "word.precision": "precision",
    "word.recall": "recall",
    "shingle.f1": "4-gram F1",
    "similarity": "similarity",
}


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """The training pages of a corpus, whose sites are split as a whole; workers read their
    features."""

    corpus: "Corpus"
    pages: "Corpus"
    workers: "Workers"
    seed: int
    split_seed: int
    folds: int | None
    output: Path | None
    form: Format
    include_sealed: bool

    def split(self) -> "Split":
        from newscrawl.training.corpus import split_by_site

        return split_by_site(self.corpus, seed=self.split_seed).only(self.pages)

    def split_in_folds(self, count: int) -> "list[Split]":
        """Return the folds; the sealed sites, if included, are one more fold, to which no other
        network is fitted."""
        from newscrawl.training.corpus import DEVELOPMENT, SEALED, Split, folds_by_site

        folds = folds_by_site(self.corpus, k=count, seed=self.split_seed)
        if not self.include_sealed:
            return [split.only(self.pages) for split in folds]
        others = self.pages.part(DEVELOPMENT)
        return [*(split.only(others) for split in folds), Split(others, self.pages.part(SEALED))]


def train_mentions(
    corpus: Path | None, cases: Path | None, folds: int | None, output: Path | None, form: Format
) -> None:
    from newscrawl.cli.evaluate import show_calibration
    from newscrawl.training.mention_calibration import (
        SCORE_FILE,
        cross_validate,
        fit_score,
        judged_mentions,
        write_model,
    )
    from newscrawl.training.mention_score import LabelsError, read_labelled

    pages = corpus_from(corpus) if corpus else None
    try:
        own = read_labelled(cases) if cases else []
        judged = judged_mentions(companies_from(None), pages, own)
        calibration = cross_validate(judged, folds or _SCORE_FOLDS)
        model = fit_score(judged)
    except LabelsError as error:
        raise InputError(str(error)) from error
    show_calibration(calibration, form)
    if not folds:
        provenance = {
            "corpus": pages.name if pages else None,
            "fingerprint": pages.fingerprint if pages else None,
            "mentions": calibration.mentions,
            "wrong": calibration.wrong,
            "brier": round(calibration.brier, 5),
            "brier_of_the_plain_share": round(calibration.constant, 5),
            "command": _command(),
            "date": datetime.now(UTC).date().isoformat(),
        }
        write_model(model, output or SCORE_FILE, provenance)
        write_note(f"{output or SCORE_FILE} written")


def train_limits(task: TrainingTask, plan: "Plan", *, force: bool) -> None:
    from newscrawl.training.limits import (
        LIMITS_FILE,
        Origin,
        check_better,
        learn,
        read_limits,
        score_on,
        write_limits,
    )

    if task.folds:
        _cross_validate_limits(task, plan, task.folds)
        return
    split = task.split()
    vectors = _read_vectors(task, plan)
    with _swarm(plan, "swarm") as on_generation:
        fit = learn(split, vectors, plan, on_generation)
    _show_limits(fit, split, plan, task.form)
    path = task.output or LIMITS_FILE
    if not force:
        known = read_limits(path, plan.name)
        check_better(fit, None if known is None else score_on(split.test, vectors, known), path)
    whole = task.corpus
    origin = Origin(whole.name, whole.fingerprint, len(task.pages), task.seed, _command())
    write_limits(path, plan, fit, origin)
    write_note(f"{path}: limits of {plan.name} written")
    if fit.interrupted:
        raise typer.Exit(1)


def _read_vectors(task: TrainingTask, plan: "Plan") -> "Vectors":
    from newscrawl.training.limits import vectors_of

    start = time.perf_counter()
    with progress("features", len(task.pages)) as step:
        vectors = vectors_of(task.pages, plan, lambda: step(""), task.workers)
    write_note(f"features of {len(task.pages)} pages: {time.perf_counter() - start:.1f} s")
    return vectors


@contextmanager
def _swarm(plan: "Plan", name: str, swarms: int = 1) -> "Iterator[Callable[[Generation], None]]":
    """Show a bar with best and mean fitness; afterwards the time it took."""
    steps = swarms * plan.populations * (plan.settings.generations + 1)
    start = time.perf_counter()
    with progress(name, steps) as step:
        yield lambda now: step(f"best {now.best_so_far:.4f}, mean {now.mean:.4f}")
    seconds = time.perf_counter() - start
    write_note(f"{steps} generations of {plan.settings.particles} particles: {seconds:.1f} s")


def _show_limits(fit: "LimitsFit", split: "Split", plan: "Plan", form: Format) -> None:
    from newscrawl.extraction.features import NAMES, UPPER_LIMITS

    rows = [
        {"feature": name, "side": "at most" if name in UPPER_LIMITS else "at least", "limit": limit}
        for name, limit in zip(NAMES, fit.limits.tolist(), strict=True)
    ]
    columns = [
        Column(key="feature", heading="feature"),
        Column(key="side", heading="kept if"),
        Column(key="limit", heading="limit", number=True, show=_four),
    ]
    render(rows, columns, form, title=f"limits of {plan.name}")
    write_note(
        f"similarity {fit.train_score:.4f} on {len(split.train)} training pages, "
        f"{fit.test_score:.4f} on {len(split.test)} pages of other sites"
    )


def _cross_validate_limits(task: TrainingTask, plan: "Plan", folds: int) -> None:
    from newscrawl.training.limits import cross_validate

    splits = task.split_in_folds(folds)
    vectors = _read_vectors(task, plan)
    with _swarm(plan, f"{folds} folds", folds) as on_generation:
        scores = cross_validate(splits, vectors, plan, on_generation)
    groups = defaultdict(list)
    for score in scores:
        for group in (score.page.set, f"{score.page.set} {score.page.lang}", "all"):
            groups[group].append(score)
    rows = [
        {
            "group": group,
            "pages": len(members),
            "fe": sum(score.fe for score in members) / len(members),
            "pr": sum(score.pr for score in members) / len(members),
        }
        for group, members in sorted(groups.items())
    ]
    columns = [
        Column(key="group", heading="pages of"),
        Column(key="pages", heading="pages", number=True),
        Column(key="fe", heading="FE", number=True, show=_four),
        Column(key="pr", heading="PR", number=True, show=_four),
    ]
    render(rows, columns, task.form, title=f"similarity on unseen sites, {folds} folds by site")


def examples_from(pages: "Corpus", workers: "Workers | None" = None) -> "list[Example]":
    """Return the features and labels of all pages that have a gold text; show a bar meanwhile."""
    from newscrawl.training.examples import read_examples

    labelled = sum(bool(page.text) for page in pages)
    with progress("features", labelled) as step:
        return read_examples(pages, lambda: step(""), workers)


@contextmanager
def needing_torch() -> Iterator[None]:
    """Raise an InputError that says what to install where an import here finds no PyTorch."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(
            "training the network needs PyTorch: pip install 'newscrawl[network]'"
        ) from error


def train_network(task: TrainingTask, epochs: int | None) -> None:
    with needing_torch():
        from newscrawl.training import network

    settings = network.NetworkSettings(seed=task.seed)
    settings = replace(settings, epochs=epochs or settings.epochs)
    examples = examples_from(task.pages, task.workers)
    steps = settings.members * settings.epochs
    if task.folds:
        splits = task.split_in_folds(task.folds)
        with progress(f"{task.folds} folds", len(splits) * steps) as step:
            scored = network.cross_validate(
                examples, splits, settings, _THRESHOLDS, lambda now: step(f"loss {now.f1_loss:.4f}")
            )
        _show_unseen(scored, task.form, title=f"unseen sites, {task.folds} folds by site")
        return
    with progress("network", steps) as step:
        fitted = network.fit(examples, settings, lambda now: step(f"loss {now.f1_loss:.4f}"))
    folder = task.output or network.DATA_FOLDER
    provenance = _provenance(task, len(examples)) | {
        "members": settings.members,
        "epochs": settings.epochs,
    }
    network.write(fitted, folder, examples[0].block_features.names, provenance)
    write_note(f"{folder}/combined.npz and combined.json written")


@dataclass(frozen=True, slots=True)
class FurtherPlan:
    """How to train the network further on the pages of an archive."""

    archive: Path
    epochs: int | None
    seed: int
    split_seed: int
    folds: int | None
    output: Path | None
    force: bool


def train_from_archive(plan: FurtherPlan, form: Format) -> None:
    """Train the network further on labels that publishers state, and write it if it gets better."""
    with needing_torch():
        from newscrawl.training import network
    from newscrawl.training.corpus import folds_by_site, load_corpus, split_by_site

    settings = network.settings_of_archives(plan.seed, plan.epochs)
    ours = network.read()
    with TemporaryDirectory(prefix="newscrawl-labels-") as folder:
        labels = Path(folder) / (plan.archive.resolve().name or "archive")
        _write_labels(plan.archive, labels)
        corpus = load_corpus(labels)
        examples = examples_from(corpus)
        if plan.folds:
            splits = folds_by_site(corpus, k=plan.folds, seed=plan.split_seed)
        else:
            splits = [split_by_site(corpus, seed=plan.split_seed)]
        with progress("network", len(splits) * settings.members * settings.epochs) as step:
            compared = network.compare_further(
                ours, examples, splits, settings, lambda now: step(f"loss {now.f1_loss:.4f}")
            )
        _show_compared(compared, form)
        if plan.folds:
            return
        gain = compared.gain
        if gain <= 0 and not plan.force:
            raise InputError(
                f"{plan.archive}: nothing written, the network trained further scores "
                f"{-gain:.4f} less on {len(compared.before)} pages of sites it was not trained on; "
                "give --force to write it"
            )
        target = plan.output or network.DATA_FOLDER
        task = TrainingTask(corpus, corpus, 1, plan.seed, plan.split_seed, None, target, form, True)
        provenance = _provenance(task, len(splits[0].train)) | {
            "trained_further": ours.provenance,
            "labels": "articleBody of JSON-LD",
            "gain": round(gain, 4),
        }
        network.write(compared.fitted, target, examples[0].block_features.names, provenance)
    write_note(f"{target}/combined.npz and combined.json written, {gain:+.4f} word F1")


def _write_labels(archive: Path, folder: Path) -> None:
    """Write the labelled pages of an archive as a set, and report why others are left out."""
    from w3lib.encoding import http_content_type_encoding

    from newscrawl.archive import ArchiveError
    from newscrawl.archive.lookup import Archive
    from newscrawl.archive.warc import decoded_body, read_at
    from newscrawl.training import publisher_labels

    locations = Archive(archive).pages()
    reasons: Counter[str] = Counter()

    def labelled() -> "Iterator[PublisherPage]":
        with progress("pages", len(locations)) as step:
            for place in locations:
                try:
                    capture = read_at(place.path, place.offset)
                    charset = http_content_type_encoding(capture.header("content-type"))
                    yield publisher_labels.read_publisher_page(
                        decoded_body(capture), place.url, encoding=charset
                    )
                except ArchiveError:
                    reasons["damaged"] += 1
                except publisher_labels.UnusableError as error:
                    reasons[str(error)] += 1
                step("")

    written = publisher_labels.write_set(folder, labelled())
    reasons["same text as another page"] = len(locations) - written - reasons.total()
    left_out = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common() if count)
    write_note(f"{written} of {len(locations)} pages have a label; {left_out or 'none left out'}")
    if not written:
        raise InputError(
            f"{archive}: no page has a text in its JSON-LD (articleBody) that it also shows; "
            "label pages by hand with newscrawl label"
        )


def _show_compared(compared: "ScoreComparison", form: Format) -> None:
    rows = [
        {"network": name, "pages": len(scored)}
        | {key: sum(each.values[key] for each in scored) / len(scored) for key in _MEASURES}
        for name, scored in (("ours", compared.before), ("trained further", compared.after))
    ]
    columns = [
        Column(key="network", heading="network"),
        Column(key="pages", heading="pages", number=True),
        *(
            Column(key=key, heading=heading, number=True, show=_four)
            for key, heading in _MEASURES.items()
        ),
    ]
    render(rows, columns, form, title="sites not trained on, by the text of their JSON-LD")


def train_kinds(task: TrainingTask) -> None:
    from newscrawl.training import kinds

    with progress("features", len(task.pages)) as step:
        examples = kinds.read_kind_examples(task.pages.pages, lambda: step(""), task.workers)
    if task.folds:
        splits = task.split_in_folds(task.folds)
        rejected = kinds.cross_validate_kinds(examples, splits, _OF_KINDS)
        _show_rejected(rejected, task.form, title=f"unseen sites, {task.folds} folds by site")
        return
    model = kinds.fit_kinds(examples)
    path = task.output or kinds.MODEL_FILE
    kinds.write_kinds(model, path, _provenance(task, len(examples)))
    write_note(f"{path} written")


def _show_rejected(rejected: "Sequence[PageRejection]", form: Format, *, title: str) -> None:
    """Show how many of the pages that declare nothing are rejected, by probability and type."""
    counts: dict[tuple[float, str], list[bool]] = defaultdict(list)
    for each in rejected:
        page = each.page
        name = f"{page.set} {page.page_type}" if page.page_type == "article" else page.page_type
        counts[each.least, name].append(each.rejected)
    rows = [
        {"least": least, "type": name, "pages": len(values), "rejected": sum(values)}
        for (least, name), values in sorted(counts.items())
    ]
    columns = [
        Column(key="least", heading="rejected from", number=True),
        Column(key="type", heading="pages that declare nothing"),
        Column(key="pages", heading="pages", number=True),
        Column(key="rejected", heading="rejected", number=True),
    ]
    render(rows, columns, form, title=title)


def train_trees(task: TrainingTask, model: "TreesName") -> None:
    try:
        from newscrawl.training import trees
    except ModuleNotFoundError as error:
        if error.name not in {"sklearn", "lightgbm", "joblib"}:
            raise
        raise InputError(
            f"--model {model} needs {error.name}: pip install 'newscrawl[train]'"
        ) from error
    from newscrawl.training.examples import sides

    if task.folds:
        splits = task.split_in_folds(task.folds)
        examples = examples_from(task.pages, task.workers)
        with progress(f"{task.folds} folds", len(splits)) as step:
            scored = trees.cross_validate(examples, splits, model, task.seed, lambda: step(""))
        _show_unseen(scored, task.form, title=f"{model}: unseen sites, {task.folds} folds by site")
        return
    if task.output is None:
        raise InputError(f"--model {model} writes no file of ours: give -o FILE, or --folds 5")
    split = task.split()
    train, test = sides(examples_from(task.pages, task.workers), split)
    fitted = trees.fit_trees(train, model, task.seed)
    scored = trees.score_trees(test, fitted)
    _show_unseen(scored, task.form, title=f"{model}: {len(test)} pages of sites not trained on")
    task.output.parent.mkdir(parents=True, exist_ok=True)
    fitted.write(task.output)
    provenance = _provenance(task, len(train)) | {
        "model": model,
        "split_seed": task.split_seed,
        "evidence": [*train[0].block_features.names, "opener"],
    }
    beside = task.output.with_name(f"{task.output.name}.json")
    beside.write_text(json.dumps(provenance, indent=1) + "\n", encoding="utf-8")
    write_note(f"{task.output} written for comparison, and {beside.name} with where it comes from")


def _show_unseen(scored: "Sequence[ExampleScore]", form: Format, *, title: str) -> None:
    """Show means over pages by threshold and set; daniel by language too."""
    from newscrawl.training.examples import by_group

    rows = [
        {"threshold": threshold, "group": group, "pages": len(members)}
        | {key: sum(each.values[key] for each in members) / len(members) for key in _MEASURES}
        for (threshold, group), members in by_group(scored).items()
    ]
    columns = [
        Column(key="threshold", heading="kept from", number=True),
        Column(key="group", heading="pages of"),
        Column(key="pages", heading="pages", number=True),
        *(
            Column(key=key, heading=heading, number=True, show=_four)
            for key, heading in _MEASURES.items()
        ),
    ]
    render(rows, columns, form, title=title)


def _provenance(task: TrainingTask, pages: int) -> dict[str, Any]:
    """Return the provenance of a file, which is written next to it."""
    return {
        "corpus": task.corpus.name,
        "fingerprint": task.corpus.fingerprint,
        "pages": pages,
        "seed": task.seed,
        "command": _command(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _command() -> str:
    """Return how to run this again: the options as given, without the folders of paths."""
    words = (Path(word).name if "/" in word else word for word in sys.argv[1:])
    return shlex.join(["newscrawl", *words])


def _four(value: object) -> str:
    return f"{value:.4f}"
