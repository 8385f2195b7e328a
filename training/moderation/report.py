"""Metrics by source and category."""

import numpy as np
from sklearn.metrics import average_precision_score

from labels import LEARNT


def report(scored: np.ndarray, examples, log=print) -> None:
    public = np.array([not e.source.startswith("own-") for e in examples])
    for title, rows in [("public", public), ("public without disputed tweets", public & np.array([e.source != "davidson-disputed" for e in examples])), ("own", ~public)] + [(s, np.array([e.source == s for e in examples])) for s in sorted({e.source for e in examples})]:
        line = []
        for column, name in enumerate(LEARNT):
            known = rows & np.array([name in e.known for e in examples])
            truth = np.array([e.known.get(name, 0) > 0.5 for e in examples])
            if truth[known].sum() >= 5 and (~truth[known]).sum() >= 5:
                line.append(f"{name} {average_precision_score(truth[known], scored[known, column]):.3f} ({truth[known].sum()}/{known.sum()})")
        if line:
            log(title, "|", ", ".join(line))
    for title, rows in [("public look-alikes", public), ("own look-alikes", ~public)]:
        worst = scored[rows & np.array([e.look_alike for e in examples])].max(1) if rows.any() else np.zeros(0)
        log(title, len(worst), {f">{t}": f"{(worst > t).mean():.3f}" for t in (0.3, 0.5, 0.7, 0.9)} if len(worst) else "")
