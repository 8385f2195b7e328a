import { describe, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { bedrockFormat, toMessage } from "../../../test/support/upstreams/native/bedrock-format.ts";
import { type StandIn, startStandIn } from "../../../test/support/upstreams/native/stand-in.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import type { EmbeddingModel } from "../../contracts/embedding-model.ts";
import { bedrockEngine } from "./bedrock-engine.ts";
import { toConverseBody } from "./converse-request.ts";
import { EventStream } from "./event-stream.ts";
import { bedrockSettings } from "./settings.ts";

const NOVA = "amazon.nova-pro-v1:0";
const bodyOf = (asked: Parameters<typeof makeChatRequest>[0], model = NOVA, settings = {}) =>
  toConverseBody(makeChatRequest(asked), model, {
    maxOutputTokens: undefined,
    thinking: undefined,
    guardrail: undefined,
    ...settings,
  });

describe("an event stream", () => {
  const bytes = Buffer.concat([toMessage("messageStart", { role: "assistant" }), toMessage("messageStop", { a: "é" })]);

  test("is read in pieces of any size", () => {
    const stream = new EventStream();
    const events = [...bytes].flatMap((byte) => stream.read(Buffer.from([byte])) ?? []);
    expect(events).toEqual([
      { event: "messageStart", data: '{"role":"assistant"}' },
      { event: "messageStop", data: '{"a":"é"}' },
    ]);
  });

  test("with a wrong checksum is an error of the upstream", () => {
    const changed = Buffer.from(bytes);
    changed[40] = (changed[40] ?? 0) ^ 1;
    expect(() => new EventStream().read(changed)).toThrow("something other than an event stream");
  });
});

describe("a request", () => {
  test("has the guardrail, the limit and the reasoning of the model", () => {
    const guardrail = { id: "gr-1", version: "2" };
    expect(bodyOf({ reasoningEffort: "high" }, NOVA, { guardrail, maxOutputTokens: 100 })).toMatchObject({
      guardrailConfig: { guardrailIdentifier: "gr-1", guardrailVersion: "2" },
      inferenceConfig: { maxTokens: 100 },
      additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } },
    });
    expect(bodyOf({ reasoningEffort: "low" }, "openai.gpt-oss-120b-1:0")).toMatchObject({
      additionalModelRequestFields: { reasoning_effort: "low" },
    });
    expect(bodyOf({ reasoningEffort: "low" }, "eu.anthropic.claude-opus-5")).toMatchObject({
      additionalModelRequestFields: { thinking: { type: "adaptive" } },
      outputConfig: { effort: "low" },
    });
    expect(() => bodyOf({ reasoningEffort: "low" }, "meta.llama3-3-70b-instruct-v1:0")).toThrow(
      "Bedrock's API has no effort",
    );
    expect(() => bodyOf({ topK: 5 })).toThrow("no 'top_k' for this model");
  });

  test("marks the end of the prompt, and refuses addresses and calls that it cannot forbid, by name", () => {
    expect(bodyOf({ cache: { ttl: "1h" } }).messages).toMatchObject([
      { content: [{ text: "Say hello." }, { cachePoint: { type: "default", ttl: "1h" } }] },
    ]);
    const image = { type: "image", url: "https://example.org/a.png", param: { type: "t", url: "u" } } as const;
    expect(() => bodyOf({ messages: [{ role: "user", content: [image] }] })).toThrow("fetches no addresses");
    const tools = [{ name: "f", description: undefined, parameters: undefined, param: "tools[0]" }];
    const messages: ChatMessage[] = [
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
    ];
    expect(() => bodyOf({ tools, messages, toolChoice: "none" })).toThrow("Bedrock's API cannot forbid calls");
  });

  test("names documents as the API wants it", () => {
    const file = {
      type: "file",
      url: "data:application/pdf;base64,AAAA",
      name: "Q3_report (final)!.pdf",
      param: "p",
    } as const;
    expect(bodyOf({ messages: [{ role: "user", content: [file] }] }).messages).toMatchObject([
      { content: [{ document: { name: "Q3 report (final)" } }] },
    ]);
  });
});

describe("a model", () => {
  const never = () => new AbortController().signal;
  async function using<Model>(
    task: "chat" | "embedding",
    model: string,
    run: (model: Model, standIn: StandIn) => Promise<void>,
  ) {
    const standIn = await startStandIn(bedrockFormat);
    const settings = bedrockSettings.parse({
      region: "eu-central-1",
      base_url: standIn.origin,
      api_key: "bedrock-key",
      model,
    });
    const opened = await bedrockEngine.open(settings, task, makeEngineServices());
    try {
      await run(opened as Model, standIn);
    } finally {
      await opened.close();
      await standIn.close();
    }
  }

  test("reports an exception in the stream by its type", () =>
    using<ChatModel>("chat", NOVA, async (model, standIn) => {
      const exception = toMessage("throttlingException", { message: "Too many requests" }, "exception");
      const headers = { "content-type": "application/vnd.amazon.eventstream" };
      standIn.reply({ headers, body: Buffer.concat([toMessage("messageStart", { role: "assistant" }), exception]) });
      await expect(readAnswer(model.chat(makeChatRequest(), never()))).rejects.toMatchObject({
        kind: "request-rate-limited",
      });
      expect(standIn.received[0]?.headers.authorization).toBe("Bearer bedrock-key");
    }));

  test("embeds each text with Titan", () =>
    using<EmbeddingModel>("embedding", "amazon.titan-embed-text-v2:0", async (model, standIn) => {
      standIn.reply(
        { body: { embedding: [1, 2], inputTextTokenCount: 2 } },
        { body: { embedding: [3, 4], inputTextTokenCount: 3 } },
      );
      const request = { model: "test-model", inputs: ["a", "b"], dimensions: 256, project: "p" } as never;
      const { values, promptTokens } = await model.embed(request, never());
      expect({ values: [...values], promptTokens }).toEqual({ values: [1, 2, 3, 4], promptTokens: 5 });
      expect(standIn.received[1]?.body).toEqual({ inputText: "b", dimensions: 256 });
    }));

  test("reranks with Cohere's model", () =>
    using<EmbeddingModel>("embedding", "cohere.rerank-v3-5:0", async (model, standIn) => {
      const results = [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ];
      standIn.reply({ body: { results } });
      const request = { model: "test-model", query: "q", documents: ["a", "b"], project: "p" };
      expect(await model.rerank?.(request, never())).toMatchObject({ scores: [0.1, 0.9], estimated: true });
      expect(standIn.received[0]?.body).toEqual({ query: "q", documents: ["a", "b"], api_version: 2 });
    }));
});
