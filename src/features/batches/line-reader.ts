/** Parses one line of a batch's input; also called in a thread, since a line of 20 MB takes a second. */

import { type LineProblem, parseBatchLine } from "../../wire/openai/batch-lines.ts";

export interface ReadOptions {
  endpoint: string;
  /** Whether the request is needed, too. */
  withBody: boolean;
}

/** A line, without what its request contains. */
export interface LineRequest {
  customId: string;
  /** JSON text of the request; empty unless it was asked for. */
  body: Uint8Array;
}

/** Returns the line's first problem if it is not valid for the endpoint. */
export function read(json: Buffer, { endpoint, withBody }: ReadOptions): LineRequest | LineProblem {
  const parsed = parseBatchLine(json, endpoint);
  if ("code" in parsed) return parsed;
  return { customId: parsed.customId, body: new TextEncoder().encode(withBody ? JSON.stringify(parsed.body) : "") };
}
