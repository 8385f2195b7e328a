"""Caches the output of the frozen lower layers for each text: an epoch then computes only the upper half."""

import hashlib
import pickle
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import encoder
from deobfuscate import deobfuscate

# About as when serving: longer texts are truncated here, and split into windows there.
LONGEST = 126
BUCKETS = [16, 24, 32, 48, 64, 80, 128]


def bucket(length: int) -> int:
    return next(b for b in BUCKETS if b >= length)


def hidden_states(texts: list[str], model: Path, keep: Path) -> list[np.ndarray]:
    """Returns [tokens, 384] in half precision for each text."""
    kept = pickle.loads(keep.read_bytes()) if keep.exists() else {}
    names = [hashlib.sha1(deobfuscate(t).encode()).hexdigest() for t in texts]
    todo = {n: t for n, t in zip(names, texts) if n not in kept}
    if todo:
        base = {k: jnp.asarray(v) for k, v in encoder.load_base(model).items()}
        tokenizer = encoder.load_tokenizer(model, LONGEST)
        run = jax.jit(encoder.lower)
        ids = {n: e.ids for n, e in zip(todo, tokenizer.encode_batch([deobfuscate(t) for t in todo.values()]))}
        order = sorted(ids, key=lambda n: len(ids[n]))
        size = 32
        while order:
            length = bucket(len(ids[order[0]]))
            batch = [n for n in order[:size] if len(ids[n]) <= length]
            order = order[len(batch):]
            padded, mask = np.zeros((size, length), np.int32), np.zeros((size, length), np.float32)
            for row, n in enumerate(batch):
                padded[row, : len(ids[n])] = ids[n]
                mask[row, : len(ids[n])] = 1
            mask[len(batch):, 0] = 1
            out = np.asarray(run(base, padded, mask)).astype(np.float16)
            for row, n in enumerate(batch):
                kept[n] = out[row, : len(ids[n])].copy()
        keep.write_bytes(pickle.dumps(kept))
    return [kept[n] for n in names]
