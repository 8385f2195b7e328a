"""Reads the public sets that are clones of repositories: `DATA/repositories/NAME`, see README.md. A set that is absent is skipped."""

import csv
import gzip
import hashlib
import json
import re
from collections import defaultdict
from pathlib import Path

from labels import LEARNT, Example, labelled

HERE = Path(__file__).parent
# Letters of `read-prompts.json`; a category after `?` is doubtful, and `-` leaves the text out.
LETTERS = {"R": "harassment", "K": "harassment/threatening", "H": "hate", "T": "hate/threatening", "I": "illicit", "W": "illicit/violent",
           "S": "self-harm", "A": "self-harm/instructions", "N": "self-harm/intent", "X": "sexual", "V": "violence", "G": "violence/graphic"}


def fetched(repositories: Path) -> list[Example]:
    made = []
    for folder, read in (("edos", edos), ("toxic_spans", comments), ("hh-rlhf", prompts), ("cad", reddit)):
        if (repositories / folder).exists():
            made += read(repositories / folder)
    return made


# By vector of EDOS: categories that it is of, and doubtful ones. What is not sexist may still be harmful.
EDOS = {
    "1.1": (["hate", "hate/threatening", "violence"], ["harassment", "harassment/threatening", "sexual", "violence/graphic"]),
    "1.2": (["hate", "violence"], ["hate/threatening", "harassment", "harassment/threatening", "sexual", "violence/graphic"]),
    "2.1": (["hate"], ["harassment", "violence", "sexual"]),
    "2.2": (["hate"], ["harassment", "violence", "sexual"]),
    "2.3": (["hate"], ["harassment", "sexual", "violence"]),
    "4.2": (["hate"], ["harassment", "violence", "sexual"]),
}
EDOS_MOST = {"2.1": 350, "2.2": 350, "4.2": 150, "none": 1400}


def edos(folder: Path) -> list[Example]:
    """Posts of Reddit and Gab, by kind of sexism (CC0)."""
    rows = list(csv.DictReader((folder / "data" / "edos_labelled_aggregated.csv").open(encoding="utf-8")))
    rows.sort(key=lambda row: hashlib.sha1(row["text"].encode()).hexdigest())
    made, counts = [], defaultdict(int)
    for row in rows:
        kind = row["label_vector"][:3] if row["label_sexist"] == "sexist" else "none"
        counts[kind] += 1
        if row["split"] == "test" or counts[kind] > EDOS_MOST.get(kind, 10_000) or (kind != "none" and kind not in EDOS):
            continue
        text = re.sub(r"\[(USER|URL)\]", "", row["text"]).strip()
        if kind == "none":
            known = {"hate": 0.08, "hate/threatening": 0.0, "violence": 0.03, "self-harm": 0.0, "self-harm/intent": 0.0, "self-harm/instructions": 0.0, "violence/graphic": 0.0}
        else:
            known = labelled(*EDOS[kind])
        made.append(Example(text, known, "edos"))
    return made


COMMENTS_MOST = {"insult": 500, "other": 0}


