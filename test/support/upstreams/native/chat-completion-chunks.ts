/** Streams of chat completions, which Azure OpenAI and Mistral share. */

import type { TokenUsage } from "../../../../src/kernel/usage.ts";
import { RequestProblem, toEvents, type WireFormat } from "./stand-in.ts";

export const ENVELOPE = {
  id: "cmpl-e5cc70bb28c444948073e77776eb30ef",
  object: "chat.completion.chunk",
  created: 1_702_256_327,
  model: "upstream-model",
};

export function toChunk(delta: object, finish_reason: string | null = null): object {
  return { ...ENVELOPE, choices: [{ index: 0, delta, finish_reason }] };
}

export function toSse(chunks: readonly object[]): string {
  return `${toEvents(chunks, false)}data: [DONE]\n\n`;
}

export const chunkStream: Pick<WireFormat, "contentType" | "begin" | "text"> = {
  contentType: "text/event-stream; charset=utf-8",
  begin: () => toEvents([toChunk({ role: "assistant", content: "" })], false),
  text: (content) => toEvents([toChunk({ content })], false),
};

export function toChatUsage({ promptTokens, completionTokens }: TokenUsage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** Throws for a prompt that is longer than the stand-in's window. */
export function checkLength(say: string): void {
  if (say.length <= 8000) return;
  throw new RequestProblem(
    `Prompt contains ${say.length} tokens, too large for model with 8000 maximum context length`,
  );
}
