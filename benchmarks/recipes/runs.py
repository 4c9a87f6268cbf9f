"""Train the models of the recipes, show their scores and write their files."""

import json
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from w3lib.encoding import http_content_type_encoding

from benchmarks.recipes import kinds, mention_calibration, publisher_labels
from benchmarks.recipes.console import Column, Format, RecipeError, progress, show, write_note
from benchmarks.recipes.examples import Example, ExampleScore, by_group, read_examples, sides
from benchmarks.scores.mentions import read_labelled
from newscrawl import config
from newscrawl.archive import ArchiveError
from newscrawl.archive.lookup import Archive
from newscrawl.archive.warc import decoded_body, read_at
from newscrawl.mentions import load_companies
from newscrawl.training.corpus import (
    DEVELOPMENT,
    SEALED,
    Corpus,
    Split,
    folds_by_site,
    load_corpus,
    split_by_site,
)

if TYPE_CHECKING:
    from benchmarks.recipes.trees import TreesName

_SCORE_FOLDS = 5  # ours: parts of the sites, each scored by a model of the others
_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
_OF_KINDS = (0.5, 0.65, 0.75, 0.8, 0.85, 0.95)  # probabilities of not being an article
_MEASURES = (
    Column("word.f1", "word F1", ".4f"),
    Column("word.precision", "precision", ".4f"),
    Column("word.recall", "recall", ".4f"),
    Column("shingle.f1", "4-gram", ".4f"),
    Column("similarity", "similarity", ".4f"),
)
_BINS = (
    Column("group", "score"),
    Column("mentions", "mentions"),
    Column("score", "mean", ".3f"),
    Column("share", "right", ".3f"),
)
_SEALED = (
    Column("group", "language"),
    *_BINS[1:],
    Column("brier", "Brier", ".4f"),
    Column("area", "area", ".3f"),
    Column("first_tenth", "in the first tenth", ".3f"),
)


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How to fit and score a model, by which command, and where to write it."""

    command: str
    seed: int
    split_seed: int
    folds: int | None
    output: Path | None
    form: Format


@dataclass(frozen=True, slots=True)
class Task:
    """The training pages of a corpus, whose sites are split as a whole."""

    corpus: Corpus
    pages: Corpus
    include_sealed: bool
    fit: FitOptions

    def split(self) -> Split:
        """Return the pages of the sites to train on, and those of the others."""
        return split_by_site(self.corpus, seed=self.fit.split_seed).only(self.pages)

    def split_in_folds(self, count: int) -> list[Split]:
        """Return the folds; the sealed sites, if included, are one more fold, to which no other
        network is fitted."""
        folds = folds_by_site(self.corpus, k=count, seed=self.fit.split_seed)
        if not self.include_sealed:
            return [split.only(self.pages) for split in folds]
        development = self.pages.part(DEVELOPMENT)
        return [
            *(split.only(development) for split in folds),
            Split(development, self.pages.part(SEALED)),
        ]


def command_of(words: Sequence[str]) -> str:
    """Return how to run a recipe again: the options as given, without the folders of paths."""
    names = (Path(word).name if "/" in word else word for word in words)
    return f"python -m benchmarks.recipes {shlex.join(names)}"


def _provenance(fit: FitOptions, corpus: Corpus | None, **more: object) -> dict[str, Any]:
    """Return the provenance of a file, which is written next to it."""
    return {
        "corpus": corpus.name if corpus else None,
        "fingerprint": corpus.fingerprint if corpus else None,
        **more,
        "command": fit.command,
        "date": datetime.now(UTC).date().isoformat(),
    }


def examples_from(pages: Corpus) -> list[Example]:
    """Return the features and labels of all pages that have a gold text; show a bar meanwhile."""
    labelled = sum(bool(page.text) for page in pages)
    with progress("features", labelled) as step:
        return read_examples(pages, lambda: step(""))


# Mentions -----------------------------------------------------------------------------------------


def train_mentions(corpus: Corpus | None, cases: Path | None, fit: FitOptions) -> None:
    """Fit the score of a mention, and show how well scores of unseen sites fit."""
    case_texts = read_labelled(cases) if cases else []
    companies = load_companies(config.NEWSCRAWL_COMPANIES or None)
    judged = mention_calibration.judged_mentions(companies, corpus, case_texts)
    calibration = mention_calibration.cross_validate(judged, fit.folds or _SCORE_FOLDS)
    model = mention_calibration.fit_score(judged)
    _show_calibration(calibration, fit.form)
    if fit.folds:
        return
    path = fit.output or mention_calibration.SCORE_FILE
    provenance = _provenance(
        fit,
        corpus,
        mentions=calibration.mentions,
        wrong=calibration.wrong,
        brier=round(calibration.brier, 5),
        brier_of_the_plain_share=round(calibration.constant, 5),
    )
    mention_calibration.write_model(model, path, provenance)
    write_note(f"{path} written")


def score_sealed_mentions(corpus: Corpus, fit: FitOptions) -> None:
    """Show how well our scores fit the sealed texts, to which they were not fitted."""
    companies = load_companies(config.NEWSCRAWL_COMPANIES or None)
    by_language = mention_calibration.score_sealed(companies, corpus)
    if not by_language:
        raise RecipeError(f"{corpus.name}: holds none of the sealed texts with labelled mentions")
    _show_calibration(by_language["all"], fit.form)
    rows = [
        {
            "group": language,
            "mentions": each.mentions,
            "score": sum(one.score * one.mentions for one in each.bins) / each.mentions,
            "share": 1 - each.wrong / each.mentions,
            "brier": each.brier,
            "area": each.area,
            "first_tenth": each.first_tenth,
        }
        for language, each in by_language.items()
    ]
    show(rows, _SEALED, fit.form, title="sealed texts by language")


def _show_calibration(calibration: mention_calibration.Calibration, form: Format) -> None:
    rows = [
        {
            "group": f"{each.low:g} to {each.high:g}",
            "mentions": each.mentions,
            "score": round(each.score, 4),
            "share": round(each.share, 4),
        }
        for each in calibration.bins
    ]
    show(rows, _BINS, form, title="scores of mentions and the share that is right")
    write_note(
        f"scores of {calibration.mentions} mentions of unseen sites, {calibration.wrong} of them "
        f"wrong: Brier score {calibration.brier:.5f} ({calibration.constant:.5f} for the plain "
        f"share of right ones), area under the curve {calibration.area:.3f}; of the wrong ones "
        f"{calibration.first_tenth:.3f} are in the least sure tenth"
    )


# The network --------------------------------------------------------------------------------------


@contextmanager
def needing_torch() -> Iterator[None]:
    """Raise an RecipeError that says what to install where an import here finds no PyTorch."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise RecipeError("training the network needs PyTorch: pip install '.[network]'") from error


