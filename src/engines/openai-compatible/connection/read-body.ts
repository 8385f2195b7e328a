import { EventReader } from "../../../kernel/server-sent-events.ts";
import type { Exchange } from "./exchange.ts";

/** Reads the remaining body, up to about `maxBytes` or until the signal aborts. Throws what the exchange throws. */
export async function readText(exchange: Exchange, maxBytes?: number): Promise<string> {
  return (await readBytes(exchange, maxBytes)).toString();
}

/** Like `readText`. */
export async function readBytes(exchange: Exchange, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  // Short bodies usually arrive with the headers.
  const rest = exchange.rest();
  if (rest !== undefined) return joined(rest);
  const chunks: Buffer[] = [];
  let length = 0;
  for (let read = await exchange.read(); read !== undefined && length < maxBytes; read = await exchange.read()) {
    exchange.progress();
    for (const chunk of read) length += chunk.length;
    chunks.push(...read);
  }
  return joined(chunks);
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/** Limits for an error's body, which is read only for its message. */
const MAX_ERROR_BYTES = 64 * 1024;
const ERROR_BODY_SECONDS = 5;

/** Parses the error in a refusal's body; undefined without one, when the status must do. */
export async function readErrorBody(exchange: Exchange): Promise<unknown> {
  exchange.shortenTimeout(ERROR_BODY_SECONDS);
  try {
    return parseOrUndefined(await readText(exchange, MAX_ERROR_BYTES));
  } catch {
    return undefined;
  }
}

export function parseOrUndefined(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/**
 * Yields the data of each server-sent event until the stream ends. `progressOn`: what shows that the upstream is alive;
 * a long event arrives in many chunks.
 */
export async function* eventData(
  exchange: Exchange,
  maxEventLength: number,
  progressOn: "chunk" | "event",
): AsyncGenerator<string> {
  const reader = new EventReader(maxEventLength);
  for (let chunks = await exchange.read(); chunks !== undefined; chunks = await exchange.read()) {
    const events = chunks.flatMap((chunk) => reader.read(chunk) ?? []);
    if (progressOn === "chunk" || events.length > 0) exchange.progress();
    for (const { data } of events) yield data;
  }
}
