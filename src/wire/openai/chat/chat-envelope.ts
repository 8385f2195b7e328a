/** Common parts of complete and streamed chat answers. */

import type { TokenLogprob } from "../../../contracts/chat-model.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";
import type { AnswerIdentity } from "../../answer-identity.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { ChatCompletion, ChatUsage } from "./completion-answers.ts";

/** Fields with the same value in every part of one answer. */
interface Envelope {
  id: string;
  created: number;
  model: string;
}

export function toEnvelope({ id, createdAt, model }: AnswerIdentity, idPrefix = "chatcmpl-"): Envelope {
  return { id: `${idPrefix}${id}`, created: Math.floor(createdAt / 1000), model };
}

export function toUsage(usage: TokenUsage): AnswerOf<typeof ChatUsage> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.details?.cacheWriteTokens ?? 0,
      audio_tokens: usage.details?.inputAudioTokens ?? 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.details?.outputAudioTokens ?? 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** Renders log probabilities; null without any, as clients expect. */
export function toLogprobs(
  tokens: readonly TokenLogprob[],
): AnswerOf<typeof ChatCompletion>["choices"][number]["logprobs"] {
  if (tokens.length === 0) return null;
  const content = tokens.map(({ token, logprob, bytes, top }) => ({ token, logprob, bytes, top_logprobs: top }));
  return { content, refusal: null };
}

/** Renders reasoning under the field names of DeepSeek and vLLM, because clients read either. */
export function toReasoning(text: string): Record<string, string> {
  return { reasoning_content: text, reasoning: text };
}
