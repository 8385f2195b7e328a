"""Calibrates the scores and chooses the thresholds on held-out text."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from labels import LEARNT, Example
from unseen import LOOK_ALIKE_SOURCES

# Maximum share of the benign look-alikes of each kind that any category flags.
MOST_FALSE = 0.03
# Of those written for this project, which are the hardest.
MOST_FALSE_OWN = 0.05
LOWEST, HIGHEST = 0.5, 0.95


def calibrate(scored: np.ndarray, examples: list[Example]) -> dict[str, np.ndarray]:
    """Linear calibration of each logit with enough examples; the other scores are unchanged."""
    slope, offset = np.ones(len(LEARNT)), np.zeros(len(LEARNT))
    for column, name in enumerate(LEARNT):
        rows = [i for i, e in enumerate(examples) if name in e.known]
        truth = np.array([examples[i].known[name] > 0.5 for i in rows])
        if truth.sum() < 25:
            continue
        logit = to_logit(scored[rows, column])
        line = LogisticRegression(C=1.0).fit(logit[:, None], truth)
        # Never steeper than trained: the held-out part is small.
        slope[column] = float(np.clip(line.coef_[0, 0], 0.5, 1.0))
        offset[column] = float(np.clip(line.intercept_[0], -2, 1))
    return {"slope": slope, "offset": offset}


def apply(calibration: dict[str, np.ndarray], scored: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(to_logit(scored) * calibration["slope"] + calibration["offset"])))


def thresholds(scored: np.ndarray, examples: list[Example]) -> dict[str, float]:
    """Thresholds of the best F1 score, raised until few benign look-alikes are flagged by any category."""
    limits, hits = np.full(len(LEARNT), 0.5), []
    for column, name in enumerate(LEARNT):
        rows = [i for i, e in enumerate(examples) if name in e.known]
        truth = np.array([examples[i].known[name] > 0.5 for i in rows])
        hits.append(scored[rows, column][truth])
        if truth.sum() >= 10:
            tried = np.linspace(LOWEST, HIGHEST, 66)
            found = scored[rows, column][:, None] >= tried
            limits[column] = tried[np.argmax(2 * (found & truth[:, None]).sum(0) / (found.sum(0) + truth.sum()))]
    kinds = np.array([kind_of(e.source) if e.look_alike else "" for e in examples])
    for kind in ("own", *LOOK_ALIKE_SOURCES, "public"):
        alike, most_false = scored[kinds == kind], MOST_FALSE_OWN if kind == "own" else MOST_FALSE
        while (alike >= limits).any(1).sum() > most_false * len(alike):
            # Raising the thresholds that a flagged text exceeds unflags it; starts with the cheapest text.
            options = []
            for row in alike[(alike >= limits).any(1)]:
                raised = np.where(row >= limits, np.minimum(row + 0.005, 0.99), limits)
                lost = sum(((h >= old) & (h < new)).sum() / max(1, len(h)) for h, old, new in zip(hits, limits, raised))
                options.append((lost, tuple(raised)))
            limits = np.array(min(options)[1])
    made = {name: round(float(limit), 3) for name, limit in zip(LEARNT, limits)}
    made["sexual/minors"] = round(made["sexual"] * 0.8, 3)
    return made


def kind_of(source: str) -> str:
    return "own" if source.startswith("own-") else source if source in LOOK_ALIKE_SOURCES else "public"


def expected_error(scored: np.ndarray, examples: list[Example], name: str, bins: int = 10) -> float:
    """Expected calibration error over ten bins of equal width."""
    column = LEARNT.index(name)
    rows = [i for i, e in enumerate(examples) if name in e.known]
    truth, score = np.array([examples[i].known[name] > 0.5 for i in rows]), scored[rows, column]
    place = np.minimum((score * bins).astype(int), bins - 1)
    return float(sum(abs(score[place == b].mean() - truth[place == b].mean()) * (place == b).mean() for b in set(place)))


def to_logit(score: np.ndarray) -> np.ndarray:
    score = np.clip(score.astype(np.float64), 1e-6, 1 - 1e-6)
    return np.log(score / (1 - score))
