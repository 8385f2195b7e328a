"""Reverses simple obfuscations before tokenization. Must match src/engines/classifier/deobfuscate.ts exactly."""

import json
import re
import unicodedata
from pathlib import Path

TABLES = json.loads((Path(__file__).parents[2] / "src/engines/classifier/obfuscations.json").read_text(encoding="utf-8"))
HOMOGLYPHS, LEET = TABLES["homoglyphs"], TABLES["leet"]
MASK = "[*#_.\\-]"
MASKED = [(word, re.compile("^" + word[0] + "".join(f"(?:{c}|{MASK})" for c in word[1:]) + "$")) for word in TABLES["masked"]]
SPACED = re.compile(r"(?<![a-z0-9])[a-z](?:([ ._\-*])[a-z])(?:\1[a-z])+(?![a-z0-9])")
REPEATED = re.compile(r"([a-z])\1{2,}")
LATIN = re.compile(r"[a-z]")


def deobfuscate(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf" and not "\ufe00" <= c <= "\ufe0f").lower()
    latin = sum("a" <= c <= "z" for c in text)
    foreign = sum(c > "\u024f" and unicodedata.category(c)[0] == "L" for c in text)
    mostly_latin = latin >= foreign
    text = re.sub(r"\S+", lambda m: word(m.group(), mostly_latin), text)
    return SPACED.sub(lambda m: re.sub(r"[^a-z]", "", m.group()), text)


def word(token: str, mostly_latin: bool) -> str:
    if mostly_latin or LATIN.search(token):
        token = "".join(HOMOGLYPHS.get(c, c) for c in token)
    if not ("@" in token and "." in token.split("@")[-1]) and "://" not in token:
        # A digit stands for a letter only between letters, or before three of them: `mp3`, `3rd`, `2x4` stay.
        token = re.sub(r"(?<=[a-z])[0134578@$!|€]+(?=[a-z])|^[0134578@$€](?=[a-z]{3})|(?<=[a-z])\$+|^[@$](?=[a-z$])",
                       lambda m: "".join(LEET[c] for c in m.group()), token)
    if re.search(r"[a-z]" + MASK, token):
        bare = re.sub(r"^[^a-z]+|[^a-z]+$", "", token)
        found = next((plain for plain, pattern in MASKED if pattern.match(bare)), None)
        if found:
            token = token.replace(bare, found)
    return REPEATED.sub(lambda m: m.group(1) * (2 if m.group(1) in "lso" else 1), token)
