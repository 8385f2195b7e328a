import { afterAll, beforeAll, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { cohereAnswer, cohereFormat } from "../../../test/support/upstreams/native/cohere-format.ts";
import { type StandIn, startStandIn } from "../../../test/support/upstreams/native/stand-in.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import type { EmbeddingModel } from "../../contracts/embedding-model.ts";
import { cohereEngine } from "./cohere-engine.ts";
import { toCohereBody } from "./cohere-request.ts";
import { cohereSettings } from "./settings.ts";

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startStandIn(cohereFormat);
});
afterAll(() => standIn.close());

const never = () => new AbortController().signal;

async function open<Model>(task: "chat" | "embedding", fields: object): Promise<Model> {
  const settings = cohereSettings.parse({ base_url: `${standIn.origin}/v2`, ...fields });
  return (await cohereEngine.open(settings, task, makeEngineServices())) as Model;
}

test("carries a plan back as a plan, and one tool for the choice of it", () => {
  const tool = { name: "f", description: undefined, parameters: undefined, param: "tools[0]" };
  const messages: ChatMessage[] = [
    {
      role: "assistant",
      content: "",
      reasoning: [
        { text: "First f.", signature: "cohere#plan" },
        { text: "Hm", signature: "gemini#A" },
      ],
      toolCalls: [{ id: "a", name: "f", arguments: "{}" }],
    },
  ];
  const tools = [tool, { ...tool, name: "g" }];
  const body = toCohereBody(makeChatRequest({ messages, tools, toolChoice: { name: "g" } }), "command-a", {
    safetyMode: "STRICT",
  });
  expect(body).toMatchObject({ tools: [{ function: { name: "g" } }], tool_choice: "REQUIRED", safety_mode: "STRICT" });
  expect(body.messages).toEqual([
    {
      role: "assistant",
      tool_plan: "First f.",
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
    },
  ]);
});

test("reports an answer that ends with an error", async () => {
  const model = await open<ChatModel>("chat", { model: "command-a" });
  standIn.reply({ headers: { "content-type": "text/event-stream" }, body: cohereAnswer([], "TIMEOUT", {}) });
  await expect(readAnswer(model.chat(makeChatRequest(), never()))).rejects.toMatchObject({ kind: "upstream-timeout" });
  await model.close();
});

test("embeds texts for the configured use", async () => {
  const model = await open<EmbeddingModel>("embedding", { model: "embed-v4.0", input_type: "clustering" });
  standIn.reply({ body: { embeddings: { float: [[1, 2]] }, meta: { billed_units: { input_tokens: 4 } } } });
  const request = { model: "test-model", inputs: ["a"], dimensions: 256, project: "p" } as never;
  const { values, promptTokens } = await model.embed(request, never());
  expect({ values: [...values], promptTokens, reranks: model.rerank !== undefined }).toEqual({
    values: [1, 2],
    promptTokens: 4,
    reranks: false,
  });
  expect(standIn.received.at(-1)?.body).toEqual({
    model: "embed-v4.0",
    texts: ["a"],
    input_type: "clustering",
    embedding_types: ["float"],
    output_dimension: 256,
  });
  await model.close();
});

test("reranks documents", async () => {
  const model = await open<EmbeddingModel>("embedding", { model: "rerank-v3.5" });
  const results = [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ];
  standIn.reply({ body: { id: "1", results, meta: { billed_units: { search_units: 1 } } } });
  const request = { model: "test-model", query: "q", documents: ["a", "b"], project: "p" };
  expect(await model.rerank?.(request, never())).toMatchObject({ scores: [0.1, 0.9] });
  expect(standIn.received.at(-1)).toMatchObject({ path: "/v2/rerank", body: { model: "rerank-v3.5", query: "q" } });
  await model.close();
});
