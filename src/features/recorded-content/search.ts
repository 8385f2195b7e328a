/** Full-text search: all words, and phrases in quotes. */

import { contains } from "../../kernel/contains.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { StoredContent } from "./sealed-content.ts";
import { normalize, textOf, wordsIn } from "./search-tokens.ts";

export interface Search {
  /** All of them are in the content. */
  words: readonly string[];
  /** Whether the words and phrases are in the content itself, of which the index has only hashes. */
  matches(content: Pick<StoredContent, "inputMessages" | "outputMessages">): boolean;
}

const MAX_WORDS = 32;

/** Throws a Fault for a search without words. */
export function parseSearch(text: string): Search {
  const phrases = [...text.matchAll(/"([^"]+)"/g)].map(([, phrase = ""]) => spaced(phrase));
  const words = [...wordsIn(text)].slice(0, MAX_WORDS);
  if (words.length === 0) {
    throw invalidRequest("Invalid value for 'query': it has no words to search for.", "query", "invalid_value");
  }
  return {
    words,
    matches: (stored) => {
      const content = textOf(stored);
      const contained = wordsIn(content);
      if (!words.every((word) => contained.has(word))) return false;
      const searched = phrases.length === 0 ? "" : spaced(content);
      return phrases.every((phrase) => contains(searched, phrase));
    },
  };
}

/** Normalized words between single spaces. */
function spaced(text: string): string {
  return normalize(text)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
