/**
 * The behavior that all chat engines share. A new engine adds one row to `SUBJECTS`. Rows may be slow, and their texts
 * need not be predictable, except that at temperature 0 the same request gives the same text.
 */

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { makeEngineServices } from "../../test/support/models/engine-services.ts";
import { openShallowLlamaCpp } from "../../test/support/models/llama-cpp.ts";
import { llamaServerBinary, openLlamaServer, WITHOUT_LLAMA_SERVER } from "../../test/support/models/llama-server.ts";
import { makeChatRequest } from "../../test/support/service/chat-request.ts";
import { readAnswer, textOf } from "../../test/support/service/read-answer.ts";
import { oncePerState } from "../../test/support/unchanged/once-per-state.ts";
import { anthropicFormat } from "../../test/support/upstreams/native/anthropic-format.ts";
import { azureFormat } from "../../test/support/upstreams/native/azure-format.ts";
import { AWS_KEYS, bedrockFormat } from "../../test/support/upstreams/native/bedrock-format.ts";
import { cohereFormat } from "../../test/support/upstreams/native/cohere-format.ts";
import { geminiFormat } from "../../test/support/upstreams/native/gemini-format.ts";
import { mistralFormat } from "../../test/support/upstreams/native/mistral-format.ts";
import { startStandIn, type WireFormat } from "../../test/support/upstreams/native/stand-in.ts";
import { startOpenAiUpstream } from "../../test/support/upstreams/openai-upstream.ts";
import type { ChatModel } from "../contracts/chat-model.ts";
import { Fault } from "../kernel/faults.ts";
import { openAiCompatibleEngine } from "./openai-compatible/openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "./openai-compatible/settings.ts";
import { ENGINES } from "./registry.ts";
import { scriptedEngine } from "./scripted/scripted-engine.ts";
import { scriptedSettings } from "./scripted/settings.ts";

const test = oncePerState(import.meta.filename);

interface Subject {
  model: ChatModel;
  /** Closes the model's upstream, if it has one. */
  end(): Promise<void>;
}

const SUBJECTS: Record<string, () => Promise<Subject>> = {
  "llama-cpp": async () => ({ model: await openShallowLlamaCpp(), end: async () => {} }),
  ...(llamaServerBinary === undefined
    ? {}
    : { "llama-server": async () => ({ model: await openLlamaServer(), end: async () => {} }) }),
  scripted: async () => ({ model: await openScripted("parent"), end: async () => {} }),
  "scripted in a child process": async () => ({ model: await openScripted("child"), end: async () => {} }),
  "openai-compatible": async () => {
    const upstream = await startOpenAiUpstream(await openScripted("parent"));
    const settings = openAiCompatibleSettings.parse({ base_url: upstream.baseUrl, model: "upstream/model" });
    const model = (await openAiCompatibleEngine.open(settings, "chat", makeEngineServices())) as ChatModel;
    return { model, end: () => upstream.close() };
  },
  mistral: () => openNative(mistralFormat, "mistral", (origin) => ({ base_url: `${origin}/v1`, api_key: "key" })),
  "azure-openai": () => openNative(azureFormat, "azure-openai", (base_url) => ({ base_url, api_key: "key" })),
  bedrock: () =>
    openNative(bedrockFormat, "bedrock", (base_url) => {
      const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = AWS_KEYS;
      return { base_url, region: "eu-central-1", access_key_id, secret_access_key };
    }),
  cohere: () => openNative(cohereFormat, "cohere", (origin) => ({ base_url: `${origin}/v2`, api_key: "key" })),
  gemini: () => openNative(geminiFormat, "gemini", (origin) => ({ base_url: `${origin}/v1beta`, api_key: "key" })),
  anthropic: () => openNative(anthropicFormat, "anthropic", (origin) => ({ base_url: `${origin}/v1`, api_key: "sk" })),
};

/** An engine of a provider, in front of a stand-in that has the provider's API. */
async function openNative(format: WireFormat, engine: keyof typeof ENGINES, settings: (origin: string) => object) {
  const standIn = await startStandIn(format, await openScripted("parent"));
  const { [engine]: definition } = ENGINES;
  const parsed = definition.settings.parse({ model: "upstream-model", ...settings(standIn.origin) });
  const model = (await definition.open(parsed as never, "chat", makeEngineServices())) as ChatModel;
  return { model, end: () => standIn.close() };
}

