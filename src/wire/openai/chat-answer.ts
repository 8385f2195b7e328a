/** A chat model's events as one `chat.completion`, or as the frames of a stream. */

import { randomBytes } from "node:crypto";
import type { ChatEvent, ChatUsage, FinishReason } from "../../engines/chat-model.ts";

/** What stays the same in every part of one answer. */
interface Envelope {
  id: string;
  created: number;
  model: string;
}

function newEnvelope(model: string): Envelope {
  return { id: `chatcmpl-${randomBytes(16).toString("hex")}`, created: Math.floor(Date.now() / 1000), model };
}

/** Folds the events into the JSON answer. `judged` says, once they are over, what moderation found. */
export async function toCompletion(
  model: string,
  events: AsyncIterable<ChatEvent>,
  judged?: () => Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { id, created } = newEnvelope(model);
  let text = "";
  let reason: FinishReason = "stop";
  let completion: Record<string, unknown> | undefined;
  for await (const event of events) {
    if (event.type === "text") text += event.text;
    else if (event.type === "choice-end") reason = event.reason;
    else if (event.type === "wire-completion") completion = event.completion;
    else if (event.type === "finish") {
      completion ??= {
        id,
        object: "chat.completion",
        created,
        model,
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: text, refusal: null },
            logprobs: null,
            finish_reason: reason,
          },
        ],
        usage: toUsage(event.usage),
      };
    }
  }
  // Without an end there is an abort behind it, and nobody is left to read the answer.
  if (completion === undefined) return {};
  return judged === undefined ? completion : { ...completion, moderation: judged() };
}

/** Server-sent events, each frame whole. Failures are thrown, for the caller to render with `toErrorFrame`. */
export async function* toFrames(
  model: string,
  events: AsyncIterable<ChatEvent>,
  options: { includeUsage: boolean; judged?: (() => Record<string, unknown>) | undefined },
): AsyncGenerator<string | Uint8Array> {
  const envelope = newEnvelope(model);
  const chunk = (delta: Record<string, unknown>, reason: FinishReason | null) =>
    toFrame({
      ...envelope,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      ...(options.includeUsage ? { usage: null } : {}),
    });
  let hasBegun = false;
  let isWire = false;
  for await (const event of events) {
    if (event.type === "start") continue;
    if (event.type === "wire-frames") {
      isWire = true;
      yield event.frames;
      continue;
    }
    if (!hasBegun && !isWire) {
      hasBegun = true;
      yield chunk({ role: "assistant", content: "" }, null);
    }
    if (event.type === "text") yield chunk({ content: event.text }, null);
    if (event.type === "choice-end") yield chunk({}, event.reason);
    if (event.type !== "finish") continue;
    if (options.includeUsage && event.usageFrame !== undefined) yield event.usageFrame;
    else if (options.includeUsage) {
      const usage = toUsage(event.usage);
      yield toFrame({ ...envelope, object: "chat.completion.chunk", choices: [], usage });
    }
    if (options.judged !== undefined) {
      yield toFrame({ ...envelope, object: "chat.completion.chunk", choices: [], moderation: options.judged() });
    }
    yield "data: [DONE]\n\n";
  }
}

function toFrame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** An error in a stream that has begun; the stream ends after it, without `[DONE]`. */
export function toErrorFrame(body: { error: object }): string {
  return toFrame(body);
}

function toUsage(usage: ChatUsage): Record<string, unknown> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
