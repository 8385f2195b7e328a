import { expect } from "vitest";
import { anthropicAnswer, anthropicFormat } from "../support/upstreams/native/anthropic-format.ts";
import type { PreparedAnswer } from "../support/upstreams/native/stand-in.ts";
import { PDF, PNG, WEATHER } from "./apis.ts";
import type { ProviderCase } from "./provider-case.ts";

const SSE = { "content-type": "text/event-stream; charset=utf-8" };
const SIGNATURE = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds=";

const text = (stop_reason: string) =>
  anthropicAnswer(
    [
      {
        block: { type: "text", text: "", citations: null },
        deltas: ["It is ", "warm."].map((piece) => ({ type: "text_delta", text: piece })),
      },
    ],
    { stop_reason },
  );

const call = (id: string, pieces: readonly string[]) => ({
  block: { type: "tool_use", id, name: "get_weather", input: {}, caller: { type: "direct" } },
  deltas: ["", ...pieces].map((partial_json) => ({ type: "input_json_delta", partial_json })),
});

const error = (type: string, message: string) => ({ type: "error", error: { type, message }, request_id: "req_1" });

export const anthropicCase: ProviderCase = {
  engine: "anthropic",
  format: anthropicFormat,
  settings: (origin) => ({ base_url: `${origin}/v1`, api_key: "sk-ant-key", model: "claude-sonnet-4-5" }),
  answers: {
    calls: {
      headers: SSE,
      body: anthropicAnswer(
        [
          {
            block: { type: "thinking", thinking: "", signature: "" },
            deltas: [
              { type: "thinking_delta", thinking: "Two " },
              { type: "thinking_delta", thinking: "cities." },
              { type: "signature_delta", signature: SIGNATURE },
            ],
          },
          { block: { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" }, deltas: [] },
          call("toolu_01T1x1fJ34qAmk2tNTrN7Up6", ['{"city":', ' "Paris"}']),
          call("toolu_01A09q90qw90lq917835lq9", ['{"city": "Oslo"}']),
        ],
        { stop_reason: "tool_use" },
      ),
    },
    text: { headers: SSE, body: text("end_turn") },
    cut: { headers: SSE, body: text("max_tokens") },
    refused: {
      headers: SSE,
      body: anthropicAnswer([], {
        stop_reason: "refusal",
        stop_details: { type: "refusal", category: "cyber", explanation: "This helps an attack." },
      }),
    },
    limited: {
      status: 429,
      headers: { "retry-after": "17" },
      body: error("rate_limit_error", "This request would exceed your organization's rate limit."),
    },
    overloaded: { status: 529, body: error("overloaded_error", "Overloaded") },
    unauthorized: { status: 401, body: error("authentication_error", "invalid x-api-key") },
  },
  writtenTokens: 20,
  hasReasoning: true,
  readsPdf: true,
  readsImages: true,
  hasSchemas: true,
  expected: {
    image: {
      messages: [
        {
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            { type: "text" },
          ],
        },
      ],
    },
    pdf: {
      messages: [
        {
          content: [
            { type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } },
            { type: "text" },
          ],
        },
      ],
    },
    tools: { tools: [{ name: "get_weather", input_schema: WEATHER.parameters }] },
    choices: {
      required: { tool_choice: { type: "any" } },
      get_weather: { tool_choice: { type: "tool", name: "get_weather" } },
      none: { tool_choice: { type: "none" } },
    },
    results: {
      messages: [
        {},
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Two cities.", signature: SIGNATURE },
            { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" },
            { type: "tool_use", id: "toolu_01T1x1fJ34qAmk2tNTrN7Up6", input: { city: "Paris" } },
            { type: "tool_use", id: "toolu_01A09q90qw90lq917835lq9", input: { city: "Oslo" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_01T1x1fJ34qAmk2tNTrN7Up6" },
            { type: "tool_result", tool_use_id: "toolu_01A09q90qw90lq917835lq9" },
          ],
        },
      ],
    },
    schema: { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
    effort: { thinking: { type: "enabled", budget_tokens: 2048 } },
    marked: { system: [{ text: "Be short.", cache_control: { type: "ephemeral" } }] },
  },
  credentials: ({ headers }) => expect(headers).toMatchObject({ "x-api-key": "sk-ant-key" }),
  missing: { field: "seed", value: 7 },
  forwarded: { api: "Messages", toComplete: toMessage },
};

/** The message that the events of a stream add up to. */
function toMessage(answer: PreparedAnswer): PreparedAnswer {
  if (typeof answer.body !== "string") return answer;
  const events = answer.body
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)));
  const content: Record<string, unknown>[] = [];
  let message: Record<string, unknown> = {};
  const inputs: string[] = [];
  for (const { type, index, ...event } of events) {
    if (type === "message_start") message = { ...event.message };
    if (type === "content_block_start") content[index] = { ...event.content_block };
    if (type === "content_block_delta") {
      const { type: _, partial_json, ...pieces } = event.delta;
      if (partial_json !== undefined) inputs[index] = (inputs[index] ?? "") + partial_json;
      for (const [name, piece] of Object.entries(pieces)) {
        const block = content[index] as Record<string, unknown>;
        block[name] = String(block[name] ?? "") + String(piece);
      }
    }
    if (type === "message_delta") {
      message = { ...message, ...event.delta, usage: { ...(message.usage as object), ...event.usage } };
    }
  }
  for (const [index, input] of inputs.entries()) {
    if (input !== undefined) (content[index] as Record<string, unknown>).input = JSON.parse(input);
  }
  return { body: { ...message, content } };
}
