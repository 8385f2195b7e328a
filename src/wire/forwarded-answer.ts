/** Renders answers of upstreams that speak the caller's format themselves. */

import type { ForwardedEvent } from "../contracts/chat-proxy.ts";

type Fields = Record<string, unknown>;

/** Called with the last event of a stream, or the complete answer, before the caller gets it. */
export type OnComplete = (fields: Fields) => Promise<void>;

export async function* toForwardedFrames(
  events: AsyncIterable<ForwardedEvent>,
  onComplete?: OnComplete,
): AsyncGenerator<string | Uint8Array> {
  for await (const event of events) {
    if (event.type === "frames") {
      yield event.frames;
      continue;
    }
    const fields = { ...event.completion?.fields };
    await onComplete?.(fields);
    yield `event: ${String(fields.type)}\ndata: ${JSON.stringify(fields)}\n\n`;
  }
}

/** Returns the complete answer; {} if the client has disconnected. */
export async function toForwardedAnswer(
  events: AsyncIterable<ForwardedEvent>,
  onComplete?: OnComplete,
): Promise<Fields> {
  let fields: Fields = {};
  for await (const event of events) {
    if (event.type !== "finish") continue;
    fields = { ...event.completion?.fields };
    await onComplete?.(fields);
  }
  return fields;
}
