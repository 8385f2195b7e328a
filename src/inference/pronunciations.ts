/** How the words of a project are spoken: a text is read with what stands for them. */

import type { Caller } from "../contracts/caller.ts";

export interface PronunciationOptions {
  /** Undefined: texts are read as they are. */
  pronunciationsOf?: ((caller: Caller) => Pronunciations | undefined) | undefined;
}

export class Pronunciations {
  readonly #spoken: ReadonlyMap<string, string>;
  readonly #words: RegExp;

  /** `entries`: at least one; a text counts in any case, and only as whole words. */
  constructor(entries: readonly { text: string; spoken: string }[]) {
    this.#spoken = new Map(entries.map(({ text, spoken }) => [text.toLowerCase(), spoken]));
    // The longest first: "New York" before "New".
    const texts = [...this.#spoken.keys()].sort((one, other) => other.length - one.length).map(escapePattern);
    // Tags of SSML stay as they are.
    this.#words = new RegExp(`<[^<>]*>|(?<![\\p{L}\\p{M}\\p{N}])(?:${texts.join("|")})(?![\\p{L}\\p{M}\\p{N}])`, "giu");
  }

  apply(text: string): string {
    return text.replace(this.#words, (word) => this.#spoken.get(word.toLowerCase()) ?? word);
  }
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
