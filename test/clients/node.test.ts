import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { DEFAULT_CHAT_MODEL } from "../support/models/default-model.ts";
import type { Service } from "../support/service/service.ts";
import { nodeClientVersion } from "./node-client-version.ts";
import { reportChecks } from "./report-checks.ts";
import { startClientsService, TOOLS_MODEL } from "./start-clients-service.ts";

let service: Service;
beforeAll(async () => {
  service = await startClientsService();
});
afterAll(() => service?.stop());
reportChecks(nodeClientVersion);

const getWeather = tool({
  description: "Current weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `18 degrees in ${city}`,
});

const providers = {
  "@ai-sdk/openai": (id: string) => createOpenAI({ baseURL: service.baseUrl, apiKey: service.apiKey }).chat(id),
  "@ai-sdk/openai-compatible": (id: string) =>
    createOpenAICompatible({ name: "parlance", baseURL: service.baseUrl, apiKey: service.apiKey })(id),
  "@ai-sdk/anthropic": (id: string) => createAnthropic({ baseURL: service.baseUrl, apiKey: service.apiKey })(id),
};

describe.each(Object.entries(providers))("ai with %s", (_name, model) => {
  test("answers with the default model", async () => {
    const { text } = await generateText({
      model: model(DEFAULT_CHAT_MODEL),
      prompt: "Say hello.",
      maxOutputTokens: 16,
    });
    expect(text).not.toBe("");
  });

  test("streams", async () => {
    const { textStream } = streamText({ model: model(TOOLS_MODEL), prompt: "Echo this" });
    expect((await Array.fromAsync(textStream)).join("")).toBe("Echo this");
  });

  test("calls a tool and answers with its result", async () => {
    const { text } = await generateText({
      model: model(TOOLS_MODEL),
      tools: { get_weather: getWeather },
      stopWhen: stepCountIs(4),
      prompt: "How is the weather in Paris?",
    });
    expect(text).toContain("18 degrees");
  });

  test("generates an object", async () => {
    const { output } = await generateText({
      model: model(TOOLS_MODEL),
      output: Output.object({ schema: z.object({ name: z.string(), age: z.number() }) }),
      prompt: "Extract: Jane is 41 years old.",
    });
    expect(output).toEqual({ name: "Jane", age: 41 });
  });
});

describe("openai (Node)", () => {
  test("speaks, transcribes and moderates by OpenAI's model names", async () => {
    const client = service.client();
    const spoken = await client.audio.speech.create({
      model: "tts-1",
      voice: "alloy",
      input: "Good morning.",
      response_format: "wav",
    });
    const file = await toFile(spoken, "speech.wav");
    const transcript = await client.audio.transcriptions.create({ model: "whisper-1", file });
    expect(transcript.text.toLowerCase()).toContain("morning");
    const verdict = await client.moderations.create({ model: "omni-moderation-latest", input: "Good morning." });
    expect(verdict.results[0]?.flagged).toBe(false);
  });
});
