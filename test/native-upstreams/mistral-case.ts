import { expect } from "vitest";
import { toChunk, toSse } from "../support/upstreams/native/chat-completion-chunks.ts";
import { mistralFormat } from "../support/upstreams/native/mistral-format.ts";
import { PDF, PNG, WEATHER } from "./apis.ts";
import type { ProviderCase } from "./provider-case.ts";

const SSE = { "content-type": "text/event-stream; charset=utf-8" };
const USAGE = {
  prompt_tokens: 90,
  completion_tokens: 25,
  total_tokens: 115,
  prompt_tokens_details: { cached_tokens: 30 },
};

const text = (reason: string) =>
  toSse([
    toChunk({ role: "assistant", content: "" }),
    toChunk({ content: "It is " }),
    { ...toChunk({ content: "warm." }, reason), usage: USAGE },
  ]);

const thinking = (piece: string) => ({
  content: [{ type: "thinking", thinking: [{ type: "text", text: piece }] }],
});

const call = (id: string, city: string, index: number) => ({
  id,
  function: { name: "get_weather", arguments: JSON.stringify({ city }) },
  index,
});

const error = (status: number, message: string) => ({
  status,
  body: { object: "error", message, type: "error", param: null, code: null },
});

export const mistralCase: ProviderCase = {
  engine: "mistral",
  format: mistralFormat,
  settings: (origin) => ({ base_url: `${origin}/v1`, api_key: "mistral-key", model: "magistral-medium-latest" }),
  answers: {
    calls: {
      headers: SSE,
      body: toSse([
        toChunk({ role: "assistant", content: "" }),
        toChunk(thinking("Two ")),
        toChunk(thinking("cities.")),
        {
          ...toChunk(
            { content: "", tool_calls: [call("VvvODy9mT", "Paris", 0), call("xR2pQz71k", "Oslo", 1)] },
            "tool_calls",
          ),
          usage: USAGE,
        },
      ]),
    },
    text: { headers: SSE, body: text("stop") },
    cut: { headers: SSE, body: text("model_length") },
    refused: { headers: SSE, body: text("content_filter") },
    limited: { ...error(429, "Requests rate limit exceeded"), headers: { "retry-after": "17" } },
    overloaded: error(503, "Service unavailable"),
    unauthorized: { status: 401, body: { detail: "Unauthorized" } },
  },
  writtenTokens: 0,
  hasReasoning: true,
  readsPdf: true,
  readsImages: true,
  hasSchemas: true,
  expected: {
    image: { messages: [{ content: [{ type: "image_url", image_url: `data:image/png;base64,${PNG}` }, {}] }] },
    pdf: {
      messages: [{ content: [{ type: "document_url", document_url: `data:application/pdf;base64,${PDF}` }, {}] }],
    },
    tools: { tools: [{ type: "function", function: WEATHER }] },
    choices: {
      required: { tool_choice: "any" },
      get_weather: { tool_choice: { type: "function", function: { name: "get_weather" } } },
      none: { tool_choice: "none" },
    },
    results: {
      messages: [
        {},
        {
          role: "assistant",
          content: [{ type: "thinking", thinking: [{ type: "text", text: "Two cities." }], closed: true }],
          tool_calls: [
            { id: "VvvODy9mT", function: { name: "get_weather" } },
            { id: "xR2pQz71k", function: { name: "get_weather" } },
          ],
        },
        { role: "tool", tool_call_id: "VvvODy9mT", content: "warm" },
        { role: "tool", tool_call_id: "xR2pQz71k", content: "cold" },
      ],
    },
    schema: { response_format: { type: "json_schema", json_schema: { strict: true } } },
  },
  credentials: ({ headers }) => expect(headers).toMatchObject({ authorization: "Bearer mistral-key" }),
  missing: { field: "top_k", value: 7 },
};
