/** Converts sentences of alphabetic languages to phonemes: words by rules, punctuation as Kokoro reads it. */

import type { Phonemizer } from "./phonemizer.ts";

export interface Pronunciation {
  /** Writes numbers, symbols and abbreviations as words. */
  normalize(sentence: string): string;
  /** Returns phonemes of a word, with ˈ before the stressed vowel. Both are in lower case; `next` ends at punctuation. */
  pronounce(word: string, next?: string): string;
  /** Names of letters, in the language's spelling. */
  letterNames: Readonly<Record<string, string>>;
  /** Applies the changes between words to the phonemes of a sentence. */
  joinWords?(phonemes: string): string;
}

const TOKEN = /\p{L}[\p{L}\p{M}]*(?:['’-]\p{L}[\p{L}\p{M}]*)*['’]?|[^\s\p{L}]/gu;
const MARKS: Readonly<Record<string, string>> = {
  ";": ";",
  ":": ":",
  ",": ",",
  ".": ".",
  "!": "!",
  "?": "?",
  "—": "—",
  "–": "—",
  "…": "…",
  "(": "(",
  ")": ")",
  "“": "“",
  "”": "”",
  "«": "“",
  "»": "”",
  "।": ".",
};
/** Clusters that begin a syllable in Romance languages; initials with others are spelled. */
const ONSET = /^[bcdfgpt][lr]/;

/** Opens a phonemizer that pronounces word by word. */
export function wordPhonemizer(language: Pronunciation): Phonemizer {
  return {
    normalize: language.normalize,
    phonemize(sentence) {
      const text = language.normalize(sentence);
      let phonemes = "";
      for (const { 0: token, index } of text.matchAll(TOKEN)) {
        const next =
          /^ (\p{L}[\p{L}\p{M}]*)/u.exec(text.slice(index + token.length, index + token.length + 30))?.[1] ?? "";
        const sound = /^\p{L}/u.test(token) ? soundOf(token, next.toLowerCase(), language) : (MARKS[token] ?? "");
        phonemes += /\s/.test(text[index - 1] ?? "") ? ` ${sound}` : sound;
      }
      const spaced = phonemes.replaceAll(/ {2,}| (?=[;:,.!?])/g, (space) => (space === " " ? "" : " ")).trim();
      const joined = language.joinWords?.(spaced) ?? spaced;
      return /\p{L}/u.test(joined) ? joined : "";
    },
  };
}

function soundOf(token: string, next: string, language: Pronunciation): string {
  const letters = token.replaceAll(/[^\p{L}\p{M}]/gu, "");
  if (isSpelled(letters)) {
    return [...letters.toLowerCase()]
      .map((letter) => language.letterNames[letter] ?? letter)
      .map((name) =>
        name
          .split(" ")
          .map((word) => language.pronounce(word))
          .join(" "),
      )
      .join(" ");
  }
  return token
    .replaceAll("’", "'")
    .toLowerCase()
    .split("-")
    .map((part, at, parts) => language.pronounce(part, parts[at + 1] ?? next))
    .join(" ");
}

/** Whether initials cannot be read as a word: BBC, DNI, IBM. */
function isSpelled(letters: string): boolean {
  if (!/^[\p{Lu}\p{M}]+$/u.test(letters)) return false;
  if (letters.length === 1) return !/[aeiouyàáâãäçèéêëìíîïñòóôõöùúûü]/i.test(letters);
  if (letters.length > 5) return false;
  const plain = letters.normalize("NFD").toLowerCase();
  if (!/[aeiou]/.test(plain)) return true;
  return /[^aeiouns][^aeiou\p{M}]$/u.test(plain) || (/^[^aeiou]{2}/.test(plain) && !ONSET.test(plain));
}
