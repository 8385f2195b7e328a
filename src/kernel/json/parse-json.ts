/** Parses JSON from callers: UTF-8 only, with limits on depth, values and keys, and without keys that poison prototypes. */

import { isUtf8 } from "node:buffer";
import { parse as parseWithoutPoison } from "secure-json-parse";

export interface JsonLimits {
  maxValues: number;
}

/** Either the value, or the end of the sentence "The request body …". */
export type ParsedJson = { value: unknown; problem?: undefined } | { problem: string };

/** Maximum nesting, well above any real request or JSON schema and well below a stack overflow in recursive code. */
const MAX_DEPTH = 128;
/** Maximum number of keys in one object. OpenAI allows 5,000 properties in a JSON schema. */
const MAX_KEYS = 10_000;

export function parseJson(json: Buffer, { maxValues }: JsonLimits): ParsedJson {
  if (!isUtf8(json)) return { problem: "is not UTF-8" };
  const excess = findExcess(json, maxValues);
  if (excess !== undefined) return { problem: excess };
  try {
    return { value: parseWithoutPoison(json.toString("utf8"), { protoAction: "error", constructorAction: "error" }) };
  } catch {
    return { problem: problemOf(json) };
  }
}

function problemOf(json: Buffer): string {
  try {
    JSON.parse(json.toString("utf8"));
  } catch {
    return "is not valid JSON";
  }
  return "has an object with the key `__proto__`, or `prototype` below `constructor`, which Parlance does not accept. Rename it";
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Number of keys in the object at each level; unused for arrays. Shared, because a new one takes 1 µs per body. */
const keysAtDepth = new Uint32Array(MAX_DEPTH + 1);

/**
 * Counts levels, values and keys in one pass over the bytes, before anything is allocated for them: 1 MB of short keys
 * would occupy a parser and a validator for half a second. Returns which limit is exceeded, undefined without one.
 * Counts text that is not JSON too, and leaves its refusal to the parser.
 */
function findExcess(json: Buffer, maxValues: number): string | undefined {
  let depth = 0;
  keysAtDepth[0] = 0;
  let values = 1;
  for (let index = 0; index < json.length; index += 1) {
    switch (json[index]) {
      case QUOTE:
        for (index += 1; index < json.length && json[index] !== QUOTE; index += 1) {
          if (json[index] === BACKSLASH) index += 1;
        }
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        values += 1;
        if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
        keysAtDepth[depth] = 0;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth = Math.max(0, depth - 1);
        break;
      case COMMA:
        values += 1;
        break;
      case COLON: {
        const count = (keysAtDepth[depth] ?? 0) + 1;
        if (count > MAX_KEYS) return `has an object with more than ${MAX_KEYS} keys`;
        keysAtDepth[depth] = count;
        break;
      }
    }
    if (values > maxValues) return `has more than ${maxValues} values`;
  }
  return undefined;
}
