"""Scores texts as the service does: windows, their combination and thresholds of `head.json`. sexual/minors is left out."""

import json
from pathlib import Path

import numpy as np
import onnxruntime

import encoder
from deobfuscate import deobfuscate
from labels import LEARNT

# As in src/engines/classifier/windows.ts.
WINDOW, OVERLAP = 126, 24
BATCH_TOKENS = 1024


class ServedHead:
    def __init__(self, model: Path, head: Path):
        """`head`: a `head.onnx` with `head.json` beside it."""
        # The graph refers to the weights beside it.
        graph = model / f"measured-{head.parent.name}.onnx"
        graph.write_bytes(head.read_bytes())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        graph.unlink()
        self.tokenizer = encoder.load_tokenizer(model, WINDOW)
        self.tokenizer.no_truncation()
        description = json.loads(head.with_name("head.json").read_text())
        self.offsets = logit(np.array([description["thresholds"][name] for name in LEARNT]))
        self.windows = description.get("windows")

    def window_scores(self, texts: list[str]) -> list[np.ndarray]:
        """[windows, categories] of each text."""
        cut = [(place, [101, *window, 102]) for place, text in enumerate(texts) for window in self.cut(text)]
        order = sorted(range(len(cut)), key=lambda i: len(cut[i][1]))
        out = np.zeros((len(cut), len(LEARNT)), np.float32)
        while order:
            size = max(1, BATCH_TOKENS // len(cut[order[0]][1]))
            batch, order = order[:size], order[size:]
            longest = len(cut[batch[-1]][1])
            ids = [cut[i][1] for i in batch]
            padded = np.array([w + [0] * (longest - len(w)) for w in ids], np.int64)
            mask = np.array([[1] * len(w) + [0] * (longest - len(w)) for w in ids], np.int64)
            out[batch] = self.session.run(["scores"], {"ids": padded, "mask": mask})[0]
        owners = np.array([place for place, _ in cut])
        ends = np.searchsorted(owners, np.arange(len(texts) + 1))
        return [out[start:end] for start, end in zip(ends, ends[1:])]

    def cut(self, text: str) -> list[list[int]]:
        ids = self.tokenizer.encode(deobfuscate(text), add_special_tokens=False).ids
        return [ids[at : at + WINDOW] for at in range(0, max(1, len(ids) - OVERLAP), WINDOW - OVERLAP)]

    def scores(self, texts: list[str]) -> np.ndarray:
        """[texts, categories], where 0.5 is every threshold."""
        return np.stack([self.pooled(windows) for windows in self.window_scores(texts)])

    def pooled(self, windows: np.ndarray) -> np.ndarray:
        odds = logit(windows)
        alike = odds.mean(0) - self.offsets
        if len(windows) > 1 and self.windows:
            w = self.windows
            pair = np.log(((np.exp(odds[1:]) + np.exp(odds[:-1])) / 2).max(0))
            apart = w["pair"] * pair + w["mean"] * odds.mean(0) + w["count"] * np.log(len(windows)) - np.array([w["offsets"][n] for n in LEARNT])
            alike = np.maximum(alike, apart)
        return 1 / (1 + np.exp(-alike))


def logit(scores: np.ndarray) -> np.ndarray:
    bounded = np.clip(scores.astype(np.float64), 1e-6, 1 - 1e-6)
    return np.log(bounded / (1 - bounded))
