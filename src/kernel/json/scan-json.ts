/** One pass over the bytes of JSON from callers, before anything is allocated for its values. */

/** Maximum nesting, well above any real request or JSON schema and well below a stack overflow in recursive code. */
const MAX_DEPTH = 128;
/** Maximum number of keys in one object. OpenAI allows 5,000 properties in a JSON schema. */
const MAX_KEYS = 10_000;
/** Bytes of a string that are compared one by one before a native search, whose call costs as much as 30 of them. */
const SHORT_STRING = 32;

export interface JsonScan {
  /** End of the sentence "The request body …" where a limit is exceeded. */
  excess?: string;
  /** Whether a key may be `__proto__` or `constructor`. */
  isSuspicious: boolean;
  /** Keys of all objects together. */
  keyCount: number;
  /** Positions in the bytes of each member of the object: key and value, without the key's quotes; 4 numbers each. */
  members: readonly number[];
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const UNDERSCORE = 0x5f;
const LETTER_C = 0x63;

/** Number of keys in the object at each level; unused for arrays. Shared, because a new one takes 1 µs per body. */
const keysAtDepth = new Uint32Array(MAX_DEPTH + 1);

/**
 * Counts levels, values and keys: 1 MB of short keys would occupy a parser and a validator for half a second. Scans text
 * that is not JSON, too, and leaves its refusal to the parser.
 */
export function scanJson(json: Buffer, maxValues: number): JsonScan {
  const members: number[] = [];
  const scan: JsonScan = { isSuspicious: false, keyCount: 0, members };
  let depth = 0;
  let values = 1;
  let stringStart = 0;
  let stringEnd = 0;
  keysAtDepth[0] = 0;
  for (let index = 0; index < json.length; index += 1) {
    switch (json[index]) {
      case QUOTE:
        stringStart = index + 1;
        stringEnd = endOfString(json, stringStart);
        index = stringEnd;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        values += 1;
        if (depth > MAX_DEPTH) return { ...scan, excess: `is nested more than ${MAX_DEPTH} levels deep` };
        keysAtDepth[depth] = 0;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth === 1 && members.length % 4 === 3) members.push(index);
        depth = Math.max(0, depth - 1);
        break;
      case COMMA:
        if (depth === 1 && members.length % 4 === 3) members.push(index);
        values += 1;
        break;
      case COLON: {
        const count = (keysAtDepth[depth] ?? 0) + 1;
        if (count > MAX_KEYS) return { ...scan, excess: `has an object with more than ${MAX_KEYS} keys` };
        keysAtDepth[depth] = count;
        scan.keyCount += 1;
        if (depth === 1) members.push(stringStart, stringEnd, index + 1);
        scan.isSuspicious ||= mayPoison(json, stringStart, stringEnd);
        break;
      }
    }
    if (values > maxValues) return { ...scan, excess: `has more than ${maxValues} values` };
  }
  return scan;
}

/** Position of the closing quote; the end of the text if there is none. */
function endOfString(json: Buffer, start: number): number {
  const nearby = Math.min(json.length, start + SHORT_STRING);
  let index = start;
  for (; index < nearby && json[index] !== QUOTE; index += 1) {
    if (json[index] === BACKSLASH) index += 1;
  }
  if (index < nearby) return index;
  for (;;) {
    const quote = json.indexOf(QUOTE, index);
    if (quote === -1) return json.length;
    let backslashes = 0;
    while (quote - backslashes > index && json[quote - backslashes - 1] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote;
    index = quote + 1;
  }
}

/** Whether the key is `__proto__` or `constructor`, or has an escape and may be. */
function mayPoison(json: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (length < 9) return false;
  if (length === 9) return json[start] === UNDERSCORE;
  if (length === 11 && json[start] === LETTER_C) return true;
  // An escape takes six bytes, so that only keys of up to 66 can be one of the two.
  return length <= 66 && json.subarray(start, end).includes(BACKSLASH);
}
