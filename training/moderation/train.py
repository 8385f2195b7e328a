"""Trains the corrections of the upper layers and the head; see README.md for the command that runs the complete pipeline."""

import random
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import encoder
from hidden_states import BUCKETS, bucket
from labels import LEARNT, Example
from deobfuscate import TABLES

BATCH_TOKENS = 1536
# Weight of an example by the prefix of its source's name; the first match counts.
WEIGHTS = {"edos": 0.7, "comments": 0.7, "reddit": 0.6, "prompts": 2.0, "davidson-disputed": 0.4, "davidson": 0.6, "own-templates": 0.7, "own-": 1.5, "": 1.0}


def targets(examples: list[Example]) -> tuple[np.ndarray, np.ndarray]:
    """[examples, categories] of labels, and of weights: 0 where unknown."""
    labels = np.array([[e.known.get(n, 0.0) for n in LEARNT] for e in examples], np.float32)
    known = np.array([[float(n in e.known) for n in LEARNT] for e in examples], np.float32)
    positive = (labels * known).sum(0)
    # Rare categories weigh more, within limits.
    lift = np.clip(np.sqrt(known.sum(0) / np.maximum(positive, 1) / 8), 1, 4)
    # Label smoothing.
    return 0.01 + 0.95 * labels, known * source_weights(examples)[:, None] * np.where(labels > 0.5, lift, 1.0)


def source_weights(examples: list[Example]) -> np.ndarray:
    return np.array([next(w for begin, w in WEIGHTS.items() if e.source.startswith(begin)) for e in examples], np.float32)


