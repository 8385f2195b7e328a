/** Choices, log probabilities, reasoning and formats of chat answers, through the official client. */

import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type InProcessService, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
models:
  - id: able
    task: chat
    deployments:
      - engine: scripted
        abilities: { json_schema: true, logprobs: true, reasoning: true, choices: 4 }
        replies:
          - match: colours
            texts: [red is warm, green is for the trees and the grass, blue]
          - match: think
            reasoning: "Two and two make four."
            text: "4"
          - match: event
            text: '{"name":"Science fair","day":5}'
          - text: "Hello there, très good 🐉 friend."
  - id: mixed
    task: chat
    deployments:
      - { engine: scripted, echo: true }
      - { engine: scripted, echo: true, abilities: { logprobs: true, choices: 3 } }
`;

let service: InProcessService;
let client: OpenAI;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  client = service.client({ maxRetries: 0 });
});
afterAll(() => service.stop());

const ask = (content: string) => ({ model: "able", messages: [{ role: "user" as const, content }] });
const COLOURS = ["red is warm", "green is for the trees and the grass", "blue"];

describe("several choices", () => {
  test("are returned in order, each with a finish reason, with their tokens summed", async () => {
    const { choices, usage } = await client.chat.completions.create({ ...ask("colours"), n: 3 });
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([...COLOURS.entries()]);
    expect(choices.map(({ finish_reason }) => finish_reason)).toEqual(["stop", "stop", "stop"]);
    expect(usage?.completion_tokens).toBe(3 + 8 + 1);
  });

  test("are streamed interleaved, each with a first chunk and a finish reason", async () => {
    const stream = await client.chat.completions.create({ ...ask("colours"), n: 3, stream: true });
    const chunks = await Array.fromAsync(stream);
    const order = chunks.map(({ choices }) => choices[0]?.index);
    expect(order.indexOf(2)).toBeLessThan(order.lastIndexOf(0));
    for (const [index, text] of COLOURS.entries()) {
      const own = chunks.flatMap(({ choices }) => choices).filter((choice) => choice.index === index);
      expect(own[0]?.delta).toEqual({ role: "assistant", content: "" });
      expect(own.map(({ delta }) => delta.content ?? "").join("")).toBe(text);
      expect(own.map(({ finish_reason }) => finish_reason).filter(Boolean)).toEqual(["stop"]);
      expect(own.at(-1)).toMatchObject({ delta: {}, finish_reason: "stop" });
    }
    const ends = client.chat.completions.stream({ ...ask("colours"), n: 3 });
    expect((await ends.finalChatCompletion()).choices.map(({ message }) => message.content)).toEqual(COLOURS);
  });

  test("end independently when max_tokens truncates only one", async () => {
    const { choices } = await client.chat.completions.create({ ...ask("colours"), n: 3, max_tokens: 3 });
    expect(choices.map(({ finish_reason }) => finish_reason)).toEqual(["stop", "length", "stop"]);
  });
});

describe("log probabilities", () => {
  const asked = { ...ask("Hi"), logprobs: true, top_logprobs: 3 };

  test("are returned for each token, with the most likely alternatives", async () => {
    const { choices } = await client.chat.completions.create(asked);
    expect(choices[0]?.logprobs?.refusal).toBeNull();
    const content = choices[0]?.logprobs?.content ?? [];
    expect(content.map(({ token }) => token).join("")).toBe(choices[0]?.message.content);
    for (const { token, bytes, logprob, top_logprobs } of content) {
      expect(bytes).toEqual([...Buffer.from(token)]);
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top_logprobs).toHaveLength(3);
      expect(top_logprobs[0]).toEqual({ token, bytes, logprob });
    }
  });

  test("are streamed with the text that they belong to", async () => {
    const complete = await client.chat.completions.create(asked);
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
    expect(streamed.choices[0]?.logprobs?.content).toEqual(complete.choices[0]?.logprobs?.content);
  });

  test("are null unless requested, and have alternatives only on request", async () => {
    const without = await client.chat.completions.create({ ...ask("Hi"), logprobs: true });
    expect(without.choices[0]?.logprobs?.content?.[0]?.top_logprobs).toEqual([]);
    const none = await client.chat.completions.create(ask("Hi"));
    expect(none.choices[0]?.logprobs).toBeNull();
  });
});

describe("reasoning", () => {
  const THOUGHT = { reasoning_content: "Two and two make four.", reasoning: "Two and two make four." };

  test("is separate from the text and counted separately", async () => {
    const { choices, usage } = await client.chat.completions.create(ask("think"));
    expect(choices[0]?.message).toMatchObject({ content: "4", ...THOUGHT });
    expect(usage).toMatchObject({ completion_tokens: 6, completion_tokens_details: { reasoning_tokens: 5 } });
  });

  test("is streamed before the text, in both fields that clients read", async () => {
    const stream = await client.chat.completions.create({
      ...ask("think"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    const deltas = chunks.map(({ choices }) => (choices[0]?.delta ?? {}) as Record<string, string | undefined>);
    expect(deltas[0]).toEqual({ role: "assistant", content: null });
    for (const name of ["reasoning_content", "reasoning"]) {
      expect(deltas.map((delta) => delta[name] ?? "").join("")).toBe("Two and two make four.");
    }
    expect(deltas.findIndex(({ content }) => content)).toBeGreaterThan(
      deltas.findLastIndex(({ reasoning_content }) => reasoning_content),
    );
    expect(chunks.at(-1)?.usage?.completion_tokens_details?.reasoning_tokens).toBe(5);
  });

  test("is omitted with effort none", async () => {
    const { choices } = await client.chat.completions.create({ ...ask("think"), reasoning_effort: "none" });
    expect(choices[0]?.message).not.toHaveProperty("reasoning_content");
  });
});

describe("structured output", () => {
  const Event = z.object({ name: z.string(), day: z.int() });

  test("is parsed by the official client's helper, streamed or not", async () => {
    const body = { ...ask("event"), response_format: zodResponseFormat(Event, "event") };
    const complete = await client.chat.completions.parse(body);
    expect(complete.choices[0]?.message.parsed).toEqual({ name: "Science fair", day: 5 });
    const streamed = await client.chat.completions.stream(body).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual({ name: "Science fair", day: 5 });
  });

  const schema = { type: "object" };
  test.each([
    { type: "json_object" },
    { type: "json_object", schema },
    { type: "json_schema", schema },
    { type: "json_schema", json_schema: schema },
    { type: "json_schema", json_schema: { name: "event", schema, strict: true } },
  ])("accepts the format %j", async (response_format) => {
    const response = await service.post("/v1/chat/completions", { ...ask("event"), response_format });
    expect(response.status).toBe(200);
  });
});

test("accepts penalties, logit biases and sampling limits", async () => {
  const response = await service.post("/v1/chat/completions", {
    ...ask("Hi"),
    frequency_penalty: 1,
    presence_penalty: -1,
    logit_bias: { 5: 100, 7: -100 },
    top_k: 40,
    min_p: 0.05,
    repeat_penalty: 1.1,
  });
  expect(response.status).toBe(200);
});

describe("a model whose deployments differ in capabilities", () => {
  const body = { model: "mixed", messages: [{ role: "user" as const, content: "one two" }] };

  test("answers from the deployment that supports the request", async () => {
    const response = await service.post("/v1/chat/completions", body);
    expect(response.headers.get("x-parlance-deployment")).toBe("mixed#1");
    for (const change of [{ n: 3 }, { logprobs: true }]) {
      const able = await service.post("/v1/chat/completions", { ...body, ...change });
      expect(able.status).toBe(200);
      expect(able.headers.get("x-parlance-deployment")).toBe("mixed#2");
    }
  });

  test("rejects what no deployment supports", async () => {
    const refused = client.chat.completions.create({ ...body, response_format: { type: "json_object" } });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(refused).rejects.toMatchObject({ param: "response_format", code: "unsupported_value" });
  });

  test("is listed with the capabilities of any deployment", async () => {
    const response = await service.fetch("/v1/models?include_metadata=true");
    const { data } = (await response.json()) as { data: { id: string; metadata: { capabilities: object } }[] };
    expect(data.find(({ id }) => id === "mixed")?.metadata.capabilities).toEqual({
      streaming: true,
      tools: false,
      json_schema: false,
      vision: false,
      logprobs: true,
      completions: true,
      infill: false,
      reasoning: false,
      max_choices: 3,
    });
  });
});
