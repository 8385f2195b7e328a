import { expect } from "vitest";
import { AWS_KEYS, bedrockAnswer, bedrockFormat } from "../support/upstreams/native/bedrock-format.ts";
import { PDF, PNG, WEATHER } from "./apis.ts";
import type { ProviderCase } from "./provider-case.ts";

const HEADERS = { "content-type": "application/vnd.amazon.eventstream" };
const SIGNATURE = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds=";
const USAGE = {
  inputTokens: 40,
  outputTokens: 25,
  totalTokens: 115,
  cacheReadInputTokens: 30,
  cacheWriteInputTokens: 20,
  cacheDetails: [{ ttl: "5m", inputTokens: 20 }],
};
const TEXT = [{ deltas: [{ text: "It is " }, { text: "warm." }] }];

const call = (toolUseId: string, pieces: readonly string[]) => ({
  start: { toolUse: { toolUseId, name: "get_weather" } },
  deltas: pieces.map((input) => ({ toolUse: { input } })),
});

const error = (status: number, type: string, message: string) => ({
  status,
  headers: { "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
  body: { message },
});

export const bedrockCase: ProviderCase = {
  engine: "bedrock",
  format: bedrockFormat,
  settings: (origin) => ({
    region: "eu-central-1",
    base_url: origin,
    access_key_id: AWS_KEYS.accessKeyId,
    secret_access_key: AWS_KEYS.secretAccessKey,
    model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
  }),
  answers: {
    calls: {
      headers: HEADERS,
      body: bedrockAnswer(
        [
          {
            deltas: [
              { reasoningContent: { text: "Two " } },
              { reasoningContent: { text: "cities." } },
              { reasoningContent: { signature: SIGNATURE } },
            ],
          },
          call("tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", ['{"city":', ' "Paris"}']),
          call("tooluse_LRwmVqFPTGKjcUXjFLaKbA", ['{"city": "Oslo"}']),
        ],
        "tool_use",
        USAGE,
      ),
    },
    text: { headers: HEADERS, body: bedrockAnswer(TEXT, "end_turn", USAGE) },
    cut: { headers: HEADERS, body: bedrockAnswer(TEXT, "max_tokens", USAGE) },
    refused: { headers: HEADERS, body: bedrockAnswer([], "guardrail_intervened", USAGE) },
    limited: {
      ...error(429, "ThrottlingException", "Too many requests, please wait before trying again."),
      headers: { "x-amzn-errortype": "ThrottlingException", "retry-after": "17" },
    },
    overloaded: error(503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
    unauthorized: error(403, "UnrecognizedClientException", "The security token included in the request is invalid."),
  },
  writtenTokens: 20,
  hasReasoning: true,
  readsPdf: true,
  readsImages: true,
  hasSchemas: true,
  expected: {
    image: { messages: [{ content: [{ image: { format: "png", source: { bytes: PNG } } }, {}] }] },
    pdf: { messages: [{ content: [{ document: { format: "pdf", source: { bytes: PDF } } }, {}] }] },
    tools: {
      toolConfig: { tools: [{ toolSpec: { name: "get_weather", inputSchema: { json: WEATHER.parameters } } }] },
    },
    choices: {
      required: { toolConfig: { toolChoice: { any: {} } } },
      get_weather: { toolConfig: { toolChoice: { tool: { name: "get_weather" } } } },
      // The API has no such choice: without tools, the model calls none.
      none: { messages: [{ role: "user" }] },
    },
    results: {
      messages: [
        {},
        {
          role: "assistant",
          content: [
            { reasoningContent: { reasoningText: { text: "Two cities.", signature: SIGNATURE } } },
            { toolUse: { toolUseId: "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", input: { city: "Paris" } } },
            { toolUse: { toolUseId: "tooluse_LRwmVqFPTGKjcUXjFLaKbA", input: { city: "Oslo" } } },
          ],
        },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", content: [{ text: "warm" }] } },
            { toolResult: { toolUseId: "tooluse_LRwmVqFPTGKjcUXjFLaKbA", content: [{ text: "cold" }] } },
          ],
        },
      ],
    },
    schema: { outputConfig: { textFormat: { type: "json_schema" } } },
    effort: { additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2048 } } },
    marked: { system: [{ text: "Be short." }, { cachePoint: { type: "default" } }] },
  },
  credentials: ({ headers, path }) => {
    expect(headers.authorization).toContain(`Credential=${AWS_KEYS.accessKeyId}/`);
    expect(path).toBe("/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream");
  },
  missing: { field: "seed", value: 7 },
};
