/**
 * The official SDK of each provider with the stand-in that tests use in the provider's place: it parses every prepared
 * answer, and the stand-in takes its requests, so both have the provider's API. Anthropic's SDK and OpenAI's, for Azure,
 * are dependencies; the others are installed here.
 */

import { execFile } from "node:child_process";
import { cp, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import { AzureOpenAI } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anthropicCase } from "../native-upstreams/anthropic-case.ts";
import { WEATHER } from "../native-upstreams/apis.ts";
import { azureCase } from "../native-upstreams/azure-case.ts";
import { bedrockCase } from "../native-upstreams/bedrock-case.ts";
import { cohereCase } from "../native-upstreams/cohere-case.ts";
import { geminiCase } from "../native-upstreams/gemini-case.ts";
import { mistralCase } from "../native-upstreams/mistral-case.ts";
import type { ProviderCase } from "../native-upstreams/provider-case.ts";
import { AWS_KEYS } from "../support/upstreams/native/bedrock-format.ts";
import { type StandIn, startStandIn } from "../support/upstreams/native/stand-in.ts";

const DIRECTORY = resolve(import.meta.dirname, "../../node_modules/.cache/npm-clients/providers");
const SAY = "How is the weather?";
const { name, description, parameters } = WEATHER;

/** What an SDK makes of a stream. */
interface Parsed {
  text: string;
  calls: { name: unknown; arguments: unknown }[];
  completionTokens: unknown;
}

interface Sdk {
  provider: ProviderCase;
  /** Streams an answer to a question with a tool. */
  stream(origin: string): Promise<Parsed>;
}

// The SDKs that are installed here have types of their own, which are not installed where types are checked.
// biome-ignore lint/suspicious/noExplicitAny: see above
async function load(sdk: string): Promise<any> {
  return import(pathToFileURL(createRequire(join(DIRECTORY, "package.json")).resolve(sdk)).href);
}

