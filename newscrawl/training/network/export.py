"""A fitted network becomes the data files that the extractor reads."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import newscrawl.extraction
from newscrawl.extraction.features import VERSION
from newscrawl.extraction.network import DILATIONS, NameVectors, Network, word_table
from newscrawl.training.network.fit import Fitted

DATA_FOLDER = Path(newscrawl.extraction.__file__).parent / "data"
_LINEAR = ("own", "around", "mix", "page", "out_hidden", "out")
_TABLES = ("hint", "word", "tag", "opener")


def as_runtime(fitted: Fitted) -> Network:
    """The same network as the extractor runs it, with half-precision weights as they are stored."""
    state = {name: tensor.numpy() for name, tensor in fitted.network.state_dict().items()}
    weights = {"mean": state["mean"], "scale": 1 / state["deviation"]}
    weights |= {name: state[f"{name}.weight"] for name in _TABLES}
    for name in _LINEAR:
        weights[name] = state[f"{name}.weight"].T
        weights[f"{name}_bias"] = state[f"{name}.bias"]
    width = fitted.network.shape.width
    silent = {"weight": np.zeros((width, 3 * width)), "bias": np.zeros(width)}  # adds nothing
    for number in range(len(DILATIONS)):
        layer = {part: state.get(f"context.{number}.{part}", silent[part]) for part in silent}
        weights[f"context_{number}"] = layer["weight"].T
        weights[f"context_{number}_bias"] = layer["bias"]
    halved = {
        name: np.ascontiguousarray(array, dtype=np.float16).astype(np.float32)
        for name, array in weights.items()
    }
    return Network(
        weights=halved,
        names=NameVectors(fitted.vocabulary.hints, halved["hint"]),
        words=word_table(fitted.vocabulary.words),
    )


def write(
    fitted: Fitted, folder: Path, names: Sequence[str], provenance: dict[str, object]
) -> None:
    """Write `combined.npz` and `combined.json` into a folder; `names` are those of the evidence."""
    network = as_runtime(fitted)
    arrays = {name: array.astype(np.float16) for name, array in network.weights.items()}
    np.savez_compressed(folder / "combined.npz", allow_pickle=False, **arrays)
    about = {
        "provenance": provenance | {"feature_version": VERSION},
        "evidence": list(names),
        "hints": list(fitted.vocabulary.hints),
        "words": list(fitted.vocabulary.words),
    }
    text = json.dumps(about, ensure_ascii=False, indent=0)
    (folder / "combined.json").write_text(text + "\n", encoding="utf-8")
