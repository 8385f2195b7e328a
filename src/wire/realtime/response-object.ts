/** The response object of `response.created` and `response.done`. */

import type { TokenUsage } from "../../kernel/usage.ts";
import type { ResponseParameters } from "./client-events.ts";
import type { ConversationItem } from "./conversation-items.ts";
import type { SessionSettings } from "./session-settings.ts";

/** How a response has ended, or that it runs. */
export type EndedResponse =
  | { status: "in_progress" | "completed" }
  | { status: "cancelled" | "incomplete"; reason: string }
  | { status: "failed"; error: Record<string, unknown> };

interface ResponseFacts {
  id: string;
  settings: SessionSettings;
  parameters: ResponseParameters;
  isInConversation: boolean;
  ended: EndedResponse;
  output: readonly ConversationItem[];
  usage: TokenUsage | undefined;
}

export function toResponseObject(facts: ResponseFacts): object {
  const { id, settings, parameters, ended } = facts;
  return {
    id,
    object: "realtime.response",
    status: ended.status,
    status_details: toDetails(ended),
    output: facts.output,
    conversation_id: facts.isInConversation ? "conv_default" : null,
    output_modalities: parameters.output_modalities ?? [settings.outputModality],
    audio: {
      output: { format: settings.outputFormat, voice: parameters.audio?.output?.voice ?? settings.voice },
    },
    max_output_tokens: parameters.max_output_tokens ?? settings.maxOutputTokens,
    metadata: parameters.metadata ?? null,
    usage: facts.usage && toUsage(facts.usage),
  };
}

function toDetails(ended: EndedResponse): object | undefined {
  const { status: type } = ended;
  if ("reason" in ended) return { type, reason: ended.reason };
  if ("error" in ended) return { type, error: ended.error };
  return undefined;
}

/** The chat model reads and writes text; speech is counted in the usage of its own model. */
function toUsage({ promptTokens, completionTokens, cachedTokens }: TokenUsage): object {
  return {
    total_tokens: promptTokens + completionTokens,
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    input_token_details: {
      text_tokens: promptTokens,
      audio_tokens: 0,
      image_tokens: 0,
      cached_tokens: cachedTokens,
      cached_tokens_details: { text_tokens: cachedTokens, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: completionTokens, audio_tokens: 0 },
  };
}
