/**
 * Share of held-out texts that the default moderation model flags, unmodified and obfuscated.
 * `node bench/moderation-obfuscations.ts`
 */

import { readFileSync } from "node:fs";
import tables from "../src/engines/classifier/obfuscations.json" with { type: "json" };
import { openClassifier } from "./open-classifier.ts";

const until = new AbortController().signal;
const model = await openClassifier();

const reversed = (table: Readonly<Record<string, string>>) =>
  new Map(Object.entries(table).map(([sign, letter]) => [letter, sign]));
const homoglyphs = reversed(tables.homoglyphs);
const leet = new Map(["o0", "i1", "e3", "a4", "s5", "t7"].map(([letter = "", digit = ""]) => [letter, digit]));
const letters = (text: string, change: (letter: string, index: number) => string) =>
  Array.from(text, (letter, index) => change(letter, index)).join("");

/** Replaces every other letter that has a replacement. */
const OBFUSCATIONS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  homoglyphs: (text) =>
    letters(text, (letter, index) => (index % 2 === 0 ? (homoglyphs.get(letter) ?? letter) : letter)),
  leetspeak: (text) => letters(text, (letter, index) => (index % 2 === 0 ? (leet.get(letter) ?? letter) : letter)),
  "zero-width": (text) => letters(text, (letter) => `${letter}\u200b`),
  "full-width": (text) =>
    letters(text, (letter) => (/[a-z]/.test(letter) ? String.fromCodePoint(letter.charCodeAt(0) + 0xfee0) : letter)),
  spaced: (text) => text.replace(/\b[a-z]{4,6}\b/g, (word) => word.split("").join(" ")),
  repeated: (text) => text.replace(/[aeiou](?=[a-z])/g, (vowel) => vowel.repeat(4)),
  capitals: (text) => text.toUpperCase(),
};

const lines = (name: string) =>
  readFileSync(new URL(`../training/moderation/examples/${name}.txt`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));

for (const name of ["harmful-held-out", "look-alikes-held-out"]) {
  const texts = lines(name);
  for (const [obfuscation, apply] of Object.entries(OBFUSCATIONS)) {
    const verdicts = await model.moderate(
      texts.map((text) => ({ text: apply(text), images: [] })),
      until,
    );
    const flagged = verdicts.filter(({ flags }) => Object.values(flags).some(Boolean)).length;
    console.log(`${name}, ${obfuscation}: ${flagged} of ${texts.length} flagged`);
  }
}
await model.close();
