"""Selects examples and assigns them to the parts of the split."""

import hashlib
import random
import re
from collections import defaultdict

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from labels import Example
from deobfuscate import deobfuscate

DAVIDSON_MOST = {"hate": 1400, "offensive": 1300, "neither": 700}


def chosen(examples: list[Example]) -> list[Example]:
    """Subsamples the tweets, lest one source dominate hate, and drops near-duplicates."""
    seen, made = set(), []
    tweets = defaultdict(int)
    order = sorted(examples, key=lambda e: hashlib.sha1(e.text.encode()).hexdigest())
    for example in order:
        key = near_duplicate_key(example.text)
        if not key or key in seen:
            continue
        if example.source.startswith("davidson"):
            kind = "hate" if example.known.get("hate") else "neither" if "harassment" in example.known else "offensive"
            if tweets[kind] >= DAVIDSON_MOST[kind]:
                continue
            tweets[kind] += 1
        seen.add(key)
        made.append(example)
    return made


def near_duplicate_key(text: str) -> str:
    """Key that ignores case, punctuation, numbers, and everything after the twelfth word except the length."""
    words = re.findall(r"[a-z]+", deobfuscate(text))
    return " ".join(words[:12]) + (f" {len(words) // 8}" if len(words) > 12 else "")


def split(examples: list[Example], test: float = 0.25, validation: float = 0.1) -> tuple[list[Example], list[Example], list[Example]]:
    """Training, validation and test part. Of own texts, files named `*-held-out` and a tenth of `written-*` are for validation."""
    train, choose, held = [], [], []
    for example in examples:
        number = int(hashlib.sha1(b"split" + near_duplicate_key(example.text).encode()).hexdigest()[:8], 16) / 0xFFFFFFFF
        if example.source.startswith("cut-"):
            train.append(example)
        elif example.source.startswith("own-"):
            tuning = example.source.endswith("held-out") or (example.source.startswith("own-written") and number < validation)
            (choose if tuning else train).append(example)
        else:
            (held if number < test else choose if number < test + validation else train).append(example)
    random.Random(7).shuffle(train)
    return train, choose, held


def without_copies(train: list[Example], others: list[Example], most: float = 0.6) -> list[Example]:
    """Texts that share at most this part of their character 5-grams with any text of `others`."""
    count = CountVectorizer(analyzer="char_wb", ngram_range=(5, 5), binary=True, preprocessor=deobfuscate, dtype=np.float32)
    grams = count.fit_transform([e.text for e in [*train, *others]])
    sizes = np.asarray(grams.sum(1)).ravel()
    seen, kept = grams[len(train):].T.tocsc(), []
    for start in range(0, len(train), 500):
        end = min(start + 500, len(train))
        shared = (grams[start:end] @ seen).toarray()
        union = sizes[start:end, None] + sizes[None, len(train):] - shared
        kept += [e for e, copy in zip(train[start:end], (shared / np.maximum(union, 1)).max(1) > most) if not copy]
    return kept
