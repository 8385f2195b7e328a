import { expect } from "vitest";
import { geminiAnswer, geminiFormat } from "../support/upstreams/native/gemini-format.ts";
import { PDF, PNG, WEATHER } from "./apis.ts";
import type { ProviderCase } from "./provider-case.ts";

const SSE = { "content-type": "text/event-stream" };
const SIGNATURE = "CpcBAVSoXO5x6ZbUkV2hV7uXQ0mLzA==";
/** 25 completion tokens: 15 of the answer and 10 of reasoning. */
const USAGE = {
  promptTokenCount: 90,
  cachedContentTokenCount: 30,
  candidatesTokenCount: 15,
  thoughtsTokenCount: 10,
  totalTokenCount: 115,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 90 }],
};
const TEXT = [{ text: "It is " }, { text: "warm." }];

const error = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, message, status, details },
});

export const geminiCase: ProviderCase = {
  engine: "gemini",
  format: geminiFormat,
  settings: (origin) => ({ base_url: `${origin}/v1beta`, api_key: "google-key", model: "gemini-2.5-flash" }),
  answers: {
    calls: {
      headers: SSE,
      body: geminiAnswer(
        [
          { text: "Two cities.", thought: true },
          {
            functionCall: { id: "8f2b1a3c", name: "get_weather", args: { city: "Paris" } },
            thoughtSignature: SIGNATURE,
          },
          { functionCall: { id: "1c9d4e5f", name: "get_weather", args: { city: "Oslo" } } },
        ],
        "STOP",
        USAGE,
      ),
    },
    text: { headers: SSE, body: geminiAnswer(TEXT, "STOP", USAGE) },
    cut: { headers: SSE, body: geminiAnswer(TEXT, "MAX_TOKENS", USAGE) },
    refused: { headers: SSE, body: geminiAnswer([], "SAFETY", USAGE) },
    limited: {
      status: 429,
      body: error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "16.2s" },
      ]),
    },
    overloaded: { status: 503, body: error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.") },
    unauthorized: {
      status: 400,
      body: error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" },
      ]),
    },
  },
  writtenTokens: 0,
  hasReasoning: true,
  readsPdf: true,
  readsImages: true,
  hasSchemas: true,
  expected: {
    image: { contents: [{ role: "user", parts: [{ inlineData: { mimeType: "image/png", data: PNG } }, {}] }] },
    pdf: { contents: [{ role: "user", parts: [{ inlineData: { mimeType: "application/pdf", data: PDF } }, {}] }] },
    tools: {
      tools: [{ functionDeclarations: [{ name: "get_weather", parametersJsonSchema: WEATHER.parameters }] }],
    },
    choices: {
      required: { toolConfig: { functionCallingConfig: { mode: "ANY" } } },
      get_weather: { toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["get_weather"] } } },
      none: { toolConfig: { functionCallingConfig: { mode: "NONE" } } },
    },
    results: {
      contents: [
        {},
        {
          role: "model",
          parts: [
            {
              functionCall: { id: "8f2b1a3c", name: "get_weather", args: { city: "Paris" } },
              thoughtSignature: SIGNATURE,
            },
            { functionCall: { id: "1c9d4e5f", name: "get_weather", args: { city: "Oslo" } } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "8f2b1a3c", name: "get_weather", response: { result: "warm" } } },
            { functionResponse: { id: "1c9d4e5f", name: "get_weather", response: { result: "cold" } } },
          ],
        },
      ],
    },
    schema: {
      generationConfig: { responseMimeType: "application/json", responseJsonSchema: { required: ["warm"] } },
    },
    effort: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
  },
  credentials: ({ headers }) => expect(headers).toMatchObject({ "x-goog-api-key": "google-key" }),
  missing: { field: "logit_bias", value: { "5": 10 } },
};
