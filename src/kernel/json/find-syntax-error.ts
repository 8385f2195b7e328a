/** Locates the first syntax error of text that is not JSON, for which V8's messages often have no position. */

const BLANK = /[ \t\r\n]*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LAST_CONTROL_CHARACTER = 0x1f;
const QUOTE = '"';

type Expected = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end";

export interface SyntaxProblem {
  /** From 1. */
  line: number;
  /** In characters, from 1. */
  column: number;
  /** Character that no JSON has here; undefined: the text ends too early. */
  character: string | undefined;
}

/** Returns the first error; for valid JSON the end of the text. */
export function findSyntaxError(text: string): SyntaxProblem {
  const position = errorPosition(text);
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf("\n") + 1;
  return {
    line: before.split("\n").length,
    column: position - lineStart + 1,
    character: position < text.length ? String.fromCodePoint(text.codePointAt(position) as number) : undefined,
  };
}

function errorPosition(text: string): number {
  /** Brackets that close the open objects and arrays. */
  const closing: string[] = [];
  let expected: Expected = "value";
  let position = 0;
  while (true) {
    position = skip(BLANK, text, position) ?? position;
    if (position >= text.length) return text.length;
    const character = text[position] as string;
    const last = closing.at(-1);
    if (expected === "comma-or-end") {
      if (character === "," && last !== undefined) expected = last === "}" ? "key" : "value";
      else if (character === last) closing.pop();
      else return position;
      position += 1;
    } else if (expected === "colon") {
      if (character !== ":") return position;
      expected = "value";
      position += 1;
    } else if (expected.endsWith("-or-end") && character === last) {
      closing.pop();
      expected = "comma-or-end";
      position += 1;
    } else if (character === QUOTE) {
      const { end, isClosed } = readString(text, position);
      if (!isClosed) return end;
      expected = expected.startsWith("key") ? "colon" : "comma-or-end";
      position = end;
    } else if (expected.startsWith("key")) {
      return position;
    } else if (character === "{" || character === "[") {
      closing.push(character === "{" ? "}" : "]");
      expected = character === "{" ? "key-or-end" : "value-or-end";
      position += 1;
    } else {
      const end = skip(SCALAR, text, position);
      if (end === undefined) return position;
      expected = "comma-or-end";
      position = end;
    }
  }
}

/** Returns the end of what matches at a position; undefined if nothing does. */
function skip(pattern: RegExp, text: string, position: number): number | undefined {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Reads a string from its opening quote; `end` is behind its closing one, or at its error. */
function readString(text: string, start: number): { end: number; isClosed: boolean } {
  let position = start + 1;
  while (position < text.length) {
    const character = text[position] as string;
    if (character === QUOTE) return { end: position + 1, isClosed: true };
    if (character.charCodeAt(0) <= LAST_CONTROL_CHARACTER) break;
    const next = character === "\\" ? skip(ESCAPE, text, position) : position + 1;
    if (next === undefined) break;
    position = next;
  }
  return { end: position, isClosed: false };
}
