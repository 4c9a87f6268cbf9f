"""A fitted network becomes the data files that the extractor reads."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import newscrawl.extraction
from newscrawl.extraction.classifier import DILATIONS, NameVectors, Network, word_table
from newscrawl.extraction.features import VERSION
from newscrawl.training.network.fit import Fitted
from newscrawl.training.network.model import BlockNetwork

DATA_FOLDER = Path(newscrawl.extraction.__file__).parent / "data"
_LINEAR = ("own", "around", "mix", "page", "out_hidden", "out")
_TABLES = ("hint", "word", "tag", "opener")


def as_runtime(fitted: Fitted) -> Network:
    """The networks as the extractor runs them, with half-precision weights as they are stored."""
    each = [_weights(member) for member in fitted.members]
    weights = {"mean": each[0]["mean"], "scale": each[0]["scale"]}  # of the pages, so of all
    weights |= {name: np.concatenate([one[name] for one in each], axis=1) for name in _TABLES}
    layers = each[0].keys() - weights.keys()
    weights |= {name: np.stack([one[name] for one in each]) for name in sorted(layers)}
    halved = {
        name: np.ascontiguousarray(array, dtype=np.float16).astype(np.float32)
        for name, array in weights.items()
    }
    return Network(
        weights=halved,
        names=NameVectors(fitted.vocabulary.hints, halved["hint"]),
        words=word_table(fitted.vocabulary.words),
    )


def _weights(network: BlockNetwork) -> dict[str, NDArray[np.float32]]:
    """A network's weights by our names, those of a layer one row for each of its inputs."""
    state = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    weights = {"mean": state["mean"], "scale": 1 / state["deviation"]}
    weights |= {name: state[f"{name}.weight"] for name in _TABLES}
    for name in _LINEAR:
        weights[name] = state[f"{name}.weight"].T
        weights[f"{name}_bias"] = state[f"{name}.bias"][None]
    width = network.shape.width
    silent = {"weight": np.zeros((width, 3 * width)), "bias": np.zeros(width)}  # adds nothing
    for number in range(len(DILATIONS)):
        layer = {part: state.get(f"context.{number}.{part}", silent[part]) for part in silent}
        weights[f"context_{number}"] = layer["weight"].T
        weights[f"context_{number}_bias"] = layer["bias"][None]
    return weights


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
