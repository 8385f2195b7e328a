"""Trains the head for other languages than English on frozen layers of multilingual-e5-small: `foreign.py DATA WORK ENCODER [MULTILINGUAL_HATECHECK]`. See README.md."""

import base64
import csv
import hashlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from labels import LEARNT, Example
from look_alikes import look_alikes
from run import ASSETS, downloaded, prepared
from sources import HERE, examples_of

LAYERS = (4, 8, 12)
LONGEST = 400
# Share of the English texts by the prefix of their source's name; the first match counts.
SHARES = {"own-templates": 0.1, "davidson": 0.25, "own-written-hate-violence": 0.6, "own-written-self-harm-sexual": 0.6, "own-": 0.8, "": 0.45}
# Weight of a text in another language.
FOREIGN_WEIGHT = 6.0
STRENGTH = 10.0
# Directions in which the means of the languages differ, which the head ignores.
LANGUAGE_DIRECTIONS = 13
# Maximum share of the look-alikes that any category flags.
MOST_FALSE = 0.03


def foreign_examples() -> list[Example]:
    return [e for path in sorted((HERE / "examples" / "languages").glob("*.txt")) for e in examples_of(path)]


def sampled(examples: list[Example]) -> list[Example]:
    def place(text: str) -> float:
        return int(hashlib.sha1(b"foreign" + text.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF

    def share(source: str) -> float:
        return next(value for begin, value in SHARES.items() if source.startswith(begin))

    return [e for e in examples if len(e.text) < LONGEST and place(e.text) < share(e.source)]


class Features:
    """Features of texts, with a cache in the folder for intermediate results."""

    def __init__(self, encoder: Path, work: Path):
        self.encoder, self.work, self.cache = encoder, work, work / "foreign-features.pickle"
        self.stored: dict[str, np.ndarray] = pickle.loads(self.cache.read_bytes()) if self.cache.exists() else {}

    def of(self, texts: list[str]) -> np.ndarray:
        missing = sorted({t for t in texts if t not in self.stored}, key=len)
        source, target = self.work / "texts.json", self.work / "features.f32"
        # A run that is interrupted goes on with the next of these parts.
        for start in range(0, len(missing), 500):
            part = missing[start : start + 500]
            print(f"{len(missing) - start} texts to encode", flush=True)
            source.write_text(json.dumps(part))
            subprocess.run(["node", HERE / "embed.ts", self.encoder, source, target, *map(str, LAYERS)], check=True)
            self.stored |= dict(zip(part, np.fromfile(target, np.float32).reshape(len(part), -1)))
            self.cache.write_bytes(pickle.dumps(self.stored))
        return np.stack([self.stored[t] for t in texts])


def fit(examples: list[Example], x: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = x - (x @ directions.T) @ directions
    weight, bias = [], []
    for name in LEARNT:
        rows = [i for i, e in enumerate(examples) if name in e.known]
        truth = np.array([examples[i].known[name] > 0.5 for i in rows])
        shares = np.array([FOREIGN_WEIGHT if examples[i].source.startswith("own-foreign") else 1.0 for i in rows])
        lift = np.clip(np.sqrt((~truth).sum() / max(1, truth.sum()) / 3), 1, 4)
        model = LogisticRegression(C=STRENGTH, max_iter=300).fit(x[rows], truth, sample_weight=shares * np.where(truth, lift, 1.0))
        weight.append(model.coef_[0])
        bias.append(model.intercept_[0])
    weight = np.array(weight).T
    # The head ignores the directions, so that nothing has to remove them from a text's features.
    return weight - directions.T @ (directions @ weight), np.array(bias)


def language_directions(examples: list[Example], x: np.ndarray) -> np.ndarray:
    """Of the means of each language's harmful and harmless texts."""
    languages = sorted({e.source for e in examples})
    means = np.array([[x[[i for i, e in enumerate(examples) if e.source == s and e.look_alike == alike]].mean(0) for alike in (False, True)] for s in languages])
    return np.linalg.svd((means - means.mean(0)).mean(1), full_matrices=False)[2][:LANGUAGE_DIRECTIONS]


def harmful(examples: list[Example]) -> np.ndarray:
    return np.array([any(v > 0.5 for v in e.known.values()) for e in examples])


def thresholds(scored: np.ndarray, look_alike: np.ndarray) -> np.ndarray:
    """Log odds from which a category is flagged: raised until few look-alikes are."""
    limits, alike = np.zeros(scored.shape[1]), scored[look_alike].copy()
    while (alike > limits).any(1).mean() > MOST_FALSE:
        limits[(alike > limits).sum(0).argmax()] += 0.05
    return limits


def without_language(examples: list[Example], x: np.ndarray, foreign: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Scores of the foreign texts by heads that had no text of their language."""
    scored = np.zeros((len(examples), len(LEARNT)))
    languages = sorted({examples[i].source for i in np.flatnonzero(foreign)})
    for fold in range(4):
        out = np.array([e.source in languages[fold::4] for e in examples])
        weight, bias = fit([e for e, left in zip(examples, out) if not left], x[~out], directions)
        scored[out] = x[out] @ weight + bias
    return scored


def hatecheck(folder: Path, features: Features, weight: np.ndarray, bias: np.ndarray) -> None:
    """Multilingual HateCheck (CC BY 4.0), 130 cases of each language: it is in no part of the training."""
    columns = [LEARNT.index("hate"), LEARNT.index("hate/threatening")]
    for path in sorted(folder.glob("MHC Final Cases/hatecheck_cases_final_*.csv")):
        cases = sorted(csv.DictReader(path.open(encoding="utf-8")), key=lambda case: hashlib.sha1(case["test_case"].encode()).hexdigest())[:130]
        scored = (features.of([case["test_case"] for case in cases]) @ weight + bias)[:, columns].max(1)
        truth = np.array([case["label_gold"] == "hateful" for case in cases])
        print(f"{path.stem.rsplit('_', 1)[1]}: AUPRC {average_precision_score(truth, scored):.2f} (positives {truth.mean():.2f}), AUROC {roc_auc_score(truth, scored):.2f}")


def main(data: Path, work: Path, encoder: Path, hatecheck_folder: Path | None = None) -> None:
    features = Features(encoder, work)
    train, parts = prepared(data, downloaded(work))
    others = foreign_examples()
    examples = [*sampled(train), *others, *look_alikes()]
    x = features.of([e.text for e in examples])
    foreign = np.array([e.source.startswith("own-foreign") for e in examples])
    written = np.isin(np.arange(len(examples)), np.flatnonzero(foreign)[: len(others)])
    directions = language_directions(others, x[written])
    scored = without_language(examples, x, foreign, directions)
    validation = sampled(parts["validation"])
    weight, bias = fit(examples, x, directions)
    checked = features.of([e.text for e in validation]) @ weight + bias
    alike = np.array([e.look_alike for e in [*others, *look_alikes(), *validation]])
    limits = thresholds(np.concatenate([scored[foreign], checked]), alike)
    report(others, scored[written] - limits)
    if hatecheck_folder:
        hatecheck(hatecheck_folder, features, weight, bias)
    write(weight, bias - limits)


def report(others: list[Example], margins: np.ndarray) -> None:
    for source in sorted({e.source for e in others}):
        rows = [i for i, e in enumerate(others) if e.source == source]
        truth, highest = harmful([others[i] for i in rows]), margins[rows].max(1)
        print(f"{source}, a head without this language: AUPRC {average_precision_score(truth, highest):.2f}, harmful flagged {(highest[truth] > 0).sum()} of {truth.sum()}, look-alikes {(highest[~truth] > 0).sum()} of {(~truth).sum()}")


def write(weight: np.ndarray, bias: np.ndarray) -> None:
    # On the scale of the English network's outputs, so that its thresholds and the model of its windows hold.
    english = np.array([json.loads((ASSETS / "head.json").read_text())["thresholds"][name] for name in LEARNT])
    languages = sorted(path.stem for path in (HERE / "examples" / "languages").glob("*.txt"))
    head = {"languages": languages, "layers": LAYERS, "bias": [round(float(b), 4) for b in bias + np.log(english / (1 - english))],
            "weights": base64.b64encode(weight.astype("<f4").tobytes()).decode()}
    (ASSETS / "foreign-head.json").write_text(json.dumps(head, indent=2) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:5]))
