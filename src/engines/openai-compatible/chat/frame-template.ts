/**
 * Template of the frames of one answer, which differ only in a few strings such as the text of a token. A frame that
 * equals a parsed one except for those strings is valid, has the same meaning, and need not be parsed.
 */

import { endOfString, skipSpace } from "./json-text.ts";

/** Keys of generated text at any depth. */
export const TEXT_KEYS: ReadonlySet<string> = new Set([
  "content",
  // Of a text completion.
  "text",
  "reasoning_content",
  "reasoning",
  "refusal",
  "arguments",
]);
/** Padding against traffic analysis, not part of the answer. */
const PADDING_KEY = "obfuscation";
const PADDING_START = `"${PADDING_KEY}":"`;

function isVarying(key: string): boolean {
  return TEXT_KEYS.has(key) || key === PADDING_KEY;
}

export class FrameTemplate {
  /** The text around the varying strings, as it comes and as it is passed on. */
  readonly #expected: readonly string[];
  readonly #replacement: readonly string[];
  /** End of the last match. */
  end = 0;
  /** Bytes of the varying strings of the last match. */
  textBytes = 0;

  private constructor(expected: readonly string[], replacement: readonly string[]) {
    this.#expected = expected;
    this.#replacement = replacement;
  }

  /** The template of a frame and of what it was rewritten to; undefined when nothing in it varies. Both end with `\n\n`. */
  static of(frame: string, rewritten: string): FrameTemplate | undefined {
    const expected = splitAtVarying(frame);
    const replacement = splitAtVarying(rewritten);
    if (expected.length < 2 || expected.length !== replacement.length) return undefined;
    return new FrameTemplate(expected, replacement);
  }

  /** Rewrites the frame at `start`; undefined when it does not match this template. */
  rewrite(frames: string, start: number): string | undefined {
    const last = this.#expected.length - 1;
    let position = start;
    let textBytes = 0;
    let out = "";
    for (let index = 0; ; index += 1) {
      const expected = this.#expected[index] as string;
      const next = position + expected.length;
      // Measured: comparing a slice takes a third of the time of `startsWith`.
      if (frames.slice(position, next) !== expected) return undefined;
      position = next;
      out += this.#replacement[index];
      if (index === last) break;
      const close = endOfString(frames, position - 1) - 1;
      out += frames.slice(position, close);
      if (!expected.endsWith(PADDING_START)) textBytes += close - position;
      position = close;
    }
    this.end = position;
    this.textBytes = textBytes;
    return out;
  }
}

/** Cut inside the quotes of each varying string, which is left out. */
function splitAtVarying(json: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let open = json.indexOf('"'); open !== -1; ) {
    const close = endOfString(json, open);
    const colon = skipSpace(json, close);
    const value = skipSpace(json, colon + 1);
    if (json[colon] === ":" && json[value] === '"' && isVarying(json.slice(open + 1, close - 1))) {
      const end = endOfString(json, value);
      parts.push(json.slice(from, value + 1));
      from = end - 1;
      open = json.indexOf('"', end);
    } else {
      open = json.indexOf('"', close);
    }
  }
  parts.push(json.slice(from));
  return parts;
}
