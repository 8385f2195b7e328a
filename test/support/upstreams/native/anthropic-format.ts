/**
 * Anthropic's Messages API: requests and events as in @anthropic-ai/sdk 1.12.0, resources/messages/messages.d.ts
 * (MessageCreateParamsBase, RawMessageStreamEvent), errors as in its resources/shared.d.ts.
 */

import { z } from "zod";
import type { TokenUsage } from "../../../../src/kernel/usage.ts";
import { RequestProblem, toEvents, type WireFormat } from "./stand-in.ts";

const Cache = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() });
const marked = { cache_control: Cache.optional() };
const Text = z.strictObject({ type: z.literal("text"), text: z.string().min(1), ...marked });
const Source = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("base64"), media_type: z.string(), data: z.base64() }),
  z.strictObject({ type: z.literal("url"), url: z.url() }),
]);
const Image = z.strictObject({ type: z.literal("image"), source: Source, ...marked });
const Document = z.strictObject({
  type: z.literal("document"),
  source: Source,
  title: z.string().optional(),
  ...marked,
});
const CallId = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const Block = z.discriminatedUnion("type", [
  Text,
  Image,
  Document,
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().regex(/^[\w+/=-]+$/) }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) }),
  z.strictObject({
    type: z.literal("tool_use"),
    id: CallId,
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    caller: z.strictObject({ type: z.literal("direct") }).optional(),
    ...marked,
  }),
  z.strictObject({
    type: z.literal("tool_result"),
    tool_use_id: CallId,
    content: z.union([z.string(), z.array(z.union([Text, Image, Document]))]).optional(),
    is_error: z.boolean().optional(),
    ...marked,
  }),
]);
const parallel = { disable_parallel_tool_use: z.boolean().optional() };
const Body = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z.array(
    z.strictObject({ role: z.enum(["user", "assistant"]), content: z.union([z.string(), z.array(Block).min(1)]) }),
  ),
  system: z.union([z.string(), z.array(Text)]).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  stop_sequences: z.array(z.string()).optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
        ...marked,
      }),
    )
    .optional(),
  tool_choice: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("auto"), ...parallel }),
      z.strictObject({ type: z.literal("any"), ...parallel }),
      z.strictObject({ type: z.literal("tool"), name: z.string(), ...parallel }),
      z.strictObject({ type: z.literal("none") }),
    ])
    .optional(),
  thinking: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("adaptive"), display: z.enum(["summarized", "omitted"]).optional() }),
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024) }),
      z.strictObject({ type: z.literal("disabled") }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
      format: z.strictObject({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }).optional(),
    })
    .optional(),
  ...marked,
});

export const anthropicFormat: WireFormat = {
  contentType: "text/event-stream; charset=utf-8",
  read({ body, path, headers }) {
    if (path !== "/v1/messages") throw new RequestProblem(`there is no ${path}`);
    if (headers["anthropic-version"] === undefined) throw new RequestProblem("anthropic-version: header is required");
    const checked = Body.safeParse(body);
    if (!checked.success) throw new RequestProblem(z.prettifyError(checked.error));
    const { messages, max_tokens, stop_sequences, thinking } = checked.data;
    if (thinking?.type === "enabled" && thinking.budget_tokens >= max_tokens) {
      throw new RequestProblem("`max_tokens` must be greater than `thinking.budget_tokens`");
    }
    const say = JSON.stringify(messages.at(-1)?.content);
    if (say.length > 8000) {
      throw new RequestProblem(`prompt is too long: ${say.length} tokens > 8000 maximum`);
    }
    return { say, maxTokens: max_tokens, stop: stop_sequences ?? [] };
  },
  begin: (usage) =>
    toEvents([
      { type: "message_start", message: { ...MESSAGE, usage: toUsage({ ...usage, completionTokens: 1 }) } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations: null } },
      { type: "ping" },
    ]),
  text: (text) => toEvents([{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }]),
  end: (reason, stopText, usage) =>
    toEvents([
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: {
          stop_reason: reason === "length" ? "max_tokens" : stopText === undefined ? "end_turn" : "stop_sequence",
          stop_sequence: stopText ?? null,
        },
        usage: toUsage(usage),
      },
      { type: "message_stop" },
    ]),
  error: (status, message) => ({
    type: "error",
    error: { type: status === 400 ? "invalid_request_error" : "api_error", message },
    request_id: "req_011CSHoEeqs5C35K2UUqR7Fy",
  }),
};

const MESSAGE = {
  id: "msg_014p7gG3wDgGV9EUtLvnow3U",
  type: "message",
  role: "assistant",
  model: "claude-upstream",
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

function toUsage({
  promptTokens,
  cachedTokens,
  completionTokens,
}: Pick<TokenUsage, "promptTokens" | "cachedTokens" | "completionTokens">) {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
  };
}

/** Events of an answer from its content blocks, each block with its deltas. */
export function anthropicAnswer(
  blocks: readonly { block: object; deltas: readonly object[] }[],
  ending: { stop_reason: string; stop_details?: object; usage?: object },
): string {
  const usage = { input_tokens: 40, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 1 };
  const events = blocks.flatMap(({ block, deltas }, index) => [
    { type: "content_block_start", index, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]);
  const { usage: last = { output_tokens: 25 }, ...delta } = ending;
  return toEvents([
    { type: "message_start", message: { ...MESSAGE, usage } },
    ...events,
    { type: "message_delta", delta: { stop_sequence: null, ...delta }, usage: last },
    { type: "message_stop" },
  ]);
}
