/** Searches a text that arrives in pieces, and holds back only what a match may still include. */

import type { Match } from "./match.ts";
import type { TextTransform } from "./placeholders.ts";

export interface MaskingOptions {
  find: (text: string) => readonly Match[];
  /** Returns what takes the place of a match. A throw ends the text before anything of the match is passed on. */
  replace: (match: Match, value: string) => string;
  /** True if matches span words, such as addresses: the last words are then held back too. */
  spansWords?: boolean;
}

/** Characters before the searched text, in which words name what follows. */
const CONTEXT = 96;
/** Characters that are held back at most, except for a private key. */
const MAX_HELD = 320;
const MAX_KEY = 8192;
const HELD_WORDS = 8;
/** Words with digits and separators may continue after a space: cards, accounts, phone numbers. */
const NUMERIC = /^[(+\d][\d().+/-]*$|^[A-Z0-9]{2,4}$|^[A-Z]{0,2}\d[A-Z\d-]*$/;

export class MaskingTransform implements TextTransform {
  readonly #options: MaskingOptions;
  /** Text that was passed on, before replacements, then text that was not. */
  #text = "";
  /** Where the text that was not passed on begins. */
  #from = 0;

  constructor(options: MaskingOptions) {
    this.#options = options;
  }

  push(piece: string): string {
    this.#text += piece;
    return this.#release(this.#undecided());
  }

  end(): string {
    return this.#release(this.#text.length);
  }

  #release(limit: number): string {
    const text = this.#text;
    let until = limit;
    const matches: Match[] = [];
    if (text.length > this.#from) {
      for (const match of this.#options.find(text)) {
        if (match.end <= this.#from) continue;
        if (match.start >= until) break;
        // It may go on: at the end of the text, or it reaches into what is undecided.
        if (limit < text.length && match.end > limit && match.end - match.start < MAX_KEY) {
          until = Math.max(this.#from, match.start);
          break;
        }
        matches.push(match);
        until = Math.max(until, match.end);
      }
    }
    let released = "";
    let from = this.#from;
    for (const match of matches) {
      const start = Math.max(from, match.start);
      released += text.slice(from, start) + this.#options.replace(match, text.slice(start, match.end));
      from = match.end;
    }
    released += text.slice(from, Math.max(from, until));
    this.#from = Math.max(from, until);
    const dropped = Math.max(0, this.#from - CONTEXT);
    this.#text = text.slice(dropped);
    this.#from -= dropped;
    return released;
  }

  /** Returns where the part of the text begins that a match may still include. */
  #undecided(): number {
    const text = this.#text;
    const key = text.indexOf("-----BEGIN ", Math.max(0, this.#from - 11));
    if (key >= 0 && !/-----END [A-Z ]{1,40}-----/.test(text.slice(key))) {
      if (text.length - key < MAX_KEY) return Math.min(key, text.length);
    }
    const least = Math.max(this.#from, text.length - MAX_HELD);
    let start = text.length;
    for (let words = 0; start > least; words += 1) {
      const space = lastSpace(text, start - 1);
      const word = text.slice(space + 1, start);
      const isLast = start === text.length;
      const isHeld =
        isLast || word === "" || NUMERIC.test(word) || (this.#options.spansWords === true && words < HELD_WORDS);
      if (!isHeld) break;
      start = Math.max(space, least);
      if (space < 0) return least;
    }
    return Math.max(least, start);
  }
}

function lastSpace(text: string, from: number): number {
  for (let index = from; index >= 0; index -= 1) if (/\s/.test(text.charAt(index))) return index;
  return -1;
}
