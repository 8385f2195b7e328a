/**
 * Undoes simple obfuscations before the text is tokenized: look-alike letters, letters replaced by digits, spaced or
 * repeated letters, masked words, invisible characters. Must match training/moderation/deobfuscate.py exactly.
 */

import tables from "./obfuscations.json" with { type: "json" };

const HOMOGLYPHS: Readonly<Record<string, string>> = tables.homoglyphs;
const LEET: Readonly<Record<string, string>> = tables.leet;
const MASK = "[*#_.\\-]";
const MASKED = tables.masked.map((word) => {
  const [first = "", ...rest] = word;
  return { word, pattern: new RegExp(`^${first}${rest.map((letter) => `(?:${letter}|${MASK})`).join("")}$`) };
});
/** Attributes without white space: a longer one may hold text that a model reads. */
const ATTRIBUTES = `(?:\\s+[a-z-]+=(?:"[^"\\s<>]{0,40}"|'[^'\\s<>]{0,40}'|[^\\s"'<>]{1,40}))*\\s*/?`;
const INLINE_TAG = new RegExp(`</?(?:${tables.inlineTags.join("|")})${ATTRIBUTES}>`, "g");
const BLOCK_TAG = new RegExp(`</?(?:${tables.blockTags.join("|")})${ATTRIBUTES}>`, "g");
const EMPTY_COMMENT = /<!--\s*-->/g;
const ENTITIES: Readonly<Record<string, string>> = tables.entities;
const ENTITY = new RegExp(`&(?:#([0-9]{1,7})|#x([0-9a-f]{1,6})|(${Object.keys(ENTITIES).join("|")}));`, "gi");
const MASKED_INSIDE = new RegExp(`[a-z]${MASK}`);
const INVISIBLE = /\p{Cf}|\p{Variation_Selector}/gu;
const SPACED = /(?<![a-z0-9])[a-z](?:([ ._\-*/,~+\n]{1,2})[a-z])(?:\1[a-z])+(?![a-z0-9])/g;
// A digit stands for a letter only between letters, or before three of them: `mp3`, `3rd` and `2x4` stay.
const LEET_INSIDE = /(?<=[a-z])[0134578@$!|€]+(?=[a-z])|^[0134578@$€](?=[a-z]{3})|(?<=[a-z])\$+|^[@$](?=[a-z$])/g;
const REPEATED = /([a-z])\1{2,}/g;

export function deobfuscate(original: string): string {
  const text = withoutTags(plainCharacters(original).toLowerCase());
  const mostlyLatin = count(text, /[a-z]/g) >= count(text, /[^\0-\u024f]/gu, /\p{L}/u);
  return text
    .replace(/\S+/g, (token) => plain(token, mostlyLatin))
    .replace(SPACED, (letters) => letters.replace(/[^a-z]/g, ""));
}

/** Decodes entities, and removes what letters of any language hide behind: compatibility forms, invisible characters. */
export function plainCharacters(original: string): string {
  const decoded = original.includes("&") ? original.replace(ENTITY, decodedEntity) : original;
  return decoded.normalize("NFKC").replace(INVISIBLE, "");
}

function decodedEntity(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : entity;
}

/** Joins letters that inline tags divide, and separates the text of blocks. */
function withoutTags(text: string): string {
  if (!text.includes("<")) return text;
  return text.replace(EMPTY_COMMENT, "").replace(INLINE_TAG, "").replace(BLOCK_TAG, " ");
}

function count(text: string, pattern: RegExp, only?: RegExp): number {
  let replacements = 0;
  for (const [match] of text.matchAll(pattern)) if (only === undefined || only.test(match)) replacements += 1;
  return replacements;
}

function plain(token: string, mostlyLatin: boolean): string {
  let made = token;
  if (mostlyLatin || /[a-z]/.test(made)) made = Array.from(made, (letter) => HOMOGLYPHS[letter] ?? letter).join("");
  const isAddress = (made.includes("@") && (made.split("@").at(-1) ?? "").includes(".")) || made.includes("://");
  if (!isAddress) made = made.replace(LEET_INSIDE, (signs) => Array.from(signs, (sign) => LEET[sign] ?? sign).join(""));
  if (MASKED_INSIDE.test(made)) {
    const bare = made.replace(/^[^a-z]+|[^a-z]+$/g, "");
    const masked = MASKED.find(({ pattern }) => pattern.test(bare));
    if (masked !== undefined) made = made.replace(bare, () => masked.word);
  }
  return made.replace(REPEATED, (_run, letter: string) => letter.repeat("lso".includes(letter) ? 2 : 1));
}
