import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { mistralFormat } from "../../../test/support/upstreams/native/mistral-format.ts";
import { startStandIn } from "../../../test/support/upstreams/native/stand-in.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatModel, RawPrompt } from "../../contracts/chat-model.ts";
import type { EmbeddingModel } from "../../contracts/embedding-model.ts";
import { mistralEngine } from "./mistral-engine.ts";
import { MistralEvents } from "./mistral-events.ts";
import { toMistralBody } from "./mistral-request.ts";
import { mistralSettings } from "./settings.ts";

const bodyOf = (asked: Parameters<typeof makeChatRequest>[0], safePrompt = false) =>
  toMistralBody(makeChatRequest(asked), "mistral-large", { safePrompt });

test("gives calls of other providers IDs that the API takes, the same for the call and its result", () => {
  const messages: ChatMessage[] = [
    { role: "developer", content: "Be short." },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "toolu_01T1x1fJ34qAmk2tNTrN7Up6", name: "f", arguments: "{}" }],
    },
    { role: "tool", content: "one", toolCallId: "toolu_01T1x1fJ34qAmk2tNTrN7Up6" },
  ];
  const sent = bodyOf({ messages }).messages as { tool_calls?: { id: string }[]; tool_call_id?: string }[];
  expect(sent[0]).toEqual({ role: "system", content: "Be short." });
  expect(sent[1]?.tool_calls?.[0]?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(sent[2]?.tool_call_id).toBe(sent[1]?.tool_calls?.[0]?.id);
});

test("sends back its own reasoning only, with a signature where it has one", () => {
  const reasoning = [
    { text: "One", signature: "mistral#abc" },
    { text: "Two", signature: "mistral#" },
    { text: "Three", signature: "EqQB" },
  ];
  const messages: ChatMessage[] = [{ role: "assistant", content: "Yes", reasoning }];
  expect(bodyOf({ messages }).messages).toEqual([
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "One" }], signature: "abc", closed: true },
        { type: "thinking", thinking: [{ type: "text", text: "Two" }], closed: true },
        { type: "text", text: "Yes" },
      ],
    },
  ]);
});

test("names its fields as the API does", () => {
  const body = bodyOf({ seed: 7, maxTokens: 5, choices: 2, stop: ["."] }, true);
  expect(body).toMatchObject({ random_seed: 7, max_tokens: 5, n: 2, stop: ["."], safe_prompt: true });
  expect(body).not.toHaveProperty("seed");
});

