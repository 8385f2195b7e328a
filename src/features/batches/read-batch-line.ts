import { LARGE_JSON_BYTES, readLargeJson } from "../../kernel/json/large-json.ts";
import type { LineProblem } from "../../wire/openai/batch-lines.ts";
import { type LineRequest, type ReadOptions, read } from "./line-reader.ts";

const reader = import.meta.url.endsWith(".ts") ? "./line-reader.ts" : "./line-reader.js";
const READER = new URL(reader, import.meta.url);

/** Parses a line; a large one in a thread, which takes over the buffer, so that other requests do not wait for it. */
export async function readBatchLine(json: Buffer, options: ReadOptions): Promise<LineRequest | LineProblem> {
  if (json.length < LARGE_JSON_BYTES) return read(json, options);
  return (await readLargeJson(json, READER, options)) as LineRequest | LineProblem;
}
