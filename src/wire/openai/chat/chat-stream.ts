/** Renders a chat answer as the frames of a stream. */

import type { FinishReason } from "../../../contracts/chat-model.ts";
import type { ForwardedEvent } from "../../../contracts/chat-proxy.ts";
import { parseEvents } from "../../../kernel/server-sent-events.ts";
import type { AnswerIdentity } from "../../answer-identity.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { RenderedAnswer, RenderModeration } from "./chat-answer.ts";
import { toEnvelope, toLogprobs, toReasoning, toUsage } from "./chat-envelope.ts";
import type { ChatDelta } from "./completion-answers.ts";
import { ReasoningDetails, toExtraContent } from "./reasoning-details.ts";
import type { RenderedEvent } from "./searched-events.ts";
import { toUrlCitations } from "./url-citations.ts";

export interface FrameOptions {
  includeUsage: boolean;
  /** Whether chunks before the one with the usage say so with null; default: as OpenAI's do. */
  hasNullUsage?: boolean;
  moderation?: RenderModeration;
}

export const DONE = "data: [DONE]\n\n";

/** Yields the frames of an upstream's answer; `chunk` begins those that are added. */
export async function* passOn(
  bytes: AsyncIterable<ForwardedEvent>,
  chunk: object,
  { includeUsage, moderation }: FrameOptions,
): AsyncGenerator<string | Uint8Array> {
  let lastFrames: Uint8Array | undefined;
  for await (const event of bytes) {
    if (event.type === "frames") {
      lastFrames = event.frames;
      yield event.frames;
      continue;
    }
    const last = (part: object) => toFrame({ ...chunk, ...idOf(lastFrames), choices: [], ...part });
    if (includeUsage) yield event.usageFrame ?? last({ usage: toUsage(event.usage) });
    if (moderation !== undefined) yield last({ moderation: moderation(), ...(includeUsage ? { usage: null } : {}) });
    yield DONE;
  }
}

/** Yields server-sent events, each frame complete. Throws failures, which the caller renders with `toErrorFrame`. */
export async function* toFrames(
  answer: RenderedAnswer,
  { includeUsage, hasNullUsage = includeUsage, moderation }: FrameOptions,
): AsyncGenerator<string> {
  const envelope = newChatChunk(answer);
  const unreported = hasNullUsage ? { usage: null } : {};
  const deltas = new Deltas();
  for await (const event of answer.events) {
    if ("choice" in event) {
      for (const part of deltas.of(event)) {
        const { delta, logprobs = null, reason = null } = part;
        const choice = { index: event.choice, delta, logprobs, finish_reason: reason };
        yield toFrame({ ...envelope, choices: [choice], ...unreported });
      }
    } else if (event.type === "finish") {
      const last = (part: object) => toFrame({ ...envelope, choices: [], ...part });
      if (includeUsage) yield last({ usage: toUsage(event.usage) });
      if (moderation !== undefined) yield last({ moderation: moderation(), ...unreported });
      yield DONE;
    }
  }
}

/** Deltas of the choices: the first one of each has its role. */
class Deltas {
  readonly #begun = new Set<number>();
  readonly #reasoning: ReasoningDetails[] = [];

  *of(event: ChoiceEvent): Generator<Part> {
    if (!this.#begun.has(event.choice)) {
      this.#begun.add(event.choice);
      yield { delta: firstDelta(event) };
    }
    const part = toPart(event);
    if (part !== undefined) yield part;
    const detail = event.type === "reasoning" ? detailsOf(this.#reasoning, event.choice).add(event) : undefined;
    if (detail !== undefined) yield { delta: { reasoning_details: [detail] } };
  }
}

function detailsOf(reasoning: ReasoningDetails[], choice: number): ReasoningDetails {
  reasoning[choice] ??= new ReasoningDetails();
  return reasoning[choice];
}

export function newChatChunk(answer: AnswerIdentity): object {
  return { ...toEnvelope(answer), object: "chat.completion.chunk" };
}

/** Returns the ID of an upstream's frames, because all chunks of an answer must have the same ID. */
function idOf(frames: Uint8Array | undefined): { id?: unknown; created?: unknown } {
  if (frames === undefined) return {};
  const { id, created } = JSON.parse(parseEvents(frames).at(-1)?.data ?? "{}") as Record<string, unknown>;
  return { id, ...(created === undefined ? {} : { created }) };
}

type ChoiceEvent = Extract<RenderedEvent, { choice: number }>;

interface Part {
  delta: AnswerOf<typeof ChatDelta>;
  logprobs?: ReturnType<typeof toLogprobs>;
  reason?: FinishReason;
}

/** Builds the first delta; its content is null if the answer does not begin with text. */
function firstDelta({ type }: ChoiceEvent): Part["delta"] {
  return { role: "assistant", content: type === "tool-call" || type === "reasoning" ? null : "" };
}

function toPart(event: ChoiceEvent): Part | undefined {
  switch (event.type) {
    case "text":
      if (event.text === "" && event.logprobs === undefined) return undefined;
      if (event.isRefusal) return { delta: { refusal: event.text } };
      return { delta: { content: event.text }, logprobs: toLogprobs(event.logprobs ?? []) };
    case "reasoning":
      return event.text === "" ? undefined : { delta: toReasoning(event.text) };
    case "tool-call": {
      const { index, id, name, signature } = event;
      const call = {
        index,
        id,
        type: "function" as const,
        function: { name, arguments: "" },
        ...toExtraContent(signature),
      };
      return { delta: { tool_calls: [call] } };
    }
    case "tool-arguments":
      return { delta: { tool_calls: [{ index: event.index, function: { arguments: event.text } }] } };
    case "annotations":
      return { delta: { annotations: toUrlCitations(event.annotations) } };
    case "choice-end":
      return { delta: {}, reason: event.reason };
  }
}

export function toFrame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Renders an error within a stream, which ends after it without `[DONE]`. */
export function toErrorFrame(body: { error: object }): string {
  return toFrame(body);
}