async function openScripted(process: "parent" | "child"): Promise<ChatModel> {
  const story = "Once upon a time 🐉 there lived a très small dragon. ".repeat(20);
  const replies = [{ text: story, delay_ms_per_token: 5 }];
  const settings = scriptedSettings.parse({ replies, context_window: 2048, process, abilities: { choices: 2 } });
  return (await scriptedEngine.open(settings, "chat", makeEngineServices())) as ChatModel;
}

const STORY = "Tell me a long story about a dragon. Use some emoji.";
const never = () => new AbortController().signal;
const story = (overrides: Parameters<typeof makeChatRequest>[0] = {}) =>
  makeChatRequest({ say: STORY, temperature: 0, maxTokens: 24, ...overrides });

test.skipIf(llamaServerBinary !== undefined)(`llama-server: ${WITHOUT_LLAMA_SERVER}`, ({ skip }) => skip());

describe.each(Object.entries(SUBJECTS))("%s", (_name, open) => {
  let subject: Subject;
  let model: ChatModel;
  beforeAll(async () => {
    subject = await open();
    model = subject.model;
  });
  afterAll(async () => {
    await model.close();
    await subject.end();
  });

  test("generates text and ends with exactly one finish", async () => {
    const { events, text } = await readAnswer(model.chat(story(), never()));
    expect(text.length).toBeGreaterThan(0);
    expect(events.filter((event) => event.type === "finish")).toHaveLength(1);
    expect(events.at(-1)?.type).toBe("finish");
    expect(events.filter((event) => event.type === "start").length).toBeLessThanOrEqual(1);
    expect(events.findIndex((event) => event.type === "start")).toBeLessThanOrEqual(0);
  });

  test("reports usage", async () => {
    const streamed = await readAnswer(model.chat(story(), never()));
    const usage = streamed.finish?.usage;
    expect(usage?.estimated).toBe(false);
    expect(usage?.promptTokens).toBeGreaterThan(5);
    expect(usage?.completionTokens).toBeGreaterThan(0);
    const counts = streamed.events.filter((event) => event.type === "text").map((event) => event.completionTokens);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    // Until an upstream reports its usage, its tokens are estimated from the text.
    if (model.device !== "upstream") expect(counts.at(-1) ?? 0).toBeLessThanOrEqual(usage?.completionTokens ?? 0);
  });

  test("finishes with `length` at maxTokens", async () => {
    const { finish, reason } = await readAnswer(model.chat(story({ maxTokens: 3 }), never()));
    expect(reason).toBe("length");
    expect(finish).toMatchObject({ usage: { completionTokens: 3 } });
  });

  test("ends before a stop sequence and emits no part of it", async () => {
    const { text } = await readAnswer(model.chat(story(), never()));
    const characters = [...text];
    const stop = characters.slice(Math.floor(characters.length / 2), Math.floor(characters.length / 2) + 4).join("");
    const stopped = await readAnswer(model.chat(story({ stop: ["never said", stop] }), never()));
    expect(stopped.text).toBe(text.slice(0, text.indexOf(stop)));
    expect(stopped.reason).toBe("stop");
  });

  test("emits complete characters only", async () => {
    const { events } = await readAnswer(model.chat(story({ maxTokens: 40 }), never()));
    for (const event of events) {
      expect(textOf(event).isWellFormed()).toBe(true);
      expect(textOf(event)).not.toContain("\uFFFD");
    }
  });

  test("emits nothing when aborted before the start", async () => {
    const { events } = await readAnswer(model.chat(story(), AbortSignal.abort()));
    expect(events).toEqual([]);
  });

  test("ends promptly and without throwing when aborted mid-stream", async () => {
    const abort = new AbortController();
    const events = model.chat(story({ maxTokens: 400 }), abort.signal)[Symbol.asyncIterator]();
    const first = await events.next();
    expect(first.done).toBe(false);
    await events.next();
    abort.abort();
    const rest: unknown[] = [];
    for (let next = await events.next(); !next.done; next = await events.next()) rest.push(next.value);
    expect(rest.length).toBeLessThanOrEqual(1);
  });

  test("serves the next request after a reader stopped reading", async () => {
    for await (const event of model.chat(story({ maxTokens: 400 }), never())) {
      if (event.type !== "start") break;
    }
    const { finish } = await readAnswer(model.chat(story(), never()));
    expect(finish).toBeDefined();
  });

  test("serves two concurrent requests completely", async () => {
    const answers = await Promise.all(
      [story(), story({ maxTokens: 12 })].map((each) => readAnswer(model.chat(each, never()))),
    );
    expect(answers.map((answer) => answer.finish?.usage.completionTokens)).toEqual([24, 12]);
  });

  test("returns the requested choices and ends each once", async ({ skip }) => {
    skip(model.device === "upstream" || model.abilities.choices === 1, "is an upstream's, or supports one choice only");
    const { events, finish } = await readAnswer(model.chat(story({ choices: 2, maxTokens: 6 }), never()));
    for (const choice of [0, 1]) {
      const own = events.filter((event) => "choice" in event && event.choice === choice);
      expect(own.some((event) => event.type === "text")).toBe(true);
      expect(own.filter((event) => event.type === "choice-end")).toEqual([
        { type: "choice-end", choice, reason: "length" },
      ]);
      expect(own.at(-1)?.type).toBe("choice-end");
    }
    expect(finish?.usage.completionTokens).toBe(12);
    expect(events.filter((event) => event.type === "finish")).toHaveLength(1);
  });

  test("enforces a schema if it reports the ability", async ({ skip }) => {
    skip(
      model.device === "upstream" || model.abilities.jsonSchema !== true,
      "is an upstream's, or cannot enforce a schema",
    );
    const format = { type: "json-schema" as const, schema: { enum: ["red", { b: [1] }] }, param: "response_format" };
    const { text, reason } = await readAnswer(model.chat(story({ format, temperature: 2 }), never()));
    expect(["red", { b: [1] }]).toContainEqual(JSON.parse(text));
    expect(reason).toBe("stop");
    const schema = { $ref: "https://example.org/x" };
    await expect(readAnswer(model.chat(story({ format: { ...format, schema } }), never()))).rejects.toMatchObject({
      kind: "invalid-request",
      param: expect.stringMatching(/^response_format/),
    });
  });

  test("reports log probabilities of the complete answer if it reports the ability", async ({ skip }) => {
    skip(model.device === "upstream" || model.abilities.logprobs !== true, "is an upstream's, or reports none");
    const { events, text } = await readAnswer(model.chat(story({ topLogprobs: 2 }), never()));
    const logprobs = events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
    expect(Buffer.from(logprobs.flatMap(({ bytes }) => bytes)).toString()).toBe(text);
    for (const { logprob, top } of logprobs) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top).toHaveLength(2);
    }
  });

  test("rejects a prompt longer than the context window with both counts, before any event", async () => {
    const say = "word ".repeat(20_000);
    const events = model.chat(story({ say, messages: [{ role: "user", content: say }] }), never());
    const fault = await events[Symbol.asyncIterator]()
      .next()
      .then(unexpected, (error: unknown) => error);
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ kind: "invalid-request", code: "context_length_exceeded", param: "messages" });
    expect((fault as Fault).message.match(/\d{3,}/g)?.length).toBeGreaterThanOrEqual(2);
  });

  test("fails a request in flight with a Fault on close, accepts a second close and rejects later requests", async () => {
    const { model: closing, end } = await open();
    try {
      const events = closing.chat(story({ maxTokens: 400 }), never());
      const running = readAnswer(events).then(unexpected, (error: unknown) => error);
      await delay(50);
      await closing.close();
      await closing.close();
      expect(await running).toBeInstanceOf(Fault);
      const late = await readAnswer(closing.chat(story(), never())).then(unexpected, (error: unknown) => error);
      expect(late).toMatchObject({ name: "Fault", kind: "unavailable" });
    } finally {
      await closing.close();
      await end();
    }
  });
});

function unexpected(answer: unknown): never {
  throw new Error(`answered instead of failing: ${JSON.stringify(answer).slice(0, 200)}`);
}
