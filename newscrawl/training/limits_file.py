"""The file of learned limits, which extraction/features.py reads: written with care."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from newscrawl.extraction.features import NAMES, VERSION
from newscrawl.training.corpus import Corpus
from newscrawl.training.fit import LimitsFit, features_digest
from newscrawl.training.fitness import Floats
from newscrawl.training.learning import Plan

LIMITS_FILE = Path(__file__).parent.parent / "extraction" / "data" / "thresholds.json"


class LimitsError(Exception):
    """Limits that must not be written or can't be read; the message is one line."""


@dataclass(frozen=True)
class Origin:
    """Where limits come from: goes into the file beside them.

    `fingerprint` is that of the whole corpus, on which the split depends; `pages` were learned
    from or tested on.
    """

    corpus: str
    fingerprint: str
    pages: int
    seed: int
    command: str


def read_limits(path: Path, name: str) -> Floats | None:
    """The limits on file in the order of `features.NAMES`; None where there are none.

    Raises:
        LimitsError: a file that is not one of limits.
    """
    entry = _read(path).get(name)
    if entry is None:
        return None
    try:
        return np.array([entry["limits"][name] for name in NAMES], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise LimitsError(
            f"{path}: {name} lacks a limit ({error}); give --force to write it anew"
        ) from error


def check_corpus(path: Path, corpus: Corpus) -> None:
    """Raise a CorpusError where any limits on file were learned from other pages than these."""
    for name, entry in _read(path).items():
        learned = f"{path.name} ({name})"
        corpus.check_unchanged(str(entry["provenance"]["fingerprint"]), learned)


def check_better(fit: LimitsFit, known: float | None, path: Path) -> None:
    """Raise a LimitsError where the limits on file score better on the same test pages."""
    if known is not None and known > fit.test_score:
        raise LimitsError(
            f"{path}: kept, its limits score {known:.4f} on these test pages and the new ones "
            f"{fit.test_score:.4f}; give --force to overwrite them"
        )


def write_limits(path: Path, plan: Plan, fit: LimitsFit, origin: Origin) -> None:
    """Write the limits of the plan's name and leave all others; the file is replaced at once."""
    content = _read(path) if path.is_file() else {}
    content[plan.name] = {
        "limits": dict(zip(NAMES, fit.limits.tolist(), strict=True)),
        "provenance": {
            "feature_version": VERSION,
            "features_digest": features_digest(plan.profile),
            "corpus": origin.corpus,
            "fingerprint": origin.fingerprint,
            "pages": origin.pages,
            "seed": origin.seed,
            "train_score": fit.train_score,
            "test_score": fit.test_score,
            "command": origin.command,
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
        },
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise LimitsError(f"{path}: not JSON ({error}); move it away or mend it") from error
    if not isinstance(content, dict):
        raise LimitsError(f"{path}: not a file of limits; name another one with --output")
    return content