test("marks a message that the answer continues, and leaves its repetition out", () => {
  const messages: ChatMessage[] = [
    { role: "user", content: "The capital?" },
    { role: "assistant", content: "It is" },
  ];
  expect(bodyOf({ messages, continuation: "required" }).messages).toMatchObject([{}, { prefix: true }]);
  expect(JSON.stringify(bodyOf({ messages }).messages)).not.toContain("prefix");
  const textOf = (pieces: readonly string[]) => {
    const sink = new MistralEvents(makeChatRequest({ messages, continuation: "preferred" }));
    const frames = pieces.map((content, index) => {
      const reason = index === pieces.length - 1 ? "stop" : null;
      return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`;
    });
    const events = sink.take([Buffer.from(frames.join(""))]) ?? [];
    return events.map((event) => (event.type === "text" ? event.text : "")).join("");
  };
  expect(textOf(["It is Paris.", ""])).toBe(" Paris.");
  expect(textOf(["It", " i", "s", " Paris."])).toBe(" Paris.");
  expect(textOf([" Paris."])).toBe(" Paris.");
  expect(textOf(["It ran."])).toBe("It ran.");
  expect(textOf(["It"])).toBe("It");
  expect(textOf(["It i", "n time."])).toBe("It in time.");
});

test("reads a long beginning that is repeated in small pieces in little time", () => {
  const content = "a b ".repeat(20_000);
  const messages: ChatMessage[] = [{ role: "assistant", content }];
  const sink = new MistralEvents(makeChatRequest({ messages, continuation: "required" }));
  const before = process.cpuUsage();
  const frames = [...content, "c"].map(
    (piece) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: piece } }] })}\n\n`,
  );
  const events = sink.take([Buffer.from(frames.join(""))]) ?? [];
  expect(events.flatMap((event) => (event.type === "text" ? [event.text] : []))).toEqual(["c"]);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(4);
});

test("fills in the middle of texts", async () => {
  const standIn = await startStandIn(mistralFormat);
  const settings = mistralSettings.parse({ base_url: `${standIn.origin}/v1`, model: "codestral-latest" });
  const model = (await mistralEngine.open(settings, "chat", makeEngineServices())) as ChatModel;
  const fill = (prompt: RawPrompt) => {
    const request = makeChatRequest({ messages: [], seed: 3, minTokens: 1, maxTokens: 5, stop: ["#"] });
    return readAnswer(model.chat({ ...request, prompt }, new AbortController().signal));
  };
  const written = { choices: [{ index: 0, delta: { content: " pass" }, finish_reason: "stop" }] };
  const headers = { "content-type": "text/event-stream" };
  standIn.reply({ headers, body: `data: ${JSON.stringify(written)}\n\ndata: [DONE]\n\n` });
  try {
    expect((await fill({ input: "def f():", suffix: "f()" })).text).toBe(" pass");
    const { path, body } = standIn.received[0] ?? {};
    expect(path).toBe("/v1/fim/completions");
    expect(body).toEqual({
      ...{ model: "codestral-latest", prompt: "def f():", suffix: "f()", stream: true },
      ...{ max_tokens: 5, min_tokens: 1, stop: ["#"], random_seed: 3 },
    });
    await expect(fill({ input: [1, 2] })).rejects.toMatchObject({ param: "prompt" });
    const fields = (asked: object) => model.refusal?.(makeChatRequest({ prompt: { input: "a" }, ...asked }))?.param;
    expect([fields({ minTokens: 1 }), fields({ presencePenalty: 1 })]).toEqual([undefined, "presence_penalty"]);
    expect(model.refusal?.(makeChatRequest({ minTokens: 1 }))?.param).toBe("min_tokens");
    await expect(fill({ input: "a", echo: true })).rejects.toMatchObject({ param: "echo" });
  } finally {
    await model.close();
    await standIn.close();
  }
});

test("reads arguments that come as an object, and the calls of several choices", () => {
  const sink = new MistralEvents(makeChatRequest({ choices: 2 }));
  const choices = [0, 1].map((index) => ({
    index,
    delta: { tool_calls: [{ id: "abcdefgh1", function: { name: "f", arguments: { a: index } } }] },
    finish_reason: "tool_calls",
  }));
  const events = sink.take([Buffer.from(`data: ${JSON.stringify({ choices })}\n\n`)]);
  expect(events?.filter(({ type }) => type === "tool-arguments")).toMatchObject([
    { text: '{"a":0}' },
    { text: '{"a":1}' },
  ]);
  expect(sink.isComplete).toBe(true);
});

test("embeds texts in the order of their indexes", async () => {
  const standIn = await startStandIn(mistralFormat);
  const settings = mistralSettings.parse({ base_url: `${standIn.origin}/v1`, model: "mistral-embed" });
  const model = (await mistralEngine.open(settings, "embedding", makeEngineServices())) as EmbeddingModel;
  try {
    const data = [1, 0].map((index) => ({ index, embedding: [index, 5] }));
    standIn.reply({ body: { data, usage: { prompt_tokens: 6 } } });
    const request = { model: "test-model", inputs: ["a", "b"], dimensions: 2, project: "p" } as never;
    const { values, promptTokens } = await model.embed(request, new AbortController().signal);
    expect({ values: [...values], promptTokens }).toEqual({ values: [0, 5, 1, 5], promptTokens: 6 });
    expect(standIn.received[0]?.body).toEqual({ model: "mistral-embed", input: ["a", "b"], output_dimension: 2 });
  } finally {
    await model.close();
    await standIn.close();
  }
});
