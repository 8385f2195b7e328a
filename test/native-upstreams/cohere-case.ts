import { expect } from "vitest";
import { cohereAnswer, cohereFormat } from "../support/upstreams/native/cohere-format.ts";
import { PNG, WEATHER } from "./apis.ts";
import type { ProviderCase } from "./provider-case.ts";

const SSE = { "content-type": "text/event-stream" };
const USAGE = {
  billed_units: { input_tokens: 90, output_tokens: 25 },
  tokens: { input_tokens: 156, output_tokens: 25 },
  cached_tokens: 30,
};

const content = (index: number, type: "text" | "thinking", pieces: readonly string[]) => [
  { type: "content-start", index, delta: { message: { content: { type, [type]: "" } } } },
  ...pieces.map((piece) => ({ type: "content-delta", index, delta: { message: { content: { [type]: piece } } } })),
  { type: "content-end", index },
];
const TEXT = content(0, "text", ["It is ", "warm."]);

const call = (index: number, id: string, pieces: readonly string[]) => [
  {
    type: "tool-call-start",
    index,
    delta: { message: { tool_calls: { id, type: "function", function: { name: "get_weather", arguments: "" } } } },
  },
  ...pieces.map((written) => ({
    type: "tool-call-delta",
    index,
    delta: { message: { tool_calls: { function: { arguments: written } } } },
  })),
  { type: "tool-call-end", index },
];

export const cohereCase: ProviderCase = {
  engine: "cohere",
  format: cohereFormat,
  settings: (origin) => ({ base_url: `${origin}/v2`, api_key: "cohere-key", model: "command-a-reasoning-08-2025" }),
  answers: {
    calls: {
      headers: SSE,
      body: cohereAnswer(
        [
          ...content(0, "thinking", ["Two ", "cities."]),
          ...call(0, "get_weather_y5cpxk7r1q0v", ['{"city":', ' "Paris"}']),
          ...call(1, "get_weather_8m2d4t9e3w1z", ['{"city": "Oslo"}']),
        ],
        "TOOL_CALL",
        USAGE,
      ),
    },
    text: { headers: SSE, body: cohereAnswer(TEXT, "COMPLETE", USAGE) },
    cut: { headers: SSE, body: cohereAnswer(TEXT, "MAX_TOKENS", USAGE) },
    limited: {
      status: 429,
      headers: { "retry-after": "17" },
      body: { message: "You are past the per minute request limit." },
    },
    overloaded: { status: 503, body: { message: "the service is unavailable" } },
    unauthorized: { status: 401, body: { message: "invalid api token" } },
  },
  writtenTokens: 0,
  hasReasoning: true,
  readsPdf: false,
  readsImages: true,
  hasSchemas: true,
  expected: {
    image: {
      messages: [{ content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }, {}] }],
    },
    tools: { tools: [{ type: "function", function: WEATHER }] },
    choices: {
      required: { tool_choice: "REQUIRED" },
      get_weather: { tool_choice: "REQUIRED", tools: [{ function: { name: "get_weather" } }] },
      none: { tool_choice: "NONE" },
    },
    results: {
      messages: [
        {},
        {
          role: "assistant",
          content: [{ type: "thinking", thinking: "Two cities." }],
          tool_calls: [{ id: "get_weather_y5cpxk7r1q0v" }, { id: "get_weather_8m2d4t9e3w1z" }],
        },
        { role: "tool", tool_call_id: "get_weather_y5cpxk7r1q0v", content: "warm" },
        { role: "tool", tool_call_id: "get_weather_8m2d4t9e3w1z", content: "cold" },
      ],
    },
    schema: { response_format: { type: "json_object", json_schema: { required: ["warm"] } } },
    effort: { thinking: { type: "enabled", token_budget: 2048 } },
  },
  credentials: ({ headers }) => expect(headers).toMatchObject({ authorization: "Bearer cohere-key" }),
  missing: { field: "logit_bias", value: { "5": 10 } },
};
