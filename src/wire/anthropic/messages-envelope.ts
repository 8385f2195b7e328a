/** Common parts of complete and streamed messages. */

import type { FinishReason } from "../../contracts/chat-model.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import type { AnswerIdentity } from "../answer-identity.ts";
import type { AnswerOf } from "../openapi/named.ts";
import type { Message } from "./message-answers.ts";
import type { MessagePart } from "./messages-parts.ts";

export function newMessage({ id, model }: AnswerIdentity): Omit<AnswerOf<typeof Message>, "usage"> {
  return {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_reason: null,
    stop_sequence: null,
  };
}

/** Converts the usage. Unlike OpenAI's, `input_tokens` excludes tokens that a cache read or wrote. */
export function toUsage(
  { promptTokens, cachedTokens, completionTokens, reasoningTokens, details }: TokenUsage,
  serverToolUse: Record<string, number> | null = null,
): AnswerOf<typeof Message>["usage"] {
  const { cacheWriteTokens = 0, cacheWriteHourTokens = 0 } = details ?? {};
  const lifetimes = {
    ephemeral_5m_input_tokens: cacheWriteTokens - cacheWriteHourTokens,
    ephemeral_1h_input_tokens: cacheWriteHourTokens,
  };
  return {
    input_tokens: promptTokens - cachedTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: cacheWriteTokens === 0 ? null : lifetimes,
    output_tokens: completionTokens,
    output_tokens_details: reasoningTokens === 0 ? null : { thinking_tokens: reasoningTokens },
    inference_geo: null,
    server_tool_use: serverToolUse,
    service_tier: "standard",
  };
}

/** Returns a block as it starts. The signature comes at its end, from providers that verify it. */
export function toEmptyBlock(part: MessagePart): AnswerOf<typeof Message>["content"][number] {
  switch (part.type) {
    case "text":
    case "refusal":
      return { type: "text", text: "" };
    case "reasoning":
      if (part.encrypted !== undefined) return { type: "redacted_thinking", data: part.encrypted };
      return { type: "thinking", thinking: "", signature: "" };
    case "tool-call":
      return { type: "tool_use", id: part.id, name: part.name, input: {}, caller: { type: "direct" } };
    case "mcp-use":
      return { type: "mcp_tool_use", id: part.id, name: part.name, server_name: part.server, input: {} };
    case "server-use":
      return { type: "server_tool_use", id: part.id, name: part.name, input: {} };
    case "server-result":
      return part.block;
    case "mcp-result": {
      const content = [{ type: "text" as const, text: part.text }];
      return { type: "mcp_tool_result", tool_use_id: part.id, is_error: part.isError, content };
    }
  }
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

interface Ending {
  reason: FinishReason;
  stopText: string | undefined;
  isRefused: boolean;
}

export function toStop({ reason, stopText, isRefused }: Ending) {
  return {
    stop_reason: isRefused ? "refusal" : stopText === undefined ? STOP_REASONS[reason] : "stop_sequence",
    stop_sequence: stopText ?? null,
  };
}
