"""Which examples are used, and on which side of the split each stands."""

import hashlib
import random
import re
from collections import defaultdict

from labels import Example
from undisguise import undisguise

DAVIDSON_MOST = {"hate": 900, "offensive": 700, "neither": 500}


def chosen(examples: list[Example]) -> list[Example]:
    """Thins out the tweets, so that one source does not decide what hate is, and drops near-duplicates."""
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
    """The same for texts that differ only in case, punctuation, numbers, and all after the twelfth word but the length."""
    words = re.findall(r"[a-z]+", undisguise(text))
    return " ".join(words[:12]) + (f" {len(words) // 8}" if len(words) > 12 else "")


def split(examples: list[Example], share: float = 0.25) -> tuple[list[Example], list[Example]]:
    """Training part and held-out part. Own texts stay whole: files named `*-held-out` are held out."""
    train, held = [], []
    for example in examples:
        if example.source.startswith("own-"):
            (held if example.source.endswith("held-out") else train).append(example)
        else:
            number = int(hashlib.sha1(b"split" + near_duplicate_key(example.text).encode()).hexdigest()[:8], 16)
            (held if number / 0xFFFFFFFF < share else train).append(example)
    random.Random(7).shuffle(train)
    return train, held
