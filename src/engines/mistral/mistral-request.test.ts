import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { mistralFormat } from "../../../test/support/upstreams/native/mistral-format.ts";
import { startStandIn } from "../../../test/support/upstreams/native/stand-in.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { EmbeddingModel } from "../../contracts/engine.ts";
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