const SDKS: Readonly<Record<string, Sdk>> = {
  "@anthropic-ai/sdk": {
    provider: anthropicCase,
    async stream(baseURL) {
      const client = new Anthropic({ baseURL, apiKey: "key", maxRetries: 0 });
      const { content, usage } = await client.messages
        .stream({
          model: "claude-sonnet-4-5",
          max_tokens: 4000,
          thinking: { type: "enabled", budget_tokens: 2048 },
          tools: [{ name, description, input_schema: parameters as Anthropic.Tool.InputSchema }],
          messages: [{ role: "user", content: SAY }],
        })
        .finalMessage();
      return {
        text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
        calls: content.flatMap((block) =>
          block.type === "tool_use" ? [{ name: block.name, arguments: block.input }] : [],
        ),
        completionTokens: usage.output_tokens,
      };
    },
  },
  "openai (AzureOpenAI)": {
    provider: azureCase,
    async stream(endpoint) {
      const options = { endpoint, apiKey: "key", apiVersion: "2024-10-21", deployment: "team-gpt", maxRetries: 0 };
      const { choices, usage } = await new AzureOpenAI(options).chat.completions
        .stream({
          model: "team-gpt",
          stream_options: { include_usage: true },
          tools: [{ type: "function", function: WEATHER }],
          messages: [{ role: "user", content: SAY }],
        })
        .finalChatCompletion();
      const message = choices[0]?.message;
      return {
        text: message?.content ?? "",
        calls: (message?.tool_calls ?? []).flatMap((call) =>
          call.type === "function"
            ? [{ name: call.function.name, arguments: JSON.parse(call.function.arguments) }]
            : [],
        ),
        completionTokens: usage?.completion_tokens,
      };
    },
  },
  "@google/genai": {
    provider: geminiCase,
    async stream(baseUrl) {
      const { GoogleGenAI } = await load("@google/genai");
      const client = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl } });
      const stream = await client.models.generateContentStream({
        model: "gemini-2.5-flash",
        contents: SAY,
        config: { tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }] },
      });
      const parsed: Parsed = { text: "", calls: [], completionTokens: undefined };
      for await (const chunk of stream) {
        parsed.text += chunk.text ?? "";
        for (const call of chunk.functionCalls ?? []) parsed.calls.push({ name: call.name, arguments: call.args });
        const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = chunk.usageMetadata ?? {};
        parsed.completionTokens = candidatesTokenCount + thoughtsTokenCount;
      }
      return parsed;
    },
  },
  "@mistralai/mistralai": {
    provider: mistralCase,
    async stream(serverURL) {
      const { Mistral } = await load("@mistralai/mistralai");
      const client = new Mistral({ apiKey: "key", serverURL });
      const stream = await client.chat.stream({
        model: "magistral-medium-latest",
        tools: [{ type: "function", function: WEATHER }],
        messages: [{ role: "user", content: SAY }],
      });
      const parsed: Parsed = { text: "", calls: [], completionTokens: undefined };
      for await (const { data } of stream) {
        const { content, toolCalls } = data.choices[0].delta;
        if (typeof content === "string") parsed.text += content;
        for (const call of toolCalls ?? []) {
          parsed.calls.push({ name: call.function.name, arguments: JSON.parse(call.function.arguments) });
        }
        parsed.completionTokens = data.usage?.completionTokens ?? parsed.completionTokens;
      }
      return parsed;
    },
  },
  "@aws-sdk/client-bedrock-runtime": {
    provider: bedrockCase,
    async stream(endpoint) {
      const { BedrockRuntimeClient, ConverseStreamCommand } = await load("@aws-sdk/client-bedrock-runtime");
      const { NodeHttpHandler } = await load("@smithy/node-http-handler");
      const options = { region: "eu-central-1", endpoint, credentials: AWS_KEYS, maxAttempts: 1 };
      // The stand-in has no HTTP/2.
      const client = new BedrockRuntimeClient({ ...options, requestHandler: new NodeHttpHandler() });
      const { stream } = await client.send(
        new ConverseStreamCommand({
          modelId: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
          messages: [{ role: "user", content: [{ text: SAY }] }],
          toolConfig: { tools: [{ toolSpec: { name, description, inputSchema: { json: parameters } } }] },
        }),
      );
      const parsed: Parsed = { text: "", calls: [], completionTokens: undefined };
      const inputs: string[] = [];
      for await (const { contentBlockStart, contentBlockDelta, metadata } of stream) {
        const call = contentBlockStart?.start?.toolUse;
        if (call !== undefined) {
          parsed.calls.push({ name: call.name, arguments: undefined });
          inputs.push("");
        }
        parsed.text += contentBlockDelta?.delta?.text ?? "";
        const input = contentBlockDelta?.delta?.toolUse?.input;
        if (input !== undefined) inputs[inputs.length - 1] += input;
        parsed.completionTokens = metadata?.usage?.outputTokens ?? parsed.completionTokens;
      }
      for (const [index, input] of inputs.entries()) {
        (parsed.calls[index] as { arguments: unknown }).arguments = JSON.parse(input);
      }
      client.destroy();
      return parsed;
    },
  },
  "cohere-ai": {
    provider: cohereCase,
    async stream(baseUrl) {
      const { CohereClientV2 } = await load("cohere-ai");
      const client = new CohereClientV2({ token: "key", environment: baseUrl, maxRetries: 0 });
      const stream = await client.chatStream({
        model: "command-a-reasoning-08-2025",
        tools: [{ type: "function", function: WEATHER }],
        messages: [{ role: "user", content: SAY }],
      });
      const parsed: Parsed = { text: "", calls: [], completionTokens: undefined };
      const inputs: string[] = [];
      for await (const event of stream) {
        const message = event.delta?.message;
        if (event.type === "content-delta") parsed.text += message?.content?.text ?? "";
        if (event.type === "tool-call-start") {
          parsed.calls.push({ name: message?.toolCalls?.function?.name, arguments: undefined });
          inputs.push("");
        }
        if (event.type === "tool-call-delta")
          inputs[inputs.length - 1] += message?.toolCalls?.function?.arguments ?? "";
        if (event.type === "message-end") parsed.completionTokens = event.delta?.usage?.billedUnits?.outputTokens;
      }
      for (const [index, input] of inputs.entries()) {
        (parsed.calls[index] as { arguments: unknown }).arguments = JSON.parse(input);
      }
      return parsed;
    },
  },
};

beforeAll(async () => {
  await mkdir(DIRECTORY, { recursive: true });
  await cp(join(import.meta.dirname, "providers", "package.json"), join(DIRECTORY, "package.json"));
  const options = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
  await promisify(execFile)("npm", ["install", ...options], { cwd: DIRECTORY, maxBuffer: 1 << 26 });
});

describe.each(Object.entries(SDKS))("%s", (_sdk, { provider, stream }) => {
  let standIn: StandIn;
  beforeAll(async () => {
    standIn = await startStandIn(provider.format);
  });
  afterAll(() => standIn.close());
  const { calls, text, cut, refused, limited } = provider.answers;

  test("parses texts, cut ones too", async () => {
    for (const answer of [text, cut]) {
      standIn.reply(answer);
      expect(await stream(standIn.origin)).toEqual({ text: "It is warm.", calls: [], completionTokens: 25 });
    }
  });

  test("parses calls", async () => {
    standIn.reply(calls);
    expect(await stream(standIn.origin)).toMatchObject({
      text: "",
      calls: [
        { name: "get_weather", arguments: { city: "Paris" } },
        { name: "get_weather", arguments: { city: "Oslo" } },
      ],
    });
  });

  test("parses refusals for safety", async ({ skip }) => {
    if (refused === undefined) return skip("there are none");
    standIn.reply(refused);
    expect(await stream(standIn.origin)).toMatchObject({ calls: [] });
  });

  test("parses errors", async () => {
    standIn.reply(limited);
    const failure = await stream(standIn.origin).then(
      () => undefined,
      (error: { status?: number; statusCode?: number; $metadata?: { httpStatusCode?: number } }) => error,
    );
    expect(failure?.status ?? failure?.statusCode ?? failure?.$metadata?.httpStatusCode).toBe(429);
    standIn.drop();
  });
});
