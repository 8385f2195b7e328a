/** Texts in which words were replaced before they came here, such as those that are spoken unlike they are written. */

import type { TextPiece } from "./traced-text.ts";

/** A part of a text, in UTF-16 units, that stands for what was written. */
export interface RewrittenPart {
  start: number;
  length: number;
  written: string;
}

/** Private characters, which are silent: they mark rewritten parts until tags are read. */
const BEGIN = "\uE000";
const END = "\uE001";
const MARKS = /[\uE000\uE001]/g;
/** References that become marks when tags are read. */
const REFERENCES = /&#(?:0*5734[45]|x0*e00[01]);/gi;
const MARKED = /\uE000([^\uE001]*)\uE001?/g;

/** Marks the rewritten parts, which are in order and do not overlap. `isSsml`: tags and references are still to be read. */
export function markRewritten(text: string, rewritten: readonly RewrittenPart[], isSsml: boolean): string {
  let marked = "";
  let end = 0;
  const bare = text.replace(MARKS, " ");
  // As long as they were, since the parts are at their places in the text.
  const plain = isSsml ? bare.replace(REFERENCES, (reference) => " ".repeat(reference.length)) : bare;
  for (const { start, length } of rewritten) {
    marked += `${plain.slice(end, start)}${BEGIN}${plain.slice(start, start + length)}${END}`;
    end = start + length;
  }
  return marked + plain.slice(end);
}

/** Splits a text at its marks. `written`: what the marked parts stand for, in order. */
export function piecesOf(marked: string, written: Iterator<string>): TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const { 0: match, 1: text = "", index } of marked.matchAll(MARKED)) {
    pieces.push({ text: marked.slice(end, index) }, { text, written: written.next().value ?? text });
    end = index + match.length;
  }
  return [...pieces, { text: withoutMarks(marked.slice(end)) }];
}

export function withoutMarks(text: string): string {
  return text.replace(MARKS, "");
}
