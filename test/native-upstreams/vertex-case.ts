import { expect } from "vitest";
import { geminiAnswer, VERTEX_PATH, vertexFormat } from "../support/upstreams/native/gemini-format.ts";
import { startGoogleOauth } from "../support/upstreams/native/google-oauth.ts";
import { geminiCase } from "./gemini-case.ts";
import type { ProviderCase } from "./provider-case.ts";

let keyFile = "";

const SIGNATURE = "CpcBAVSoXO5x6ZbUkV2hV7uXQ0mLzA==";
/** As the Gemini API counts, with the reasoning beside the answer. */
const USAGE = {
  ...{ promptTokenCount: 90, cachedContentTokenCount: 30, candidatesTokenCount: 15, thoughtsTokenCount: 10 },
  ...{ totalTokenCount: 115, trafficType: "ON_DEMAND" },
};
const call = (city: string) => ({ name: "get_weather", args: { city } });
const result = (weather: string) => ({ name: "get_weather", response: { result: weather } });

/** Gemini on Vertex AI, with a service account. */
export const vertexCase: ProviderCase = {
  ...geminiCase,
  name: "vertex",
  format: vertexFormat,
  async start() {
    const oauth = await startGoogleOauth();
    ({ keyFile } = oauth);
    return oauth;
  },
  settings: (origin) => ({
    base_url: origin + VERTEX_PATH,
    vertex: { project: "my-project", location: "europe-west4" },
    ...{ service_account_file: keyFile, model: "gemini-2.5-flash" },
  }),
  answers: {
    ...geminiCase.answers,
    calls: {
      headers: { "content-type": "text/event-stream" },
      body: geminiAnswer(
        [
          { text: "Two cities.", thought: true },
          { functionCall: call("Paris"), thoughtSignature: SIGNATURE },
          { functionCall: call("Oslo") },
        ],
        "STOP",
        USAGE,
      ),
    },
    unauthorized: {
      status: 401,
      body: {
        error: {
          ...{ code: 401, status: "UNAUTHENTICATED" },
          message: "Request had invalid authentication credentials. Expected OAuth 2 access token.",
        },
      },
    },
  },
  expected: {
    ...geminiCase.expected,
    results: {
      contents: [
        {},
        {
          role: "model",
          parts: [{ functionCall: call("Paris"), thoughtSignature: SIGNATURE }, { functionCall: call("Oslo") }],
        },
        { role: "user", parts: [{ functionResponse: result("warm") }, { functionResponse: result("cold") }] },
      ],
    },
  },
  credentials: ({ headers }) => expect(headers.authorization).toBe("Bearer token-1"),
};
