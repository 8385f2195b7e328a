/** Finds words and phrases of a list, in time that does not depend on its length. */

import AhoCorasick from "modern-ahocorasick";
import type { Match } from "./match.ts";
import { findInSpellings } from "./spellings.ts";

/** Finds `words` without regard to case, as words: "class" does not contain "ass". `isSubstring`: anywhere. */
export function wordFinder(words: readonly string[], isSubstring = false): (text: string) => Match[] {
  const forms = [...new Set(words.map((word) => word.trim().toLowerCase()))].filter((word) => word !== "");
  if (forms.length === 0) return () => [];
  const automaton = new AhoCorasick(forms, { boundary: isSubstring ? "none" : "unicode" });
  return findInSpellings((text) =>
    automaton
      .search(foldCase(text), { strategy: "leftmost-longest" })
      .map(({ start, end }) => ({ type: "WORD", start, end, score: 1 })),
  );
}

/** Lower case at the same offsets: some letters, such as İ, become two. */
function foldCase(text: string): string {
  const folded = text.toLowerCase();
  if (folded.length === text.length) return folded;
  return text.replace(/\p{Lu}/gu, (letter) => {
    const lower = letter.toLowerCase();
    return lower.length === letter.length ? lower : letter;
  });
}
