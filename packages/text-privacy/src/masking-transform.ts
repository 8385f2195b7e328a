/** Searches a text that arrives in pieces, and holds back only what a match may still include. */

import type { Match } from "./match.ts";
import type { TextTransform } from "./placeholders.ts";

export interface WordSpan {
  words: number;
  /** Words with which a match may start; undefined: any. */
  starts?: RegExp;
}

export interface MaskingOptions {
  find: (text: string) => readonly Match[];
  /** Returns what takes the place of a match. A throw ends the text before anything of the match is passed on. */
  replace: (match: Match, value: string) => string;
  /** How matches span words: so many are held back, from the first one that `starts` allows on. Default: 0. */
  span?: WordSpan;
  /** What the reader has already: a match that begins in it is replaced from the beginning of this text on. */
  before?: string;
}

/** Characters before the searched text, in which words name what follows. */
const CONTEXT = 96;
/** Characters that are held back at most, except for a private key. */
const MAX_HELD = 320;
const MAX_KEY = 8192;
/** Words with digits and separators may continue after a space: cards, accounts, phone numbers. */
const NUMERIC = /^[(+\d][\d().+/-]*$|^[A-Z0-9]{2,4}$|^[A-Z]{0,2}\d[A-Z\d-]*$/;
/** What may follow the sign of an address that goes on: markup, a line break, the beginning of a domain. */
const OPEN_ADDRESS = /^(?:[*_~`[\\>\s]|<[A-Za-z/!][^<>]{0,200}>){0,32}(?:<[^<>]{0,200}|[^\s<>]{0,253})$/;

export class MaskingTransform implements TextTransform {
  readonly #options: MaskingOptions;
  /** Text that was passed on, before replacements, then text that was not. */
  #text = "";
  /** Where the text that was not passed on begins. */
  #from = 0;

  constructor(options: MaskingOptions) {
    this.#options = options;
    this.#text = options.before?.slice(-MAX_HELD) ?? "";
    this.#from = this.#text.length;
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
    const isOpenKey = key >= 0 && !/-----END [A-Z ]{1,40}-----/.test(text.slice(key));
    if (isOpenKey && text.length - key < MAX_KEY) return Math.min(key, text.length);
    const least = Math.max(this.#from, text.length - MAX_HELD);
    const undecided = this.#undecidedWords(least);
    const sign = text.lastIndexOf("@");
    const isOpenAddress = sign >= least && OPEN_ADDRESS.test(text.slice(sign + 1));
    return Math.max(least, isOpenAddress ? Math.min(undecided, lastSpace(text, sign) + 1) : undecided);
  }

  /** Returns the beginning of the last words that a match may span, or that are numbers. */
  #undecidedWords(least: number): number {
    const text = this.#text;
    const { words: spanned = 0, starts } = this.#options.span ?? {};
    let undecided = text.length;
    let isNumeric = true;
    for (let start = text.length, words = 0; start > least; words += 1) {
      const space = lastSpace(text, start - 1);
      const word = text.slice(space + 1, start);
      start = space;
      isNumeric &&= words === 0 || word === "" || NUMERIC.test(word);
      if (isNumeric || (words <= spanned && (starts?.test(word) ?? true))) undecided = Math.max(start, least);
      if (!isNumeric && words > spanned) break;
    }
    return undecided;
  }
}

function lastSpace(text: string, from: number): number {
  // U+FEFF counts as white space in patterns, and is invisible within a word.
  for (let index = from; index >= 0; index -= 1) if (/[^\S\ufeff]/.test(text.charAt(index))) return index;
  return -1;
}
