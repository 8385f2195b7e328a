/** Parses JSON from callers: UTF-8 only, with limits on depth, values and keys, and without keys that poison prototypes. */

import { isUtf8 } from "node:buffer";
import { scan as checkForPoison } from "secure-json-parse";
import { findSyntaxError } from "./find-syntax-error.ts";
import { type JsonSource, toSource } from "./json-source.ts";
import { scanJson } from "./scan-json.ts";

export interface JsonLimits {
  maxValues: number;
}

/** Either the value, with its source if it is an object, or the end of the sentence "The request body …". */
export type ParsedJson = { value: unknown; source?: JsonSource | undefined; problem?: undefined } | { problem: string };

export function parseJson(json: Buffer, { maxValues }: JsonLimits): ParsedJson {
  if (!isUtf8(json)) return { problem: "is not UTF-8" };
  const scan = scanJson(json, maxValues);
  if (scan.excess !== undefined) return { problem: scan.excess };
  const hasMark = hasByteOrderMark(json);
  const text = json.toString("utf8", hasMark ? 3 : 0);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: `is not valid JSON: ${describeSyntaxError(text)}` };
  }
  if (scan.isSuspicious && isPoisoned(value)) {
    const keys = "the key `__proto__`, or `prototype` below `constructor`";
    return { problem: `has an object with ${keys}, which Parlance does not accept. Rename it` };
  }
  return { value, source: hasMark ? undefined : toSource(json, value, scan) };
}

function describeSyntaxError(text: string): string {
  const { line, column, character } = findSyntaxError(text);
  const place = `at line ${line}, column ${column}`;
  return character === undefined ? `it ends too early, ${place}` : `unexpected ${JSON.stringify(character)} ${place}`;
}

function hasByteOrderMark(json: Buffer): boolean {
  return json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf;
}

function isPoisoned(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  try {
    checkForPoison(value, { protoAction: "error", constructorAction: "error" });
    return false;
  } catch {
    return true;
  }
}