def varied(examples: list[Example], seed: int = 3) -> list[Example]:
    """Adds longer texts made of several, and obfuscated ones."""
    pick = random.Random(seed)
    harmful = [e for e in examples if any(v > 0.5 for v in e.known.values()) and len(e.text) < 500]
    benign = [e for e in examples if len(e.known) == len(LEARNT) and not any(e.known.values()) and len(e.text) < 400]
    made = list(examples)
    for _ in range(len(harmful) // 4):
        first = pick.choice(harmful)
        parts = [first, *pick.choices(benign, k=pick.randint(1, 2))]
        if pick.random() < 0.5:
            parts.append(pick.choice([e for e in pick.choices(harmful, k=40) if e.known.keys() == first.known.keys()] or [first]))
        pick.shuffle(parts)
        made.append(joined(parts, pick))
    for _ in range(len(benign) // 8):
        made.append(joined(pick.choices(benign, k=pick.randint(2, 3)), pick))
    # Talk about many groups or crimes in one text is benign if each sentence is.
    alike = [e for e in benign if e.look_alike and len(e.text) < 200]
    for _ in range(len(alike) // 3):
        made.append(joined(pick.choices(alike, k=pick.randint(3, 6)), pick))
    for e in pick.choices(harmful, k=len(harmful) // 8) + pick.choices(benign, k=len(benign) // 20):
        made.append(Example(disguised(e.text, pick), e.known, e.source))
    pick.shuffle(made)
    return made


def joined(parts: list[Example], pick: random.Random) -> Example:
    known = {}
    for name in LEARNT:
        values = [p.known.get(name) for p in parts]
        if any(v is not None and v > 0.5 for v in values):
            known[name] = 1.0
        elif all(v is not None for v in values):
            known[name] = 0.0
    return Example(pick.choice([" ", "\n", "\n\n"]).join(p.text for p in parts), known, parts[0].source)


def disguised(text: str, pick: random.Random) -> str:
    way = pick.randrange(4)
    if way == 0:
        back = {v: k for k, v in TABLES["leet"].items() if k in "013457@$!"}
        return "".join(back[c] if c in back and pick.random() < 0.4 else c for c in text)
    if way == 1:
        back = {}
        for k, v in TABLES["homoglyphs"].items():
            back.setdefault(v, k)
        return "".join(back[c] if c in back and pick.random() < 0.5 else c for c in text)
    if way == 2:
        words = text.split(" ")
        return " ".join(" ".join(w) if 3 < len(w) < 8 and pick.random() < 0.3 else w for w in words)
    return "".join(c * pick.randint(2, 4) if c.isalpha() and pick.random() < 0.05 else c for c in text)


def batches(lengths: list[int], pick: random.Random):
    groups = {b: [] for b in BUCKETS}
    for index, length in enumerate(lengths):
        groups[bucket(length)].append(index)
    made = []
    for length, members in groups.items():
        pick.shuffle(members)
        size = max(8, BATCH_TOKENS // length)
        made += [(length, members[i : i + size], size) for i in range(0, len(members), size)]
    pick.shuffle(made)
    return made


def packed(states, indices, length, size):
    x, mask = np.zeros((size, length, encoder.WIDTH), np.float32), np.zeros((size, length), np.float32)
    mask[:, 0] = 1
    for row, index in enumerate(indices):
        x[row, : len(states[index])] = states[index]
        mask[row, : len(states[index])] = 1
    return x, mask


def learn(examples, states, model: Path, start: dict, epochs: int = 1, seed: int = 1, rate: float = 8e-4):
    """`states`: input of `FIRST_LAYER`. `start`: corrections and head that the training begins with."""
    base = upper_weights(model)
    learnt = {k: jnp.asarray(v) for k, v in start.items() if k.startswith("head") or int(k.split(".")[0]) >= encoder.FIRST_LAYER}
    labels, weights = targets(examples)
    pick = random.Random(seed)
    plan = [b for _ in range(epochs) for b in batches([len(s) for s in states], pick)]

    def loss(learnt, x, mask, y, w, key):
        out = encoder.logits(base, learnt, x, mask, key)
        entropy = jnp.maximum(out, 0) - out * y + jnp.log1p(jnp.exp(-jnp.abs(out)))
        return (entropy * w).sum() / w.shape[0] / 4

    @jax.jit
    def step(learnt, m, v, x, mask, y, w, key, number, size):
        value, grads = jax.value_and_grad(loss)(learnt, x, mask, y, w, key)
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
        v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, grads)
        fair = jnp.sqrt(1 - 0.999**number) / (1 - 0.9**number)
        learnt = jax.tree.map(lambda p, a, b: p - size * fair * a / (jnp.sqrt(b) + 1e-8) - size * 0.01 * p, learnt, m, v)
        return learnt, m, v, value

    m = jax.tree.map(jnp.zeros_like, learnt)
    v = jax.tree.map(jnp.zeros_like, learnt)
    running = 0.0
    for number, (length, indices, size) in enumerate(plan, 1):
        x, mask = packed(states, indices, length, size)
        y, w = np.zeros((size, len(LEARNT)), np.float32), np.zeros((size, len(LEARNT)), np.float32)
        y[: len(indices)], w[: len(indices)] = labels[indices], weights[indices]
        speed = rate * min(1, number / 60) * max(0.03, 0.5 * (1 + np.cos(np.pi * number / len(plan))))
        learnt, m, v, value = step(learnt, m, v, x, mask, y, w, jax.random.key(seed * 100_000 + number), float(number), speed)
        running = float(value) if number == 1 else 0.98 * running + 0.02 * float(value)
        if number % 50 == 0:
            print(f"step {number}/{len(plan)} loss {running:.4f}", flush=True)
    return start | {k: np.asarray(v) for k, v in learnt.items()}


def upper_weights(model: Path) -> dict[str, jax.Array]:
    return {k: jnp.asarray(v) for k, v in encoder.load_base(model).items() if not k.startswith("embeddings") and int(k.split(".")[2]) >= encoder.FIRST_LAYER}


def scores(learnt, states, model: Path) -> np.ndarray:
    """[texts, categories], 0 to 1."""
    base = upper_weights(model)
    run = jax.jit(lambda x, mask: jax.nn.sigmoid(encoder.logits(base, learnt, x, mask)))
    out = np.zeros((len(states), learnt["head.bias"].shape[0]), np.float32)
    for length, indices, size in batches([len(s) for s in states], random.Random(0)):
        x, mask = packed(states, indices, length, size)
        out[indices] = np.asarray(run(x, mask))[: len(indices)]
    return out
