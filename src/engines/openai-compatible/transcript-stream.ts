/** Events of a streamed transcript as they come: OpenAI's own, or vLLM's chunks. */

import { z } from "zod";
import type { TranscriptionEvent } from "../../contracts/transcription-model.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { Exchange } from "./connection/exchange.ts";
import { eventData, parseOrUndefined } from "./connection/read-body.ts";
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

interface StreamEnd {
  /** Undefined when the upstream does not report it. */
  audioSeconds: number | undefined;
}

type TranscriptEvents = AsyncGenerator<Exclude<TranscriptionEvent, { type: "finish" }>, StreamEnd>;

/** Yields all but the end, which is what it returns. Throws an UpstreamError when the stream ends early. */
export async function* readTranscriptStream(exchange: Exchange): TranscriptEvents {
  let hasDelta = false;
  let hasText = false;
  let lastEnd: number | undefined;
  for await (const data of eventData(exchange, MAX_EVENT_LENGTH, "event")) {
    if (data.trim() === "[DONE]") return { audioSeconds: lastEnd };
    const event = toTranscriptEvent(data);
    switch (event?.type) {
      case "delta":
        if (event.text !== "") yield { type: "delta", text: event.text };
        hasDelta ||= !event.isChunk;
        break;
      case "segment":
        yield { ...event, words: undefined, confidence: undefined, ...(hasDelta && { isStreamed: true }) };
        lastEnd = event.endSeconds;
        break;
      case "done":
        // An upstream without deltas sends the complete text at the end.
        if (!hasText && event.text !== "") yield { type: "delta", text: event.text };
        return { audioSeconds: event.audioSeconds ?? lastEnd };
    }
    hasText ||= event !== undefined;
  }
  throw new UpstreamError("ended its answer before it was complete");
}

type ReadEvent =
  /** `isChunk`: from vLLM. */
  | { type: "delta"; text: string; isChunk: boolean }
  | { type: "segment"; startSeconds: number; endSeconds: number; text: string }
  | { type: "done"; text: string; audioSeconds: number | undefined };

/** Returns undefined for unknown events. Throws for an error event. */
function toTranscriptEvent(data: string): ReadEvent | undefined {
  const parsed = parseOrUndefined(data);
  const error = parseUpstreamError(parsed);
  if (error !== undefined) throw error;
  if (parsed === undefined) throw new UpstreamError("sent an event that is not JSON");
  const event = TranscriptEvent.safeParse(parsed).data;
  if (event === undefined) return undefined;
  if ("object" in event) return { type: "delta", text: event.choices[0]?.delta.content ?? "", isChunk: true };
  switch (event.type) {
    case "transcript.text.delta":
      return { type: "delta", text: event.delta, isChunk: false };
    case "transcript.text.segment":
      return { type: "segment", startSeconds: event.start, endSeconds: event.end, text: event.text.trim() };
    case "transcript.text.done":
      return { type: "done", text: event.text, audioSeconds: Usage.safeParse(event.usage).data?.seconds };
  }
}
