/** Messages in Anthropic's format: complete and as events. What an upstream answers may have further fields. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { openAnswers } from "../openai/open-variants.ts";
import { named } from "../openapi/named.ts";
import { AnthropicErrorAnswer } from "../openapi/service-answers.ts";

const nullable = z.string().nullable();
const count = z.int().min(0);
const countOrNull = count.nullable();
const input = z.record(z.string(), z.unknown());

const text = named(
  "MessageTextBlock",
  lazy.looseObject(() => ({
    type: z.literal("text"),
    text: z.string(),
    citations: z
      .array(z.looseObject({ type: z.string() }))
      .nullable()
      .optional(),
  })),
);

const block = openAnswers({
  text,
  thinking: named(
    "MessageThinkingBlock",
    lazy.looseObject(() => ({
      type: z.literal("thinking"),
      thinking: z.string(),
      signature: z.string().describe("Value by which the provider recognizes the thinking."),
    })),
  ),
  redacted_thinking: named(
    "MessageRedactedThinkingBlock",
    lazy.looseObject(() => ({ type: z.literal("redacted_thinking"), data: z.string() })),
  ),
  tool_use: named(
    "MessageToolUseBlock",
    lazy.looseObject(() => ({
      type: z.literal("tool_use"),
      id: z.string(),
      name: z.string(),
      input,
      caller: z.looseObject({ type: z.string() }).optional(),
    })),
  ),
  server_tool_use: named(
    "MessageServerToolUseBlock",
    lazy.looseObject(() => ({ type: z.literal("server_tool_use"), id: z.string(), name: z.string(), input })),
  ),
  web_search_tool_result: named(
    "MessageWebSearchResultBlock",
    lazy.looseObject(() => ({
      type: z.literal("web_search_tool_result"),
      tool_use_id: z.string(),
      content: z.unknown(),
    })),
  ),
  code_execution_tool_result: named(
    "MessageCodeExecutionResultBlock",
    lazy.looseObject(() => ({
      type: z.literal("code_execution_tool_result"),
      tool_use_id: z.string(),
      content: z.unknown(),
    })),
  ),
  tool_search_tool_result: named(
    "MessageToolSearchResultBlock",
    lazy.looseObject(() => ({
      type: z.literal("tool_search_tool_result"),
      tool_use_id: z.string(),
      content: z.unknown(),
    })),
  ),
  mcp_tool_use: named(
    "MessageMcpToolUseBlock",
    lazy.looseObject(() => ({
      type: z.literal("mcp_tool_use"),
      id: z.string(),
      name: z.string(),
      server_name: z.string(),
      input,
    })),
  ),
  mcp_tool_result: named(
    "MessageMcpToolResultBlock",
    lazy.looseObject(() => ({
      type: z.literal("mcp_tool_result"),
      tool_use_id: z.string(),
      is_error: z.boolean(),
      content: z.union([z.string(), z.array(text)]),
    })),
  ),
});

const MessageUsage = named(
  "MessageUsage",
  lazy.looseObject(() => ({
    input_tokens: count.describe("Without tokens that a cache read or wrote."),
    cache_creation_input_tokens: countOrNull.optional(),
    cache_read_input_tokens: countOrNull.optional(),
    cache_creation: z
      .looseObject({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count })
      .nullable()
      .optional(),
    output_tokens: count,
    output_tokens_details: z.looseObject({ thinking_tokens: count.optional() }).nullable().optional(),
    inference_geo: nullable.optional(),
    server_tool_use: z.record(z.string(), z.unknown()).nullable().optional(),
    service_tier: nullable.optional(),
  })),
);

const stop = {
  stop_reason: nullable.describe(
    "end_turn, max_tokens, stop_sequence, tool_use or refusal; upstreams may have others.",
  ),
  stop_sequence: nullable.optional(),
  stop_details: z.record(z.string(), z.unknown()).nullable().optional(),
  container: z.record(z.string(), z.unknown()).nullable().optional(),
};

export const Message = named(
  "Message",
  lazy.looseObject(() => ({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    content: z.array(block),
    model: z.string(),
    ...stop,
    diagnostics: z.record(z.string(), z.unknown()).nullable().optional(),
    usage: MessageUsage,
  })),
);
export const TokenCount = named("MessageTokenCount", z.object({ input_tokens: count }));

const delta = openAnswers({
  text_delta: z.looseObject({ type: z.literal("text_delta"), text: z.string() }),
  thinking_delta: z.looseObject({ type: z.literal("thinking_delta"), thinking: z.string() }),
  signature_delta: z.looseObject({ type: z.literal("signature_delta"), signature: z.string() }),
  citations_delta: z.looseObject({ type: z.literal("citations_delta"), citation: z.looseObject({ type: z.string() }) }),
  input_json_delta: z.looseObject({ type: z.literal("input_json_delta"), partial_json: z.string() }),
});

export const MessageEvent = named(
  "MessageEvent",
  openAnswers({
    message_start: lazy.looseObject(() => ({ type: z.literal("message_start"), message: Message })),
    content_block_start: lazy.looseObject(() => ({
      type: z.literal("content_block_start"),
      index: count,
      content_block: block,
    })),
    content_block_delta: lazy.looseObject(() => ({ type: z.literal("content_block_delta"), index: count, delta })),
    content_block_stop: z.looseObject({ type: z.literal("content_block_stop"), index: count }),
    message_delta: lazy.looseObject(() => ({
      type: z.literal("message_delta"),
      delta: z.looseObject(stop),
      usage: MessageUsage,
    })),
    message_stop: z.looseObject({ type: z.literal("message_stop") }),
    ping: z.looseObject({ type: z.literal("ping") }),
    error: AnthropicErrorAnswer,
  }),
);
