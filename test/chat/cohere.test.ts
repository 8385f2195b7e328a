/** Cohere's API, version 2, through the AI SDK, on the scripted engine, a local embedding model and an upstream. */

import { createCohere } from "@ai-sdk/cohere";
import { embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCRIPTED_CALLER } from "../support/models/scripted-caller.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

let upstream: Service;
let service: Service;
beforeAll(async () => {
  const minilm = "  - { id: minilm, task: embedding, deployments: [{ engine: sentence-embeddings }] }\n";
  upstream = await startService({ config: `builtin_models: false\nmodels:${SCRIPTED_CALLER}${minilm}` });
  service = await startService({
    config: `
builtin_models: false
models:${SCRIPTED_CALLER}
  - { id: far, task: chat, price: { prompt: "0.001" }, deployments: [${deploymentAt(upstream, "org/caller")}] }
  - { id: judge, task: moderation, deployments: [{ engine: classifier, model: moderation-minilm }] }
  - id: moderated
    task: chat
    guardrails: [{ type: moderation, model: judge, input: block }]
    deployments: [{ engine: scripted, echo: true, abilities: { tools: true } }]
  - id: guarded
    task: chat
    guardrails: [{ type: words, words: [forbidden], action: block, on: [input] }]
    deployments: [{ engine: scripted, echo: true }]
${minilm}  - { id: far-minilm, task: embedding, deployments: [${deploymentAt(upstream, "minilm")}] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

const cohere = () => createCohere({ apiKey: service.apiKey, baseURL: `${service.origin}/v2` });
const lastRequest = () => service.log().findLast(({ msg }) => msg === "request");
const chat = (body: object, headers: Record<string, string> = {}) =>
  service.post("/v2/chat", { model: "org/caller", ...body }, { headers });
interface Answer {
  finish_reason: string;
  message: { content: [{ text: string }] };
}
const answerTo = async (body: object) => (await (await chat(body)).json()) as Answer;
const user = (content: unknown) => ({ role: "user", content });
const weather = tool({
  inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
  execute: async ({ city }) => `sunny in ${city}`,
});

describe.each(["org/caller", "far"])("the model %s", (model) => {
  test("answers with usage", async () => {
    const answer = await answerTo({ model, messages: [user("Please count")] });
    expect(answer).toEqual({
      id: expect.any(String),
      finish_reason: "COMPLETE",
      message: { role: "assistant", content: [{ type: "text", text: "one two three four" }] },
      usage: {
        billed_units: { input_tokens: expect.any(Number), output_tokens: 4 },
        tokens: { input_tokens: expect.any(Number), output_tokens: 4 },
        cached_tokens: expect.any(Number),
      },
    });
    await eventually(() => expect(lastRequest()).toMatchObject({ answeredBy: model, completionTokens: 4 }));
  });

  test("calls tools for the AI SDK, streamed and not", async () => {
    const question = { model: cohere()(model), prompt: "weather?", tools: { weather }, stopWhen: stepCountIs(3) };
    const whole = await generateText(question);
    expect(whole.text).toBe("It is sunny.");
    expect(whole.steps[0]?.toolCalls.map(({ input }) => input)).toEqual([
      { city: "Łódź", days: 2 },
      { city: "Kraków" },
    ]);
    const streamed = streamText(question);
    expect(await streamed.text).toBe("It is sunny.");
    expect((await streamed.steps)[0]?.toolCalls).toHaveLength(2);
    expect((await streamed.totalUsage).outputTokens).toBeGreaterThan(0);
  });

  test("shows the reasoning as thinking", async () => {
    const answer = await generateText({ model: cohere()(model), prompt: "ponder" });
    expect([answer.reasoningText, answer.text]).toEqual(["I have to think.", "Done."]);
    const streamed = streamText({ model: cohere()(model), prompt: "ponder" });
    expect([await streamed.reasoningText, await streamed.text]).toEqual(["I have to think.", "Done."]);
  });

  test("cuts, and says why it ended", async () => {
    const cut = await answerTo({ model, messages: [user("count")], max_tokens: 2 });
    expect(cut.finish_reason).toBe("MAX_TOKENS");
    const response_format = { type: "json_object", json_schema: { type: "object" } };
    const json = await answerTo({ model, messages: [user("Jane?")], response_format });
    expect(JSON.parse(json.message.content[0].text)).toEqual({ name: "Jane" });
  });

  test("ends a stream that fails with an error", async () => {
    const answer = await chat({ model, messages: [user("breaks")], stream: true });
    const events = (await answer.text()).trim().split("\n\n");
    const [, last = ""] = /^event: message-end\ndata: (.*)$/.exec(events.at(-1) ?? "") ?? [];
    const delta = { finish_reason: "ERROR", error: expect.stringMatching(/./) };
    expect(JSON.parse(last)).toEqual({ type: "message-end", id: expect.any(String), delta });
    const errors: unknown[] = [];
    const { textStream } = streamText({
      ...{ model: cohere()(model), prompt: "breaks", maxRetries: 0 },
      onError: ({ error }) => void errors.push(error),
    });
    expect((await Array.fromAsync(textStream)).join("")).toMatch(/^one/);
    expect(errors).toHaveLength(1);
    expect(events[0]).toMatch(/^event: message-start\ndata: \{"type":"message-start"/);
  });
});

test("reads images, thoughts, tool results and documents", async () => {
  const url =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const call = { id: "a", type: "function", function: { name: "weather", arguments: '{"city":"Bonn"}' } };
  const answer = await chat({
    documents: ["One.", { id: "two", data: { text: "Two." } }],
    messages: [
      user([
        { type: "text", text: "weather?" },
        { type: "image_url", image_url: { url } },
      ]),
      { role: "assistant", tool_plan: "I look.", tool_calls: [call] },
      { role: "tool", tool_call_id: "a", content: [{ type: "document", document: { data: { is: "sunny" } } }] },
    ],
    tools: [{ type: "function", function: { name: "weather", parameters: {} } }],
    safety_mode: "STRICT",
    citation_options: { mode: "FAST" },
  });
  expect(((await answer.json()) as Answer).message.content).toEqual([{ type: "text", text: "It is sunny." }]);
  expect(answer.headers.get("x-parlance-ignored-fields")).toBe("safety_mode, citation_options");
});

test("puts documents before the last question, where guardrails read them", async () => {
  const messages = [user("One?"), { role: "assistant", content: "1" }, user("Two?")];
  const documents = ["First.", { id: "b", data: { text: "Second." } }];
  const prompt = "Answer by these documents.\n\nDocument doc:0:\nFirst.\n\nDocument b:\ntext: Second.\n\nTwo?";
  const answer = await answerTo({ model: "guarded", messages, documents });
  expect(answer.message.content).toEqual([{ type: "text", text: prompt }]);
  const refused = await chat({ model: "guarded", messages, documents: [{ data: { text: "forbidden" } }] });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("words")]);
});

test("moderates documents, also those in results of tools", async () => {
  const data = { text: "I will kill you and your whole family tonight." };
  const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
  const result = { role: "tool", tool_call_id: "a", content: [{ type: "document", document: { data } }] };
  const called = [user("Hi"), { role: "assistant", tool_calls: [call] }, result];
  for (const body of [{ messages: [user("Hi")], documents: [{ data }] }, { messages: called }]) {
    const refused = await chat({ model: "moderated", ...body });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("violence")]);
  }
});

test("refuses in Cohere's form what it cannot do", async () => {
  const messages = [user("Hi")];
  const refused: [object, number, RegExp][] = [
    [{ messages: [] }, 400, /'messages'/],
    [{ messages: [{ role: "bot", content: "a" }] }, 400, /'messages\[0\]\.role'/],
    [{ messages, logprobs: true }, 400, /chat\/completions/],
    [{ messages, tool_choice: "REQUIRED" }, 400, /tool_choice/],
    [{ messages, p: 2 }, 400, /'p'/],
    [{ messages, model: "none" }, 404, /`none`/],
    [
      { messages: [...messages, { role: "tool", tool_call_id: "b", content: "" }], documents: ["a"] },
      400,
      /'messages\[1\]/,
    ],
    [{ messages, mesages: 1, message: "a" }, 400, /'message'/],
  ];
  for (const [body, status, message] of refused) {
    const answer = await chat(body);
    const error = (await answer.json()) as { message: string };
    expect([answer.status, Object.keys(error)]).toEqual([status, ["id", "message"]]);
    expect(error.message).toMatch(message);
  }
  const unknown = await chat({ messages }, { authorization: "Bearer no" });
  expect([unknown.status, Object.keys((await unknown.json()) as object)]).toEqual([401, ["id", "message"]]);
});

test.each(["minilm", "far-minilm"])("embeds with %s for the AI SDK", async (model) => {
  const values = ["a cat", "a dog"];
  const { embeddings, usage } = await embedMany({ model: cohere().embedding(model), values });
  expect(embeddings.map(({ length }) => length)).toEqual([384, 384]);
  expect(usage.tokens).toBeGreaterThan(0);
  const post = (body: object) => service.post("/v2/embed", { model, ...body });
  const inputs = values.map((text) => ({ content: [{ type: "text", text }] }));
  const embedded = await post({ inputs, embedding_types: ["float", "base64"], input_type: "search_query" });
  const answer = (await embedded.json()) as { embeddings: { float: number[][]; base64: string[] } };
  const bytes = Buffer.from(answer.embeddings.base64[0] ?? "", "base64");
  expect(bytes.readFloatLE(0)).toBeCloseTo(answer.embeddings.float[0]?.[0] ?? 0, 6);
  expect(answer).toMatchObject({ texts: values, response_type: "embeddings_by_type" });
  for (const body of [
    {},
    { texts: ["a"], embedding_types: ["int8"] },
    { texts: [], input_type: "image" },
    { images: ["x"] },
  ]) {
    expect((await post(body)).status).toBe(400);
  }
});