def comments(folder: Path) -> list[Example]:
    """Comments of news sites, by the types of toxic spans that annotators marked (CC0)."""
    def rows(name: str) -> list[dict]:
        return list(csv.DictReader((folder / "data" / f"{name}.csv").open(encoding="utf-8")))

    types = defaultdict(set)
    for row in rows("spans"):
        types[row["annotation"]].add(row["type"])
    votes = defaultdict(list)
    for row in rows("annotations"):
        votes[row["comment_id"]].append((types[row["annotation"]], row["not toxic"] == "True"))
    made, counts = [], defaultdict(int)
    for row in sorted(rows("comments"), key=lambda row: hashlib.sha1(row["comment_text"].encode()).hexdigest()):
        marked = votes[row["comment_id"]]
        threat, identity, insult = (sum(name in of for of, _ in marked) / max(1, len(marked)) for name in ("Threat", "Identity based Attack", "Insult"))
        calm = bool(marked) and all(not of and harmless for of, harmless in marked)
        kind = "threat" if threat > 0.6 else "identity" if identity > 0.6 else "calm" if calm else "insult" if insult > 0.9 and threat == 0 and identity == 0 else "other"
        counts[kind] += 1
        if counts[kind] > COMMENTS_MOST.get(kind, 10_000):
            continue
        doubtful = ["harassment", "harassment/threatening", "hate", "hate/threatening", "violence", "violence/graphic", "illicit", "sexual"]
        if kind == "threat":
            known = labelled(["violence"], doubtful)
        elif kind == "identity":
            known = labelled([], doubtful) | {"hate": 0.75}
        elif kind == "calm":
            known = labelled([])
        else:
            # Disparagement of public figures, which is milder than what the category means.
            known = labelled([], ["harassment"]) | {"harassment": 0.55}
        made.append(Example(row["comment_text"].strip()[:600], known, "comments"))
    return made


REDDIT_MOST = {"neutral": 1500, "long neutral": 500}


def reddit(folder: Path) -> list[Example]:
    """Posts of Reddit, by what abuse is directed at (CC BY 4.0). Some labels depend on the posts before."""
    made, counts = [], defaultdict(int)
    lines = [line.split("\t") for name in ("train", "dev") for line in (folder / f"cad_v1_1_{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    for _, text, labels in sorted(lines, key=lambda line: hashlib.sha1(line[1].encode()).hexdigest()):
        text = re.sub(r"\s*\[linebreak\]\s*", " ", re.sub(r"\(https?://\S+\)|https?://\S+", "", text)).strip()
        if len(text) < 20:
            continue
        if labels == "Neutral":
            kind = "long neutral" if len(text) > 600 else "neutral"
            counts[kind] += 1
            if counts[kind] > REDDIT_MOST[kind]:
                continue
            known = {n: 0.04 if n in ("hate", "harassment", "violence", "sexual") else 0.0 for n in LEARNT if not n.startswith("self-harm")}
        elif "IdentityDirectedAbuse" in labels:
            known = labelled([], ["harassment", "hate/threatening", "harassment/threatening", "violence", "violence/graphic", "sexual", "illicit"]) | {"hate": 0.8}
        elif "PersonDirectedAbuse" in labels:
            known = labelled([], ["hate", "hate/threatening", "harassment/threatening", "violence", "violence/graphic", "sexual", "illicit"]) | {"harassment": 0.85}
        else:
            continue
        # A part from within a long one.
        start = int(hashlib.sha1(text.encode()).hexdigest()[:4], 16) % max(1, len(text) - 500)
        made.append(Example(text[:600] if start < 300 else text[start : start + 600], known, "reddit"))
    return made


def prompts(folder: Path, part: str = "training") -> list[Example]:
    """First messages of people to a model (MIT), some of which try to provoke it; read and labeled by the categories' definitions (`read-prompts.json`)."""
    read = json.loads((HERE / "read-prompts.json").read_text(encoding="utf-8"))[part]
    made, seen = [], set()
    with gzip.open(folder / "harmless-base" / "test.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["chosen"].split("\n\nHuman:")[1].split("\n\nAssistant:")[0].strip().replace("\n", " / ")
            name = hashlib.sha1(text.encode()).hexdigest()[:10]
            letters = read.get(name)
            if letters is None or name in seen or "-" in letters:
                continue
            seen.add(name)
            yes = [LETTERS[c] for i, c in enumerate(letters) if c in LETTERS and (i == 0 or letters[i - 1] != "?")]
            doubtful = [LETTERS[c] for i, c in enumerate(letters) if c in LETTERS and i > 0 and letters[i - 1] == "?"]
            made.append(Example(text, labelled(yes, doubtful), "prompts"))
    return made
