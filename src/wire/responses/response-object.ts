/** Response object around the output: request fields, status and usage. */

import type { FinishReason } from "../../contracts/chat-model.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import type { AnswerIdentity } from "../answer-identity.ts";
import type { AnswerOf } from "../openapi/named.ts";
import type { ResponseUsage } from "./response-answers.ts";
import type { ResponsesBody } from "./responses-body.ts";

/** Builds the fields with the same value in every event. `store`: whether the response is to be stored. */
export function newResponse(
  body: ResponsesBody,
  { id, createdAt, model }: AnswerIdentity,
  store: boolean,
): Record<string, unknown> & { id: string } {
  const sent = (name: keyof ResponsesBody, absent: unknown) => body[name] ?? absent;
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: Math.floor(createdAt / 1000),
    completed_at: null,
    background: sent("background", false),
    conversation: body.conversation === undefined ? null : { id: body.conversation },
    error: null,
    frequency_penalty: sent("frequency_penalty", 0),
    incomplete_details: null,
    instructions: sent("instructions", null),
    max_output_tokens: sent("max_output_tokens", null),
    max_tool_calls: sent("max_tool_calls", null),
    metadata: sent("metadata", {}),
    model,
    parallel_tool_calls: sent("parallel_tool_calls", true),
    presence_penalty: sent("presence_penalty", 0),
    previous_response_id: sent("previous_response_id", null),
    ...shownPrompt(body),
    prompt_cache_key: sent("prompt_cache_key", null),
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    safety_identifier: sent("safety_identifier", null),
    service_tier: "default",
    store,
    temperature: sent("temperature", 1),
    text: { format: body.text?.format ?? { type: "text" }, verbosity: body.text?.verbosity ?? "medium" },
    tool_choice: sent("tool_choice", "auto"),
    tools: (body.tools ?? []).map(toShownTool),
    top_logprobs: sent("top_logprobs", 0),
    top_p: sent("top_p", 1),
    truncation: sent("truncation", "disabled"),
    ...(body.user === undefined ? {} : { user: body.user }),
  };
}

/** Returns the stored prompt of the request, with the version that was used; nothing without one. */
export function shownPrompt({ prompt }: Pick<ResponsesBody, "prompt">): { prompt?: object } {
  if (prompt === undefined) return {};
  const { id, version = null, variables = null } = prompt;
  return { prompt: { id, version, variables } };
}

/** Adds the fields of a function that OpenAI's schema requires in a response, and removes the secrets of MCP servers. */
function toShownTool<Tool extends { type: string }>(tool: Tool): object {
  if (tool.type === "mcp") {
    const { authorization: _secret, ...shown } = tool as Tool & { authorization?: unknown; headers?: object | null };
    if (shown.headers == null) return shown;
    const names = Object.keys(shown.headers).map((name) => [name, "<redacted>"]);
    return { ...shown, headers: Object.fromEntries(names) };
  }
  return tool.type === "function" ? { parameters: null, strict: null, ...tool } : tool;
}

/** Maps a finish reason to the status of the response. */
export function toEnding(reason: FinishReason): { status: string; incomplete_details: { reason: string } | null } {
  if (reason === "length") return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  if (reason === "content_filter") return { status: "incomplete", incomplete_details: { reason: "content_filter" } };
  return { status: "completed", incomplete_details: null };
}

export function toUsage(usage: TokenUsage): AnswerOf<typeof ResponseUsage> {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.details?.cacheWriteTokens ?? 0,
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}
