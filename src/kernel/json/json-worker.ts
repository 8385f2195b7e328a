/** Runs in a worker thread: parses and writes JSON that would block the event loop. */

import { move, transferableSymbol, valueSymbol } from "piscina";
import { lowerPriority } from "../process/lower-priority.ts";
import { type JsonLimits, type ParsedJson, parseJson } from "./parse-json.ts";

export type JsonTask =
  | { type: "parse"; json: Uint8Array; limits: JsonLimits }
  | { type: "convert"; json: Uint8Array; module: string; argument: unknown }
  | { type: "read"; json: Uint8Array; module: string; argument: unknown }
  | { type: "write"; value: unknown };

/** What a module exports that converts parsed JSON in the thread. */
interface Converter {
  /** `value` undefined: not valid JSON. */
  convert(value: unknown, argument: unknown): unknown;
}

/** What a module exports that parses JSON itself in the thread. */
interface Reader {
  read(json: Buffer, argument: unknown): unknown;
}

lowerPriority();

export default async function runTask(task: JsonTask): Promise<unknown> {
  if (task.type === "write") return move(new TextEncoder().encode(JSON.stringify(task.value)));
  const { buffer, byteOffset, byteLength } = task.json;
  const json = Buffer.from(buffer, byteOffset, byteLength);
  if (task.type === "parse") return move(new ParsedTransfer(parseJson(json, task.limits), buffer as ArrayBuffer));
  if (task.type === "read") {
    const { read }: Reader = await import(task.module);
    return read(json, task.argument);
  }
  const { convert }: Converter = await import(task.module);
  return convert(parseOrUndefined(json), task.argument);
}

/** Gives the bytes back without a copy. */
class ParsedTransfer {
  readonly [valueSymbol]: ParsedJson;
  readonly [transferableSymbol]: ArrayBuffer[];

  constructor(parsed: ParsedJson, buffer: ArrayBuffer) {
    this[valueSymbol] = parsed;
    this[transferableSymbol] = [buffer];
  }
}

function parseOrUndefined(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString());
  } catch {
    return undefined;
  }
}
