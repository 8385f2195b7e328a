/** One pass over the bytes of JSON from callers, before anything is allocated for its values. */

import { isUtf8 } from "node:buffer";
import { byteLength } from "./chunks.ts";
import { SCAN_JSON_WASM } from "./scan-json-wasm.ts";

/** Limits that `scan-json.wat` checks, by the number that it returns; 0: none is exceeded. */
const EXCESSES = [
  () => undefined,
  // Well above any real request or JSON schema, and well below a stack overflow in recursive code.
  () => "is nested more than 128 levels deep",
  // OpenAI allows 5,000 properties in a JSON schema.
  () => "has an object with more than 10000 keys",
  (maxValues: number) => `has more than ${maxValues} values`,
] as const;

export interface JsonScan {
  /** Bytes of the JSON. */
  length: number;
  /** End of the sentence "The request body …" where a limit is exceeded. */
  excess?: string | undefined;
  /** Whether a key may be `__proto__` or `constructor`. */
  isSuspicious: boolean;
  /** Keys of all objects together. */
  keyCount: number;
  /** Positions in the bytes of each member of the object: key and value, without the key's quotes; 4 numbers each. */
  members: readonly number[];
  /** Undefined without long strings, and unless it was requested. */
  outline?: JsonOutlineText | undefined;
}

/**
 * JSON whose `messages` have `*` in place of long texts, as their contents, text parts and arguments of tool calls, and
 * `data:` in place of long data URLs of images. It is valid JSON if and only if the original is, and its texts begin like
 * addresses if and only if those of the original do.
 */
export interface JsonOutlineText {
  text: string;
  /** UTF-8 bytes of the texts that are left out. */
  hiddenBytes: number;
}

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface Scanner {
  memory: Memory;
  scan(input: number, length: number, output: number, maxValues: number): number;
}

/** The types of Node lack the constructors. */
declare const WebAssembly: {
  Module: new (binary: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

/** Places in the scanner's memory, in bytes; `scan-json.wat` names them. */
const KEY_COUNT = 0;
const IS_SUSPICIOUS = 4;
const MEMBER_NUMBERS = 8;
const HAS_LOST_MEMBERS = 12;
const OUTLINE_BYTES = 16;
const SHORTENED = 20;
const HIDDEN_BYTES = 24;
const MEMBERS = 1024;
const INPUT = 256 * 1024;
const PAGE_BYTES = 64 * 1024;

const scanner = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(SCAN_JSON_WASM, "base64")))
  .exports as Scanner;
let memory = viewsOf(scanner.memory);

/**
 * Counts levels, values and keys: 1 MB of short keys would occupy a parser and a validator for half a second. Scans text
 * that is not JSON, too, and leaves its refusal to the parser. `isOutlined`: also returns the outline.
 */
export function scanJson(json: Uint8Array | readonly Uint8Array[], maxValues: number, isOutlined = false): JsonScan {
  const chunks = json instanceof Uint8Array ? [json] : json;
  const length = byteLength(chunks);
  const output = isOutlined ? INPUT + length : 0;
  ensureBytes(INPUT + (isOutlined ? 2 : 1) * length);
  const { bytes, numbers } = memory;
  let at = INPUT;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  const excess = EXCESSES[scanner.scan(INPUT, length, output, maxValues)]?.(maxValues);
  const memberNumbers = numberAt(HAS_LOST_MEMBERS) === 1 ? 0 : numberAt(MEMBER_NUMBERS);
  const members: number[] = [];
  for (let index = 0; index < memberNumbers; index += 1) members.push(numbers[MEMBERS / 4 + index] ?? 0);
  return {
    length,
    excess,
    isSuspicious: numberAt(IS_SUSPICIOUS) === 1,
    keyCount: numberAt(KEY_COUNT),
    members,
    outline: numberAt(SHORTENED) === 0 ? undefined : outlineIn(output),
  };
}

/** Whether the bytes that were scanned last are UTF-8. */
export function isScannedUtf8({ length }: JsonScan): boolean {
  return isUtf8(memory.bytes.subarray(INPUT, INPUT + length));
}

/** Returns the text of the bytes that were scanned last. */
export function scannedText({ length }: JsonScan, from = 0): string {
  return memory.bytes.toString("utf8", INPUT + from, INPUT + length);
}

function outlineIn(output: number): JsonOutlineText {
  const text = memory.bytes.toString("utf8", output, output + numberAt(OUTLINE_BYTES));
  return { text, hiddenBytes: numberAt(HIDDEN_BYTES) };
}

function numberAt(place: number): number {
  return memory.numbers[place / 4] ?? 0;
}

function ensureBytes(needed: number): void {
  const missing = needed - memory.bytes.length;
  if (missing <= 0) return;
  scanner.memory.grow(Math.ceil(missing / PAGE_BYTES));
  memory = viewsOf(scanner.memory);
}

function viewsOf({ buffer }: Memory): { bytes: Buffer; numbers: Int32Array } {
  return { bytes: Buffer.from(buffer), numbers: new Int32Array(buffer) };
}
