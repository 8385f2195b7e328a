/** Runs in a worker thread: parses and writes JSON that would block the event loop. */

import { move } from "piscina";
import { lowerPriority } from "../process/lower-priority.ts";
import { type JsonLimits, type ParsedJson, parseJson } from "./parse-json.ts";

export type JsonTask = { type: "parse"; json: Uint8Array; limits: JsonLimits } | { type: "write"; value: unknown };

lowerPriority();

export default function runTask(task: JsonTask): ParsedJson | ReturnType<typeof move> {
  if (task.type === "write") return move(new TextEncoder().encode(JSON.stringify(task.value)));
  const { buffer, byteOffset, byteLength } = task.json;
  return parseJson(Buffer.from(buffer, byteOffset, byteLength), task.limits);
}
