/** A chat model's events as the frames of a stream. */

import type { ChatEvent, FinishReason } from "../../engines/chat-model.ts";
import { newEnvelope, toLogprobs, toReasoning, toUsage } from "./chat-envelope.ts";

interface FrameOptions {
  includeUsage: boolean;
  /** Says, once the events are over, what moderation found. */
  judged?: (() => Record<string, unknown>) | undefined;
}

/** Server-sent events, each frame whole. Failures are thrown, for the caller to render with `toErrorFrame`. */
export async function* toFrames(
  model: string,
  events: AsyncIterable<ChatEvent>,
  { includeUsage, judged }: FrameOptions,
): AsyncGenerator<string | Uint8Array> {
  const envelope = { ...newEnvelope(model), object: "chat.completion.chunk" };
  const begun = new Set<number>();
  let lastFrames: Uint8Array | undefined;
  const chunk = (index: number, part: Part) => {
    const choice = { index, delta: part.delta, logprobs: part.logprobs ?? null, finish_reason: part.reason ?? null };
    return toFrame({ ...envelope, choices: [choice], ...(includeUsage ? { usage: null } : {}) });
  };
  for await (const event of events) {
    if (event.type === "wire-frames") {
      lastFrames = event.frames;
      yield event.frames;
    } else if ("choice" in event) {
      if (!begun.has(event.choice)) {
        begun.add(event.choice);
        yield chunk(event.choice, { delta: firstDelta(event) });
      }
      const part = toPart(event);
      if (part !== undefined) yield chunk(event.choice, part);
    } else if (event.type === "finish") {
      const last = (part: object) => toFrame({ ...envelope, ...idOf(lastFrames), choices: [], ...part });
      if (includeUsage) yield event.usageFrame ?? last({ usage: toUsage(event.usage) });
      if (judged !== undefined) yield last({ moderation: judged(), ...(includeUsage ? { usage: null } : {}) });
      yield "data: [DONE]\n\n";
    }
  }
}

/** All chunks of an answer have one id; an upstream's are its own. */
function idOf(frames: Uint8Array | undefined): { id?: unknown; created?: unknown } {
  if (frames === undefined) return {};
  const text = new TextDecoder().decode(frames).trimEnd();
  const { id, created } = JSON.parse(text.slice(text.lastIndexOf("\ndata: {") + 1 + "data: ".length)) as Record<
    string,
    unknown
  >;
  return { id, ...(created === undefined ? {} : { created }) };
}

type ChoiceEvent = Extract<ChatEvent, { choice: number }>;

interface Part {
  delta: Record<string, unknown>;
  logprobs?: Record<string, unknown> | null;
  reason?: FinishReason;
}

/** Whether there will be text is not known yet where something else comes first. */
function firstDelta({ type }: ChoiceEvent): Record<string, unknown> {
  return { role: "assistant", content: type === "tool-call" || type === "reasoning" ? null : "" };
}

function toPart(event: ChoiceEvent): Part | undefined {
  switch (event.type) {
    case "text":
      if (event.text === "" && event.logprobs === undefined) return undefined;
      return { delta: { content: event.text }, logprobs: toLogprobs(event.logprobs ?? []) };
    case "reasoning":
      return { delta: toReasoning(event.text) };
    case "tool-call": {
      const { index, id, name } = event;
      return { delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] } };
    }
    case "tool-arguments":
      return { delta: { tool_calls: [{ index: event.index, function: { arguments: event.text } }] } };
    case "choice-end":
      return { delta: {}, reason: event.reason };
  }
}

function toFrame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** An error in a stream that has begun; the stream ends after it, without `[DONE]`. */
export function toErrorFrame(body: { error: object }): string {
  return toFrame(body);
}
