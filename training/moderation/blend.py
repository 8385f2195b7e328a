"""Merges two trainings by a weighted sum of their corrections and heads on the same base."""

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

import encoder
from labels import LEARNT

# Keeps the exported graph below a megabyte.
RANK = 13


def from_graph(path: Path) -> dict[str, np.ndarray]:
    """Corrections and head of a graph that `export.py` wrote. The head includes the calibration."""
    graph = onnx.load(path, load_external_data=False).graph
    constants = [numpy_helper.to_array(i) for i in graph.initializer if i.name.startswith("c")]
    factors = [c.astype(np.float32) for c in constants if c.dtype == np.float16]
    weight, bias = (c for c in constants if c.dtype == np.float32 and c.ndim > 0 and c.shape[-1] == len(LEARNT))
    layers = range(encoder.LAYERS - len(factors) // (2 * len(encoder.LINEAR)), encoder.LAYERS)
    names = [f"{layer}.{name}.{end}" for layer in layers for name in encoder.LINEAR for end in ("down", "up")]
    return dict(zip(names, factors, strict=True)) | {"head.weight": weight / encoder.SCALE, "head.bias": bias}


def blend(one: dict[str, np.ndarray], other: dict[str, np.ndarray], share: float = 0.5) -> dict[str, np.ndarray]:
    """Weights `one` by `share` and `other` by the rest. Truncates corrections of both to the `RANK` largest singular values."""
    made = {k: share * one[k] + (1 - share) * other[k] for k in ("head.weight", "head.bias")}
    for path in sorted({k.rsplit(".", 1)[0] for k in (*one, *other) if not k.startswith("head")}):
        parts = [part * p[f"{path}.down"] @ p[f"{path}.up"] for p, part in ((one, share), (other, 1 - share)) if f"{path}.down" in p]
        left, strength, right = np.linalg.svd(sum(parts), full_matrices=False)
        rank = min(RANK, int((strength > strength[0] * 1e-5).sum()))
        made[f"{path}.down"] = (left[:, :rank] * np.sqrt(strength[:rank])).astype(np.float32)
        made[f"{path}.up"] = (np.sqrt(strength[:rank])[:, None] * right[:rank]).astype(np.float32)
    return made
