/** Placeholders of one request: `<EMAIL_ADDRESS_1>` for each different value, and back. */

import type { Match } from "./match.ts";

/** Names like those of placeholders, in texts that were not masked. */
const NAME = /(?<![A-Z0-9_])[A-Z][A-Z_]{1,40}_\d{1,7}(?![A-Z0-9_])/g;
/** A placeholder as models repeat it: also escaped in JSON, HTML and Markdown, or without its brackets. */
const REPEATED =
  /(?:<|&lt;|\\<|\\u003[cC])?(?<![A-Z0-9_])([A-Z][A-Z_\\]{1,44}_\d{1,7})(?![A-Z0-9_])(?:>|&gt;|\\>|\\u003[eE])?/g;
/** End of a text that may be the beginning of a placeholder. */
const UNFINISHED =
  /(?:<|&(?:l(?:t;?)?)?|\\(?:<|u(?:0(?:0(?:3[cC]?)?)?)?)?)?(?:(?<![A-Z0-9_])[A-Z][A-Z_\\]{0,44}\d{0,7})?(?:&(?:g(?:t)?)?|\\(?:u(?:0(?:0(?:3)?)?)?)?)?$/;

/** Where a text stands, which decides how a value in it is written. */
export type TextForm = "text" | "json";

export class Placeholders {
  readonly #byValue = new Map<string, string>();
  readonly #valueOf = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #reserved = new Set<string>();

  get count(): number {
    return this.#valueOf.size;
  }

  /** Keeps names that a text contains already from becoming placeholders. Call it with all texts before `mask`. */
  reserve(text: string): void {
    for (const [name] of text.matchAll(NAME)) this.#reserved.add(name);
  }

  /**
   * Returns the text with a placeholder in place of each match; equal values of a type have the same one. `isRestored`:
   * whether `restore` puts the values back.
   */
  mask(text: string, matches: readonly Match[], isRestored = true): string {
    let masked = "";
    let end = 0;
    for (const match of matches) {
      masked +=
        text.slice(end, match.start) + this.#placeholderFor(match.type, text.slice(match.start, match.end), isRestored);
      end = match.end;
    }
    return masked + text.slice(end);
  }

  /** Returns the text with the values in place of placeholders. */
  restore(text: string, form: TextForm = "text"): string {
    if (this.#valueOf.size === 0) return text;
    return text.replace(REPEATED, (repeated, escaped: string) => {
      const value = this.#valueOf.get(escaped.replaceAll("\\", ""));
      if (value === undefined) return repeated;
      return form === "json" ? JSON.stringify(value).slice(1, -1) : value;
    });
  }

  /** Number of characters at the end of a text that may be part of a placeholder that goes on. */
  unfinished(text: string): number {
    if (this.#valueOf.size === 0) return 0;
    // A longer one is not a placeholder.
    return UNFINISHED.exec(text.slice(-64))?.[0].length ?? 0;
  }

  #placeholderFor(type: string, value: string, isRestored: boolean): string {
    const key = `${type} ${value}`;
    const existing = this.#byValue.get(key);
    if (existing !== undefined) return existing;
    let number = this.#counts.get(type) ?? 0;
    let name: string;
    do {
      number += 1;
      name = `${type}_${number}`;
    } while (this.#reserved.has(name));
    this.#counts.set(type, number);
    if (isRestored) this.#valueOf.set(name, value);
    this.#byValue.set(key, `<${name}>`);
    return `<${name}>`;
  }
}

/** A text that arrives in pieces: `push` returns what is final, `end` the rest. */
export interface TextTransform {
  push(piece: string): string;
  end(): string;
}

/** Restores a text that is cut anywhere; holds back only what may be part of a placeholder. */
export class RestoringTransform implements TextTransform {
  readonly #placeholders: Placeholders;
  readonly #form: TextForm;
  #held = "";

  constructor(placeholders: Placeholders, form: TextForm = "text") {
    this.#placeholders = placeholders;
    this.#form = form;
  }

  push(piece: string): string {
    const text = this.#held + piece;
    const cut = text.length - this.#placeholders.unfinished(text);
    this.#held = text.slice(cut);
    return this.#placeholders.restore(text.slice(0, cut), this.#form);
  }

  end(): string {
    const text = this.#held;
    this.#held = "";
    return this.#placeholders.restore(text, this.#form);
  }
}
