"""Measures the alternatives to the served model: the same encoder without corrections, and a Jigsaw network."""

import io
import pickle
import random
from pathlib import Path

import h5py
import jax
import jax.numpy as jnp
import numpy as np

import encoder
from labels import LEARNT
from sources import wheel
from train import batches, packed, targets


def frozen_encoder(train, held, states, model: Path) -> np.ndarray:
    """Logistic head on the unmodified encoder."""
    base = {k: jnp.asarray(v) for k, v in encoder.load_base(model).items() if not k.startswith("embeddings") and int(k.split(".")[2]) >= encoder.FROZEN_LAYERS}
    run = jax.jit(lambda x, mask: encoder.pooled(base, {}, x, mask))
    features = np.zeros((len(states), encoder.WIDTH), np.float32)
    for length, indices, size in batches([len(s) for s in states], random.Random(0)):
        features[indices] = np.asarray(run(*packed(states, indices, length, size)))[: len(indices)]
    return logistic_head(features[: len(train)], train, features[len(train):])


def logistic_head(features, train, held_features, steps: int = 400) -> np.ndarray:
    y, w = targets(train)

    def loss(p):
        out = 12 * features @ p[0] + p[1]
        entropy = jnp.maximum(out, 0) - out * y + jnp.log1p(jnp.exp(-jnp.abs(out)))
        return (entropy * w).sum() / len(train) + 2e-4 * (p[0] ** 2).sum()

    grad = jax.jit(jax.grad(loss))
    p = (jnp.zeros((features.shape[1], len(LEARNT))), jnp.full(len(LEARNT), -3.0))
    m = v = jax.tree.map(jnp.zeros_like, p)
    for i in range(1, steps):
        g = grad(p)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        p = jax.tree.map(lambda q, a, b: q - 0.05 * (1 - i / steps) * (a / (1 - 0.9**i)) / (jnp.sqrt(b / (1 - 0.999**i)) + 1e-8), p, m, v)
    return np.asarray(jax.nn.sigmoid(12 * held_features @ p[0] + p[1]))


class _Bare(pickle.Unpickler):
    """Unpickles the word index without Keras, whose class the pickle refers to."""

    def find_class(self, module, name):
        if module == "collections":
            return super().find_class(module, name)
        return type(name, (), {})


def jigsaw_network(held, wheels: Path, longest: int = 100, words: int = 20_000) -> np.ndarray:
    """toxic-comment-classifier 0.3.0: a bidirectional LSTM trained on Jigsaw; its six classes mapped to our categories."""
    archive = wheel(wheels, "toxic_comment_classifier")
    index = _Bare(io.BytesIO(archive.read("toxic_classifier/model/tokenizer.pickle"))).load().word_index
    tensors = []
    with h5py.File(io.BytesIO(archive.read("toxic_classifier/model/model.weights.h5"))) as file:
        file.visititems(lambda name, item: tensors.append((name, np.array(item))) if isinstance(item, h5py.Dataset) else None)
    by_shape = dict(tensors)
    embedding = by_shape["layers/embedding/vars/0"]
    rows = np.zeros((len(held), longest), np.int64)
    for row, example in enumerate(held):
        split = "".join(" " if c in '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n' else c for c in example.text.lower()).split()
        ids = [index[w] for w in split if index.get(w, words) < words][-longest:]
        rows[row, longest - len(ids):] = ids
    x = embedding[rows]

    def lstm(path, x):
        kernel, recurrent, bias = (by_shape[f"{path}/{i}"] for i in range(3))
        h = c = np.zeros((len(x), 50))
        out = []
        for t in range(longest):
            i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
            c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
            out.append(h)
        return np.stack(out, 1)

    def dense(name, x):
        return x @ by_shape[f"layers/{name}/vars/0"] + by_shape[f"layers/{name}/vars/1"]

    cell = "layers/bidirectional/{}_layer/cell/vars"
    pooled = np.concatenate([lstm(cell.format("forward"), x), lstm(cell.format("backward"), x[:, ::-1])[:, ::-1]], -1).max(1)
    out = 1 / (1 + np.exp(-dense("dense_1", np.maximum(dense("dense", pooled), 0))))
    toxic, _severe, obscene, threat, insult, identity = out.T
    ours = {"harassment": np.maximum(insult, toxic), "harassment/threatening": threat, "hate": identity, "hate/threatening": np.minimum(identity, threat),
            "sexual": obscene, "violence": threat, "violence/graphic": threat}
    return np.stack([ours.get(name, np.zeros(len(held))) for name in LEARNT], 1)
