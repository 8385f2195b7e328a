/** Events of a streamed transcript as they come: OpenAI's own, or vLLM's chunks. */

import { z } from "zod";
import type { TranscriptionEvent } from "../../contracts/engine.ts";
import { lazy } from "../../kernel/lazy.ts";
import { EventReader } from "../../kernel/server-sent-events.ts";
import type { Exchange } from "./connection/exchange.ts";
import { parseOrUndefined } from "./connection/read-body.ts";
import { parseUpstreamError, UpstreamError } from "./upstream-error.ts";

/** OpenAI counts some models' audio in tokens, without its seconds; other instances of Parlance give both. */
const Usage = lazy.object(() => ({ seconds: z.number().min(0) }));
const TranscriptEvent = z.union([
  lazy.object(() => ({ type: z.literal("transcript.text.delta"), delta: z.string() })),
  lazy.object(() => ({
    type: z.literal("transcript.text.segment"),
    start: z.number(),
    end: z.number(),
    text: z.string(),
  })),
  lazy.object(() => ({ type: z.literal("transcript.text.done"), text: z.string(), usage: z.unknown().optional() })),
  lazy.object(() => ({
    object: z.literal("transcription.chunk"),
    choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })),
  })),
]);

const MAX_EVENT_LENGTH = 1024 * 1024;

export interface StreamEnd {
  /** Undefined when the upstream does not report it. */
  audioSeconds: number | undefined;
}

/** Yields all but the end, which is what it returns. Throws an UpstreamError when the stream ends early. */
export async function* readTranscriptStream(
  exchange: Exchange,
): AsyncGenerator<Exclude<TranscriptionEvent, { type: "finish" }>, StreamEnd> {
  const reader = new EventReader(MAX_EVENT_LENGTH);
  let hasDelta = false;
  let hasText = false;
  let lastEnd: number | undefined;
  for (let chunks = await exchange.read(); chunks !== undefined; chunks = await exchange.read()) {
    const messages = chunks.flatMap((chunk) => reader.read(chunk) ?? []);
    if (messages.length > 0) exchange.progress();
    for (const { data } of messages) {
      if (data.trim() === "[DONE]") return { audioSeconds: lastEnd };
      const event = toTranscriptEvent(data);
      if (event === undefined) continue;
      if ("object" in event) {
        const text = event.choices[0]?.delta.content ?? "";
        if (text !== "") yield { type: "delta", text };
        hasText = true;
      } else if (event.type === "transcript.text.delta") {
        if (event.delta !== "") yield { type: "delta", text: event.delta };
        hasDelta = true;
        hasText = true;
      } else if (event.type === "transcript.text.segment") {
        const { start, end, text } = event;
        const times = { startSeconds: start, endSeconds: end, text: text.trim(), words: undefined };
        yield { type: "segment", ...times, confidence: undefined, ...(hasDelta && { isStreamed: true }) };
        lastEnd = end;
        hasText = true;
      } else {
        // An upstream without deltas sends the complete text at the end.
        if (!hasText && event.text !== "") yield { type: "delta", text: event.text };
        return { audioSeconds: Usage.safeParse(event.usage).data?.seconds ?? lastEnd };
      }
    }
  }
  throw new UpstreamError("ended its answer before it was complete");
}

/** Returns undefined for unknown events. Throws for an error event. */
function toTranscriptEvent(data: string): z.output<typeof TranscriptEvent> | undefined {
  const event = parseOrUndefined(data);
  const error = parseUpstreamError(event);
  if (error !== undefined) throw error;
  if (event === undefined) throw new UpstreamError("sent an event that is not JSON");
  return TranscriptEvent.safeParse(event).data;
}
