/**
 * Cohere's API, version 2: requests and events as in cohere-ai 8.1.0, dist/api
 * (resources/v2/client/requests/V2ChatStreamRequest.d.ts, resources/v2/types/V2ChatStreamResponse.d.ts) and their names on
 * the wire in dist/serialization.
 */

import { z } from "zod";
import type { TokenUsage } from "../../../../src/kernel/usage.ts";
import { RequestProblem, toEvents, type WireFormat } from "./stand-in.ts";

const Text = z.strictObject({ type: z.literal("text"), text: z.string() });
const Call = z.strictObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});
const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: z.union([z.string(), z.array(Text)]) }),
  z.strictObject({
    role: z.literal("user"),
    content: z.union([
      z.string(),
      z.array(
        z.union([
          Text,
          z.strictObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: z.string() }) }),
        ]),
      ),
    ]),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z
      .union([
        z.string(),
        z.array(z.union([Text, z.strictObject({ type: z.literal("thinking"), thinking: z.string() })])),
      ])
      .optional(),
    tool_plan: z.string().optional(),
    tool_calls: z.array(Call).optional(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: z.string(), content: z.union([z.string(), z.array(Text)]) }),
]);
const Body = z.strictObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  p: z.number().optional(),
  k: z.int().optional(),
  max_tokens: z.int().optional(),
  stop_sequences: z.array(z.string()).max(5).optional(),
  seed: z.int().optional(),
  frequency_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  response_format: z
    .strictObject({ type: z.enum(["text", "json_object"]), json_schema: z.record(z.string(), z.unknown()).optional() })
    .optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: z.string(),
          description: z.string().optional(),
          parameters: z.looseObject({}),
        }),
      }),
    )
    .optional(),
  tool_choice: z.enum(["REQUIRED", "NONE"]).optional(),
  thinking: z.strictObject({ type: z.enum(["enabled", "disabled"]), token_budget: z.int().optional() }).optional(),
  safety_mode: z.enum(["CONTEXTUAL", "STRICT", "OFF"]).optional(),
});

export const cohereFormat: WireFormat = {
  contentType: "text/event-stream",
  read({ path, body }) {
    if (path === "/v2/embed" || path === "/v2/rerank") return { say: "", maxTokens: undefined, stop: [] };
    if (path !== "/v2/chat") throw new RequestProblem(`there is no ${path}`);
    const checked = Body.safeParse(body);
    if (!checked.success) throw new RequestProblem(z.prettifyError(checked.error));
    const { messages, max_tokens, stop_sequences } = checked.data;
    const say = JSON.stringify(messages.at(-1)?.content);
    if (say.length > 8000) {
      const limit = "total number of tokens (prompt and prediction) cannot exceed 8000";
      throw new RequestProblem(`too many tokens: ${limit} - received ${say.length}.`);
    }
    return { say, maxTokens: max_tokens, stop: stop_sequences ?? [] };
  },
  begin: () =>
    toEvents([
      { type: "message-start", id: "29f14a5a-11de-4cae-9800-25e4747408ea", delta: { message: { role: "assistant" } } },
      { type: "content-start", index: 0, delta: { message: { content: { type: "text", text: "" } } } },
    ]),
  text: (text) => toEvents([{ type: "content-delta", index: 0, delta: { message: { content: { text } } } }]),
  end: (reason, stopText, usage) =>
    toEvents([
      { type: "content-end", index: 0 },
      {
        type: "message-end",
        delta: {
          finish_reason: reason === "length" ? "MAX_TOKENS" : stopText === undefined ? "COMPLETE" : "STOP_SEQUENCE",
          usage: toUsage(usage),
        },
      },
    ]),
  error: (_status, message) => ({ id: "7a2c1b", message }),
};

function toUsage({ promptTokens, completionTokens }: TokenUsage) {
  const counts = { input_tokens: promptTokens, output_tokens: completionTokens };
  return { billed_units: counts, tokens: { ...counts, input_tokens: promptTokens + 66 } };
}

/** Events of an answer around the given ones. */
export function cohereAnswer(events: readonly object[], finish_reason: string, usage: object): string {
  return toEvents([
    { type: "message-start", id: "29f14a5a-11de-4cae-9800-25e4747408ea", delta: { message: { role: "assistant" } } },
    ...events,
    { type: "message-end", delta: { finish_reason, usage } },
  ]);
}
