/** Parses JSON from callers: UTF-8 only, with limits on depth, values and keys, and without keys that poison prototypes. */

import { scan as checkForPoison } from "secure-json-parse";
import { chunksText } from "./chunks.ts";
import { findSyntaxError } from "./find-syntax-error.ts";
import { deferField, type JsonOutline } from "./json-outline.ts";
import { type JsonSource, placeOf, toSource } from "./json-source.ts";
import { isScannedUtf8, type JsonOutlineText, type JsonScan, scanJson, scannedText } from "./scan-json.ts";

export interface JsonLimits {
  maxValues: number;
}

/** Either the value, with its source and outline if it is an object, or the end of the sentence "The request body …". */
export type ParsedJson =
  | { value: unknown; source?: JsonSource | undefined; outline?: JsonOutline | undefined; problem?: undefined }
  | { problem: string };

/** `isOutlined`: leaves the long texts of `messages` in the bytes until they are read. */
export function parseJson(
  json: Uint8Array | readonly Uint8Array[],
  { maxValues }: JsonLimits,
  isOutlined = false,
): ParsedJson {
  const chunks = json instanceof Uint8Array ? [json] : json;
  const scan = scanJson(chunks, maxValues, isOutlined);
  if (!isScannedUtf8(scan)) return { problem: "is not UTF-8" };
  if (scan.excess !== undefined) return { problem: scan.excess };
  const outlined = scan.outline && parseOutlined(chunks, scan, scan.outline);
  if (outlined !== undefined) return outlined;
  const hasMark = hasByteOrderMark(chunks);
  const text = scannedText(scan, hasMark ? 3 : 0);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: `is not valid JSON: ${describeSyntaxError(text)}` };
  }
  if (scan.isSuspicious && isPoisoned(value)) return { problem: POISONED };
  return { value, source: hasMark ? undefined : toSource(chunks, value, scan) };
}

const POISONED =
  "has an object with the key `__proto__`, or `prototype` below `constructor`, which Parlance does not accept. Rename it";

/** Returns undefined for JSON that has to be parsed as a whole: because it is invalid, or has a key twice. */
function parseOutlined(
  chunks: readonly Uint8Array[],
  scan: JsonScan,
  { text, hiddenBytes }: JsonOutlineText,
): ParsedJson | undefined {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (scan.isSuspicious && isPoisoned(fields)) return { problem: POISONED };
  const source = toSource(chunks, fields, scan);
  const place = source && placeOf(source, "messages");
  if (place === undefined) return undefined;
  const value = { ...fields, messages: undefined as unknown };
  deferField(value, "messages", () => JSON.parse(chunksText(chunks, place.start, place.end)));
  return { value, source, outline: { fields, hiddenBytes } };
}

function describeSyntaxError(text: string): string {
  const { line, column, character } = findSyntaxError(text);
  const place = `at line ${line}, column ${column}`;
  return character === undefined ? `it ends too early, ${place}` : `unexpected ${JSON.stringify(character)} ${place}`;
}

function hasByteOrderMark(chunks: readonly Uint8Array[]): boolean {
  return chunks[0]?.[0] === 0xef && chunksText(chunks, 0, 3) === "\uFEFF";
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
