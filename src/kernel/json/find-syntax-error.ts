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

interface Progress {
  expected: Expected;
  /** Brackets that close the open objects and arrays. */
  closing: string[];
}

function errorPosition(text: string): number {
  const progress: Progress = { expected: "value", closing: [] };
  let position = 0;
  while (true) {
    position = skip(BLANK, text, position) ?? position;
    const character = text[position];
    if (character === undefined) return text.length;
    if (readMark(character, progress)) {
      position += 1;
      continue;
    }
    const { end, isComplete } = readWord(text, position, progress);
    if (!isComplete) return end;
    position = end;
  }
}

/** Reads a name, string, number or constant. */
function readWord(text: string, start: number, progress: Progress): ReadToken {
  const isString = text[start] === QUOTE;
  const isKey = progress.expected.startsWith("key");
  const isAllowed = isKey ? isString : progress.expected.startsWith("value");
  if (!isAllowed) return { end: start, isComplete: false };
  progress.expected = isKey ? "colon" : "comma-or-end";
  return isString ? readString(text, start) : readScalar(text, start);
}

/** Reads a bracket, comma or colon; false for another character, or where JSON allows no mark. */
function readMark(character: string, progress: Progress): boolean {
  const { expected, closing } = progress;
  const last = closing.at(-1);
  if (expected.endsWith("-or-end") && character === last) {
    closing.pop();
    progress.expected = "comma-or-end";
  } else if (expected === "comma-or-end" && character === "," && last !== undefined) {
    progress.expected = last === "}" ? "key" : "value";
  } else if (expected === "colon" && character === ":") {
    progress.expected = "value";
  } else if (expected.startsWith("value") && character === "{") {
    closing.push("}");
    progress.expected = "key-or-end";
  } else if (expected.startsWith("value") && character === "[") {
    closing.push("]");
    progress.expected = "value-or-end";
  } else return false;
  return true;
}

function readScalar(text: string, start: number): ReadToken {
  const end = skip(SCALAR, text, start);
  return { end: end ?? start, isComplete: end !== undefined };
}

/** `end` is behind the token, or at its error. */
interface ReadToken {
  end: number;
  isComplete: boolean;
}

/** Returns the end of what matches at a position; undefined if nothing does. */
function skip(pattern: RegExp, text: string, position: number): number | undefined {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Reads a string from its opening quote. */
function readString(text: string, start: number): ReadToken {
  let position = start + 1;
  while (position < text.length) {
    const character = text[position] as string;
    if (character === QUOTE) return { end: position + 1, isComplete: true };
    if (character.charCodeAt(0) <= LAST_CONTROL_CHARACTER) break;
    const next = character === "\\" ? skip(ESCAPE, text, position) : position + 1;
    if (next === undefined) break;
    position = next;
  }
  return { end: position, isComplete: false };
}
