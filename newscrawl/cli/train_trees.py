"""newscrawl train --model tree|boosted: trees over the evidence of blocks, for comparison."""

import json
import shlex
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.cli.arguments import Format, InputError
from newscrawl.cli.labelled import examples_from, progress
from newscrawl.cli.output import say
from newscrawl.cli.unseen import show_unseen

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.trees import TreesName


@dataclass(frozen=True, slots=True)
class TreesTask:
    """What to learn; the split's seed decides which sites are for testing."""

    model: "TreesName"
    seed: int
    split_seed: int
    output: Path | None


def train_trees(
    everything: "Corpus", pages: "Corpus", task: TreesTask, folds: int | None, form: Format
) -> None:
    """Learn trees from some pages of a corpus, whose sites are parted as a whole.

    Raises InputError where a library of the extra [train] or the file to write is missing.
    """
    try:
        from newscrawl.training import trees
    except ModuleNotFoundError as error:
        if error.name not in {"sklearn", "lightgbm", "joblib"}:
            raise
        raise InputError(
            f"--model {task.model} needs {error.name}: pip install 'newscrawl[train]'"
        ) from error
    from newscrawl.training.corpus import folds_by_site

    if folds:
        splits = [
            split.only(pages) for split in folds_by_site(everything, k=folds, seed=task.split_seed)
        ]
        examples = examples_from(pages)
        with progress(f"{folds} folds", folds) as step:
            scored = trees.cross_validate(examples, splits, task.model, task.seed, lambda: step(""))
        show_unseen(scored, form, title=f"{task.model}: unseen sites, {folds} folds by site")
        return
    if task.output is None:
        raise InputError(f"--model {task.model} writes no file of ours: give -o FILE, or --folds 5")
    _train(everything, pages, task, form)


def _train(everything: "Corpus", pages: "Corpus", task: TreesTask, form: Format) -> None:
    from newscrawl.training import trees
    from newscrawl.training.corpus import split_by_site
    from newscrawl.training.examples import sides

    split = split_by_site(everything, seed=task.split_seed).only(pages)
    train, test = sides(examples_from(pages), split)
    fitted = trees.fit_trees(train, task.model, task.seed)
    scored = trees.score_trees(test, fitted)
    show_unseen(scored, form, title=f"{task.model}: {len(test)} pages of sites not trained on")
    path = task.output or Path()
    origin: dict[str, Any] = {
        key: value for key, value in asdict(task).items() if key != "output"
    } | {
        "corpus": everything.name,
        "fingerprint": everything.fingerprint,
        "pages": len(train),
        "evidence": [*train[0].evidence.names, "opener"],
        "command": shlex.join(["newscrawl", *sys.argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    fitted.write(path)
    beside = path.with_name(f"{path.name}.json")
    beside.write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")
    say(f"{path} written for comparison, and {beside.name} with where it comes from")
