import { expect } from "vitest";
import { azureFormat } from "../support/upstreams/native/azure-format.ts";
import { ENVELOPE, toChunk, toSse } from "../support/upstreams/native/chat-completion-chunks.ts";
import type { PreparedAnswer } from "../support/upstreams/native/stand-in.ts";
import { PDF, PNG, WEATHER } from "./apis.ts";
import type { ProviderCase } from "./provider-case.ts";

const SSE = { "content-type": "text/event-stream; charset=utf-8" };
const USAGE = {
  prompt_tokens: 90,
  completion_tokens: 25,
  total_tokens: 115,
  prompt_tokens_details: { cached_tokens: 30, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 10, audio_tokens: 0 },
};
const FILTERS = { hate: { filtered: false, severity: "safe" }, violence: { filtered: false, severity: "safe" } };

const stream = (deltas: readonly object[], reason: string) => ({
  headers: SSE,
  body: toSse([
    { ...ENVELOPE, choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: FILTERS }] },
    toChunk({ role: "assistant", content: "", refusal: null }),
    ...deltas.map((delta) => toChunk(delta)),
    toChunk({}, reason),
    { ...ENVELOPE, choices: [], usage: USAGE },
  ]),
});

const call = (index: number, id: string, city: string) => [
  { tool_calls: [{ index, id, type: "function", function: { name: "get_weather", arguments: "" } }] },
  { tool_calls: [{ index, function: { arguments: JSON.stringify({ city }) } }] },
];

const error = (status: number, code: string, message: string) => ({ status, body: { error: { code, message } } });

const TEXT = [{ content: "It is " }, { content: "warm." }];

/** The chunks as one completion, for requests that are not streamed. */
function toCompletion(answer: PreparedAnswer): PreparedAnswer {
  if (typeof answer.body !== "string") return answer;
  const message: Record<string, unknown> = { role: "assistant", content: null, refusal: null };
  const calls: { function: { arguments: string } }[] = [];
  let finish_reason = "";
  for (const frame of answer.body.split("\n\n")) {
    if (!frame.startsWith("data: {")) continue;
    for (const { delta, finish_reason: reason } of JSON.parse(frame.slice(6)).choices) {
      if (delta.content) message.content = String(message.content ?? "") + delta.content;
      for (const { index, ...piece } of delta.tool_calls ?? []) {
        const known = calls[index];
        if (known === undefined) calls[index] = piece;
        else known.function.arguments += piece.function.arguments;
      }
      finish_reason = reason ?? finish_reason;
    }
  }
  if (calls.length > 0) message.tool_calls = calls;
  const choices = [{ index: 0, message, logprobs: null, finish_reason, content_filter_results: FILTERS }];
  return { body: { ...ENVELOPE, object: "chat.completion", choices, usage: USAGE } };
}

export const azureCase: ProviderCase = {
  engine: "azure-openai",
  format: azureFormat,
  settings: (origin) => ({
    base_url: origin,
    api_version: "2024-10-21",
    api_key: "azure-key",
    model: "team-gpt",
  }),
  answers: {
    calls: stream(
      [...call(0, "call_Yc2Ck5AkHGUQKzCCyRAMLYgH", "Paris"), ...call(1, "call_w0PzrmJmT6DdjkrHTPCN8Wmt", "Oslo")],
      "tool_calls",
    ),
    text: stream(TEXT, "stop"),
    cut: stream(TEXT, "length"),
    refused: stream([], "content_filter"),
    limited: { ...error(429, "429", "Requests have exceeded call rate limit."), headers: { "retry-after": "17" } },
    overloaded: error(503, "ServiceUnavailable", "The service is temporarily unable to process your request."),
    unauthorized: error(401, "401", "Access denied due to invalid subscription key or wrong API endpoint."),
  },
  writtenTokens: 0,
  hasReasoning: false,
  readsPdf: true,
  readsImages: true,
  hasSchemas: true,
  expected: {
    image: {
      messages: [{ content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }, {}] }],
    },
    pdf: {
      messages: [{ content: [{ type: "file", file: { file_data: `data:application/pdf;base64,${PDF}` } }, {}] }],
    },
    tools: { tools: [{ type: "function", function: WEATHER }] },
    choices: {
      required: { tool_choice: "required" },
      get_weather: { tool_choice: { type: "function", function: { name: "get_weather" } } },
      none: { tool_choice: "none" },
    },
    results: {
      messages: [
        {},
        {
          role: "assistant",
          tool_calls: [{ id: "call_Yc2Ck5AkHGUQKzCCyRAMLYgH" }, { id: "call_w0PzrmJmT6DdjkrHTPCN8Wmt" }],
        },
        { role: "tool", tool_call_id: "call_Yc2Ck5AkHGUQKzCCyRAMLYgH", content: "warm" },
        { role: "tool", tool_call_id: "call_w0PzrmJmT6DdjkrHTPCN8Wmt", content: "cold" },
      ],
    },
    schema: { response_format: { type: "json_schema" } },
  },
  credentials: ({ headers, path }) => {
    expect(headers).toMatchObject({ "api-key": "azure-key" });
    expect(path).toBe("/openai/deployments/team-gpt/chat/completions?api-version=2024-10-21");
  },
  forwarded: { api: "chat completions", toComplete: toCompletion },
};
