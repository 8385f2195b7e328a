/** An answer as it is stored: its events and the facts that its headers and rendering need. */

import { deserialize, serialize } from "node:v8";
import type { Usage } from "../../kernel/usage.ts";
import type { ModelFacts } from "../inference-answer.ts";

export interface RecordedAnswer<Event> extends ModelFacts {
  /** Catalog ID that answered. */
  model: string;
  /** `Deployment.entry`, `Deployment.name` and `Deployment.engine`. */
  deployment: string;
  deploymentName: string;
  engine: string;
  /** What the run used, which answers report again. */
  used: Usage;
  events: readonly Event[];
}

/** V8's format keeps typed arrays and undefined, and later versions of V8 read it. */
export function encodeAnswer<Event>(answer: RecordedAnswer<Event>): Buffer {
  return serialize(answer);
}

/** Throws for content of another format. */
export function decodeAnswer<Event>(content: Buffer): RecordedAnswer<Event> {
  return deserialize(content) as RecordedAnswer<Event>;
}

/** Approximate bytes of an event, to bound what is recorded. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return 2 * value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = 16;
  for (const key in value) bytes += 16 + sizeOf((value as Record<string, unknown>)[key]);
  return bytes;
}