def train_network(task: Task, epochs: int | None) -> None:
    """Train the network of the combined method, or score it by folds."""
    with needing_torch():
        from benchmarks.recipes import network  # noqa: PLC0415
    fit = task.fit
    settings = network.NetworkSettings(seed=fit.seed)
    settings = replace(settings, epochs=epochs or settings.epochs)
    examples = examples_from(task.pages)
    steps = settings.members * settings.epochs
    if fit.folds:
        splits = task.split_in_folds(fit.folds)
        with progress(f"{fit.folds} folds", len(splits) * steps) as step:
            scored = network.cross_validate(
                examples, splits, settings, _THRESHOLDS, lambda now: step(f"loss {now.f1_loss:.4f}")
            )
        _show_unseen(scored, fit.form, title=f"unseen sites, {fit.folds} folds by site")
        return
    with progress("network", steps) as step:
        fitted = network.fit(examples, settings, lambda now: step(f"loss {now.f1_loss:.4f}"))
    folder = fit.output or network.DATA_FOLDER
    provenance = _provenance(fit, task.corpus, pages=len(examples), seed=fit.seed) | {
        "members": settings.members,
        "epochs": settings.epochs,
    }
    network.write(fitted, folder, examples[0].block_features.names, provenance)
    write_note(f"{folder}/combined.npz and combined.json written")


