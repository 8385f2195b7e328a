/** Chat completions with the real default model and the official client. */

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseEvents } from "../../src/kernel/server-sent-events.ts";
import { type Service, startService } from "../support/service/service.ts";

const MODEL = "smollm2-135m-instruct";
const system: OpenAI.ChatCompletionMessageParam = { role: "system", content: "You are a helpful assistant." };
const france: OpenAI.ChatCompletionMessageParam[] = [
  system,
  { role: "user", content: "What is the capital of France?" },
];

let service: Service;
let client: OpenAI;
beforeAll(async () => {
  service = await startService({ config: "builtin_models: true\nlocal: { unload_after_seconds: 0 }\n" });
  client = service.client({ maxRetries: 0 });
});
afterAll(() => service.stop());

test("answers a question with the default model", async () => {
  const completion = await client.chat.completions.create({ model: MODEL, messages: france, temperature: 0 });
  expect(completion).toMatchObject({ object: "chat.completion", model: MODEL });
  expect(completion.id).toMatch(/^chatcmpl-/);
  expect(Math.abs(completion.created - Date.now() / 1000)).toBeLessThan(60);
  const [choice] = completion.choices;
  expect(choice).toMatchObject({ index: 0, finish_reason: "stop", message: { role: "assistant", refusal: null } });
  expect(choice?.message.content).toContain("Paris");
  const { prompt_tokens, completion_tokens, total_tokens } = completion.usage ?? {};
  expect(prompt_tokens).toBeGreaterThan(10);
  expect(completion_tokens).toBeGreaterThan(2);
  expect(total_tokens).toBe(Number(prompt_tokens) + Number(completion_tokens));
});

test("streams a role chunk, then text, a finish reason, the usage and [DONE]", async () => {
  const body = {
    model: MODEL,
    messages: france,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  };
  const response = await service.post("/v1/chat/completions", body);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const stream = await response.text();
  expect(stream).toMatch(/\n\ndata: \[DONE\]\n\n$/);
  const chunks = parseEvents(stream)
    .slice(0, -1)
    .map(({ data }) => JSON.parse(data));
  const usage = chunks.pop();
  expect(usage.choices).toEqual([]);
  expect(usage.usage.total_tokens).toBe(usage.usage.prompt_tokens + usage.usage.completion_tokens);
  expect(chunks[0].choices[0]).toEqual({
    index: 0,
    delta: { role: "assistant", content: "" },
    logprobs: null,
    finish_reason: null,
  });
  expect(chunks.at(-1).choices[0]).toMatchObject({ delta: {}, finish_reason: "stop" });
  expect(chunks.every((chunk) => chunk.usage === null && chunk.object === "chat.completion.chunk")).toBe(true);
  expect(new Set([...chunks, usage].map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1);
  const text = chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("");
  const complete = await client.chat.completions.create({ model: MODEL, messages: france, temperature: 0 });
  expect(text).toBe(complete.choices[0]?.message.content);
});

test("omits usage from the official client's stream unless requested", async () => {
  const stream = await client.chat.completions.create({ model: MODEL, messages: france, max_tokens: 8, stream: true });
  let text = "";
  let reason: string | null | undefined;
  for await (const chunk of stream) {
    expect(chunk.usage ?? null).toBeNull();
    text += chunk.choices[0]?.delta.content ?? "";
    reason = chunk.choices[0]?.finish_reason ?? reason;
  }
  expect(text.length).toBeGreaterThan(0);
  expect(["length", "stop"]).toContain(reason);
});

test("truncates the answer at max_tokens with finish reason length", async () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Tell me a long story." }];
  const completion = await client.chat.completions.create({ model: MODEL, messages, max_completion_tokens: 5 });
  expect(completion.choices[0]?.finish_reason).toBe("length");
  expect(completion.usage?.completion_tokens).toBe(5);
});

test("ends the answer at a stop sequence and omits the sequence", async () => {
  const completion = await client.chat.completions.create({
    model: MODEL,
    messages: france,
    temperature: 0,
    stop: ["Paris"],
  });
  expect(completion.choices[0]?.finish_reason).toBe("stop");
  expect(completion.choices[0]?.message.content).not.toContain("Par");
});

test("returns the same text for the same seed", async () => {
  const ask = () =>
    client.chat.completions.create({ model: MODEL, messages: france, temperature: 1.5, seed: 42, max_tokens: 24 });
  const [first, second] = [await ask(), await ask()];
  expect(first.choices[0]?.message.content).toBe(second.choices[0]?.message.content);
});

test("passes system and developer messages and text parts to the model", async () => {
  const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
    client.chat.completions.create({ model: MODEL, messages, max_tokens: 1 });
  const system = await ask([{ role: "system", content: "You are a pirate." }, ...france]);
  const developer = await ask([{ role: "developer", content: "You are a pirate." }, ...france]);
  const parts = await ask([
    {
      role: "system",
      content: [
        { type: "text", text: "You are " },
        { type: "text", text: "a pirate." },
      ],
    },
    ...france,
  ]);
  const counts = [system, developer, parts].map((each) => each.usage?.prompt_tokens);
  expect(new Set(counts).size).toBe(1);
});

test("answers concurrent requests, each with its own answer", async () => {
  const capitals = { France: "Paris", Greece: "Athens", Germany: "Berlin", Egypt: "Cairo", Japan: "Tokyo" };
  const answers = await Promise.all(
    Object.keys(capitals).map((country) =>
      client.chat.completions.create({
        model: MODEL,
        temperature: 0,
        max_tokens: 24,
        messages: [system, { role: "user", content: `What is the capital of ${country}?` }],
      }),
    ),
  );
  for (const [index, city] of Object.values(capitals).entries()) {
    expect(answers[index]?.choices[0]?.message.content).toContain(city);
  }
});

test("rejects a prompt longer than the context window with both counts", async () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "word ".repeat(20_000) }];
  const refusal = await client.chat.completions.create({ model: MODEL, messages }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(OpenAI.BadRequestError);
  expect(refusal).toMatchObject({ code: "context_length_exceeded", param: "messages" });
  expect((refusal as Error).message).toMatch(/\d{4}.*\d{5}|\d{5}.*\d{4}/);
});

describe("the listing", () => {
  test("puts the default chat model first, as retrieved by id", async () => {
    const { data } = await client.models.list();
    expect(data[0]).toMatchObject({ id: MODEL, object: "model" });
    expect(Number.isInteger(data[0]?.created)).toBe(true);
    expect(await client.models.retrieve(MODEL)).toEqual(data[0]);
  });

  test("returns 404 for an unknown ID", async () => {
    await expect(client.models.retrieve("a/b:c")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});
