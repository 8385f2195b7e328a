/** Parses and writes large JSON in worker threads, which keeps megabytes of it off the event loop. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { ThreadPool } from "../process/thread-pool.ts";
import type { JsonTask } from "./json-worker.ts";
import { type JsonLimits, type ParsedJson, parseJson } from "./parse-json.ts";

/**
 * Size in bytes from which a thread is faster for the event loop. It parses 1 MB in 5 ms, and 19 MB full of escapes in
 * 80 ms, of which transferring the value leaves 15 ms.
 */
export const LARGE_JSON_BYTES = 1_000_000;

const worker = import.meta.url.endsWith(".ts") ? "./json-worker.ts" : "./json-worker.js";
const pool = new ThreadPool<JsonTask, unknown>(new URL(worker, import.meta.url));

/** `parseJson` in a thread, which takes over the buffer. */
export async function parseLargeJson(json: Buffer, limits: JsonLimits): Promise<ParsedJson> {
  const parsed = await pool.run({ type: "parse", json, limits }, transferOf(json));
  // Receiving 30,000 messages takes 15 ms, and what the caller does with them takes longer.
  await nextTurn();
  return parsed as ParsedJson;
}

/** `parseJson`, in a thread where the JSON is large, which then takes over the buffer. */
export async function parseJsonOfAnySize(json: Buffer, limits: JsonLimits): Promise<ParsedJson> {
  return json.length < LARGE_JSON_BYTES ? parseJson(json, limits) : parseLargeJson(json, limits);
}

/**
 * Parses JSON from an upstream and converts it in a thread, which takes over the buffer. The module exports
 * `convert(value, argument)`.
 */
export async function convertLargeJson(json: Buffer, module: URL, argument: unknown): Promise<unknown> {
  return pool.run({ type: "convert", json, module: module.href, argument }, transferOf(json));
}

/** Calls `read(json, argument)` of the module in a thread, which takes over the buffer. */
export async function readLargeJson(json: Buffer, module: URL, argument: unknown): Promise<unknown> {
  return pool.run({ type: "read", json, module: module.href, argument }, transferOf(json));
}

/** A part of a buffer that others share is copied. */
function transferOf({ buffer, byteLength }: Buffer): { project: string; transferList: ArrayBuffer[] } {
  return {
    project: "",
    transferList: byteLength === buffer.byteLength && buffer instanceof ArrayBuffer ? [buffer] : [],
  };
}

/** JSON.stringify in a thread. Resolves with UTF-8. */
export async function writeLargeJson(value: unknown): Promise<Uint8Array> {
  await nextTurn();
  return (await pool.run({ type: "write", value }, { project: "" })) as Uint8Array;
}