def calibrate_confidence(task: Task, epochs: int | None) -> None:
    """Fit the confidence of the combined method to the scores of pages of unseen sites."""
    with needing_torch():
        from benchmarks.recipes import confidence, network  # noqa: PLC0415
    fit = task.fit
    settings = network.NetworkSettings(seed=fit.seed)
    settings = replace(settings, epochs=epochs or settings.epochs)
    examples = examples_from(task.pages)
    splits = folds_by_site(task.pages, k=fit.folds or confidence.FOLDS, seed=fit.split_seed)
    with progress("folds", len(splits) * settings.members * settings.epochs) as step:
        pairs = confidence.expectations(
            examples, splits, settings, lambda now: step(f"loss {now.f1_loss:.4f}")
        )
    steps = confidence.fit_steps(pairs)
    rows = [{"expected": each.expected, "f1": each.f1} for each in steps]
    columns = [Column("expected", "expected", ".4f"), Column("f1", "word F1", ".4f")]
    show(rows, columns, fit.form, title=f"unseen sites, {len(splits)} folds by site")
    if fit.folds:
        return
    path = fit.output or confidence.CONFIDENCE_FILE
    provenance = _provenance(fit, task.corpus, pages=len(pairs), seed=fit.seed)
    confidence.write_steps(steps, path, provenance)
    write_note(f"{path} written")


def train_from_archive(archive: Path, epochs: int | None, fit: FitOptions, *, force: bool) -> None:
    """Train the network further on labels that publishers state, and write it if it gets better."""
    with needing_torch():
        from benchmarks.recipes import network  # noqa: PLC0415
    settings = network.settings_of_archives(fit.seed, epochs)
    ours = network.read()
    with TemporaryDirectory(prefix="newscrawl-labels-") as folder:
        labels = Path(folder) / (archive.resolve().name or "archive")
        _write_labels(archive, labels)
        corpus = load_corpus(labels)
        examples = examples_from(corpus)
        if fit.folds:
            splits = folds_by_site(corpus, k=fit.folds, seed=fit.split_seed)
        else:
            splits = [split_by_site(corpus, seed=fit.split_seed)]
        with progress("network", len(splits) * settings.members * settings.epochs) as step:
            compared = network.compare_further(
                ours, examples, splits, settings, lambda now: step(f"loss {now.f1_loss:.4f}")
            )
        rows = [
            {"network": name, **_means(scored)}
            for name, scored in (("ours", compared.before), ("trained further", compared.after))
        ]
        columns = [Column("network", "network"), Column("pages", "pages"), *_MEASURES]
        show(rows, columns, fit.form, title="sites not trained on, by the text of their JSON-LD")
        if fit.folds:
            return
        gain = compared.gain
        if gain <= 0 and not force:
            raise RecipeError(
                f"{archive}: nothing written, the network trained further scores {-gain:.4f} less "
                f"on {len(compared.before)} pages of sites it was not trained on; give --force to "
                "write it"
            )
        target = fit.output or network.DATA_FOLDER
        provenance = _provenance(fit, corpus, pages=len(splits[0].train), seed=fit.seed) | {
            "trained_further": ours.provenance,
            "labels": "articleBody of JSON-LD",
            "gain": round(gain, 4),
        }
        network.write(compared.fitted, target, examples[0].block_features.names, provenance)
    write_note(f"{target}/combined.npz and combined.json written, {gain:+.4f} word F1")


def _write_labels(archive: Path, folder: Path) -> None:
    """Write the labelled pages of an archive as a set, and report why others are left out."""
    locations = Archive(archive).pages()
    reasons: Counter[str] = Counter()

    def labelled() -> Iterator[publisher_labels.PublisherPage]:
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

    page_count = publisher_labels.write_set(folder, labelled())
    reasons["same text as another page"] = len(locations) - page_count - reasons.total()
    left_out = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common() if count)
    write_note(
        f"{page_count} of {len(locations)} pages have a label; {left_out or 'none left out'}"
    )
    if not page_count:
        raise RecipeError(
            f"{archive}: no page has a text in its JSON-LD (articleBody) that it also shows; "
            "label pages by hand with newscrawl label"
        )


