"""Reverses simple obfuscations before tokenization. Must match src/engines/classifier/deobfuscate.ts exactly."""

import json
import re
import unicodedata
from pathlib import Path

TABLES = json.loads((Path(__file__).parents[2] / "src/engines/classifier/obfuscations.json").read_text(encoding="utf-8"))
HOMOGLYPHS, LEET = TABLES["homoglyphs"], TABLES["leet"]
MASK = "[*#_.\\-]"
MASKED = [(word, re.compile("^" + word[0] + "".join(f"(?:{c}|{MASK})" for c in word[1:]) + "$")) for word in TABLES["masked"]]
SPACED = re.compile(r"(?<![a-z0-9])[a-z](?:([ ._\-*/,~+\n]{1,2})[a-z])(?:\1[a-z])+(?![a-z0-9])")
REPEATED = re.compile(r"([a-z])\1{2,}")
ATTRIBUTES = r"""(?:\s+[a-z-]+=(?:"[^"\s<>]{0,40}"|'[^'\s<>]{0,40}'|[^\s"'<>]{1,40}))*\s*/?"""
INLINE_TAG, BLOCK_TAG = (re.compile(f"</?(?:{'|'.join(TABLES[name])}){ATTRIBUTES}>") for name in ("inlineTags", "blockTags"))
EMPTY_COMMENT = re.compile(r"<!--\s*-->")
ENTITY = re.compile(f"&(?:#([0-9]{{1,7}})|#x([0-9a-f]{{1,6}})|({'|'.join(TABLES['entities'])}));", re.I)
LATIN = re.compile(r"[a-z]")


def deobfuscate(text: str) -> str:
    text = unicodedata.normalize("NFKC", ENTITY.sub(decoded_entity, text))
    text = "".join(c for c in text if unicodedata.category(c) != "Cf" and not "\ufe00" <= c <= "\ufe0f").lower()
    text = BLOCK_TAG.sub(" ", INLINE_TAG.sub("", EMPTY_COMMENT.sub("", text)))
    latin = sum("a" <= c <= "z" for c in text)
    foreign = sum(c > "\u024f" and unicodedata.category(c)[0] == "L" for c in text)
    mostly_latin = latin >= foreign
    text = re.sub(r"\S+", lambda m: word(m.group(), mostly_latin), text)
    return SPACED.sub(lambda m: re.sub(r"[^a-z]", "", m.group()), text)


def decoded_entity(found: re.Match) -> str:
    decimal, hexadecimal, name = found.groups()
    if name:
        return TABLES["entities"][name.lower()]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else found.group()


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