def _means(scored: Sequence[ExampleScore]) -> Mapping[str, object]:
    keys = [column.key for column in _MEASURES]
    means = {key: sum(each.values[key] for each in scored) / len(scored) for key in keys}
    return {"pages": len(scored), **means}


def _show_unseen(scored: Sequence[ExampleScore], form: Format, *, title: str) -> None:
    """Show means over pages by threshold and set; daniel by language too."""
    rows = [
        {"threshold": threshold, "group": group, **_means(members)}
        for (threshold, group), members in by_group(scored).items()
    ]
    columns = [Column("threshold", "from"), Column("group", "pages of")]
    show(rows, [*columns, Column("pages", "pages"), *_MEASURES], form, title=title)


# Kinds of pages -----------------------------------------------------------------------------------


def train_kinds(task: Task) -> None:
    """Train the model of kinds, or count by folds what it rejects."""
    fit = task.fit
    with progress("features", len(task.pages)) as step:
        examples = kinds.read_kind_examples(task.pages.pages, lambda: step(""))
    if fit.folds:
        splits = task.split_in_folds(fit.folds)
        rejected = kinds.cross_validate_kinds(examples, splits, _OF_KINDS)
        # Show how many of the pages whose data hold no article are rejected, by probability and
        # type.
        title = f"unseen sites, {fit.folds} folds by site"
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
            Column("least", "rejected from"),
            Column("type", "pages without an article in their data"),
            Column("pages", "pages"),
            Column("rejected", "rejected"),
        ]
        show(rows, columns, fit.form, title=title)
        return
    model = kinds.fit_kinds(examples)
    path = fit.output or kinds.MODEL_FILE
    provenance = _provenance(fit, task.corpus, pages=len(examples), seed=fit.seed)
    kinds.write_kinds(model, path, provenance)
    write_note(f"{path} written")


# Trees --------------------------------------------------------------------------------------------


def train_trees(task: Task, model: "TreesName") -> None:
    """Train trees on 70 % of the sites, test them on the others and write them; or score them by
    folds."""
    try:
        from benchmarks.recipes import trees  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if error.name not in {"sklearn", "lightgbm", "joblib"}:
            raise
        raise RecipeError(f"{model} needs {error.name}: pip install '.[train]'") from error
    fit = task.fit
    if fit.folds:
        splits = task.split_in_folds(fit.folds)
        examples = examples_from(task.pages)
        with progress(f"{fit.folds} folds", len(splits)) as step:
            scored = trees.cross_validate(examples, splits, model, fit.seed, lambda: step(""))
        _show_unseen(scored, fit.form, title=f"{model}: unseen sites, {fit.folds} folds by site")
        return
    if fit.output is None:
        raise RecipeError(f"{model} writes no file of ours: give -o FILE, or --folds 5")
    split = task.split()
    train, test = sides(examples_from(task.pages), split)
    fitted = trees.fit_trees(train, model, fit.seed)
    scored = trees.score_trees(test, fitted)
    _show_unseen(scored, fit.form, title=f"{model}: {len(test)} pages of sites not trained on")
    fit.output.parent.mkdir(parents=True, exist_ok=True)
    fitted.write(fit.output)
    provenance = _provenance(fit, task.corpus, pages=len(train), seed=fit.seed) | {
        "model": model,
        "split_seed": fit.split_seed,
        "evidence": [*train[0].block_features.names, "opener"],
    }
    beside = fit.output.with_name(f"{fit.output.name}.json")
    beside.write_text(json.dumps(provenance, indent=1) + "\n", encoding="utf-8")
    write_note(f"{fit.output} written for comparison, and {beside.name} with where it comes from")
