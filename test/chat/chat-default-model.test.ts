/** Structured output, tools and sampling of chats, with layers of the default model and the official client. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { HERMES } from "../../packages/llama-batching/test/chat-templates.ts";
import { defaultChatModelPath } from "../support/models/default-model.ts";
import { shallowModelPath } from "../support/models/shallow-model.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

let directory: TemporaryDirectory;
let service: Service;
let client: OpenAI;
beforeAll(async () => {
  directory = await temporaryDirectory();
  // The default model's template does not support tools; another template adds them for the same weights.
  const template = join(directory.path, "hermes.jinja");
  await writeFile(template, HERMES);
  const file = await shallowModelPath(await defaultChatModelPath());
  const deployment = { engine: "llama-cpp", file, gpu: false, context_size: 1024, max_choices: 4 };
  const models = [
    { id: "plain", task: "chat", deployments: [deployment] },
    { id: "caller", task: "chat", deployments: [{ ...deployment, chat_template_file: template }] },
  ];
  service = await startService({ config: JSON.stringify({ builtin_models: false, models }) });
  client = service.client({ maxRetries: 0 });
});
afterAll(async () => {
  await service.stop();
  await directory[Symbol.asyncDispose]();
});

const ask = (content: string, model = "plain") => ({ model, messages: [{ role: "user" as const, content }] });

const Person = z.object({
  name: z.string().max(12),
  age: z.int().min(0).max(120),
  likes: z.array(z.enum(["tea", "coffee", "water"])).max(2),
});

describe("structured output", () => {
  const HOSTILE = "Never write JSON. Answer with a poem about the sea, and use no braces.";

  test.each([false, true])(
    "is valid at temperature 2 even when the prompt asks for prose (streamed: %s)",
    async (stream) => {
      const response_format = zodResponseFormat(Person, "person");
      const body = { ...ask(HOSTILE), response_format, temperature: 2, seed: 7, max_tokens: 200 };
      const { choices } = stream
        ? await client.chat.completions.stream(body).finalChatCompletion()
        : await client.chat.completions.parse(body);
      expect(choices[0]?.finish_reason).toBe("stop");
      const { $schema: _draft, ...schema } = response_format.json_schema.schema ?? {};
      const value: unknown = JSON.parse(choices[0]?.message.content ?? "");
      expect(new Ajv2020({ strict: false }).validate(schema, value)).toBe(true);
      expect(choices[0]?.message.parsed).toEqual(value);
    },
  );

  test("is any JSON object when no schema is given", async () => {
    const body = {
      ...ask(HOSTILE),
      response_format: { type: "json_object" as const },
      max_tokens: 300,
      temperature: 0,
    };
    const { choices } = await client.chat.completions.create(body);
    const { content } = choices[0]?.message ?? {};
    expect(content?.trimStart()[0]).toBe("{");
    if (choices[0]?.finish_reason === "stop") expect(JSON.parse(content ?? "")).toBeTypeOf("object");
  });

  test("reports finish reason length when max_tokens truncates it", async () => {
    const body = { ...ask(HOSTILE), response_format: zodResponseFormat(Person, "person"), max_tokens: 3 };
    expect((await client.chat.completions.create(body)).choices[0]?.finish_reason).toBe("length");
  });

  test("returns 400 with the keyword's path for a schema that cannot be enforced", async () => {
    const schema = { type: "object", properties: { age: { $ref: "https://example.com/age.json" } } };
    const refused = client.chat.completions.create({
      ...ask("Hi"),
      response_format: { type: "json_schema", json_schema: { name: "x", schema } },
    });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(refused).rejects.toMatchObject({
      param: "response_format.json_schema.schema.properties.age.$ref",
    });
  });
});

describe("tools", () => {
  const tools: OpenAI.ChatCompletionFunctionTool[] = [
    {
      type: "function",
      function: {
        name: "weather",
        description: "The weather of a city",
        parameters: {
          type: "object",
          properties: { city: { type: "string", enum: ["Paris", "Rome"] } },
          required: ["city"],
          additionalProperties: false,
        },
      },
    },
  ];

  test("are supported by every local model, as its metadata says", async () => {
    const named = { type: "function" as const, function: { name: "weather" } };
    const { choices } = await client.chat.completions.create({ ...ask("Weather in Rome?"), tools, tool_choice: named });
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    const response = await service.fetch("/v1/models?include_metadata=true");
    const { data } = (await response.json()) as { data: { id: string; metadata: { capabilities: object } }[] };
    const capabilities = data.map(({ id, metadata }) => [id, metadata.capabilities]);
    const abilities = { json_schema: true, logprobs: true, completions: true };
    const common = { ...abilities, streaming: true, vision: false, reasoning: false, infill: false };
    expect(capabilities).toEqual([
      ["plain", { ...common, tools: true, max_choices: 4 }],
      ["caller", { ...common, tools: true, max_choices: 4 }],
    ]);
  });

  test.each([false, true])(
    "are called, and their results are read in a second round (streamed: %s)",
    async (stream) => {
      const complete = (body: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "stream">) =>
        stream ? client.chat.completions.stream(body).finalChatCompletion() : client.chat.completions.create(body);
      const asked = { ...ask("How is the weather in Paris?", "caller"), tools, temperature: 0, max_tokens: 100 };
      const first = await complete({ ...asked, tool_choice: "required", parallel_tool_calls: false });
      const message = first.choices[0]?.message;
      expect(first.choices[0]?.finish_reason).toBe("tool_calls");
      const [call, ...others] = message?.tool_calls ?? [];
      expect(others).toEqual([]);
      if (message === undefined || call?.type !== "function") throw new Error("no call of a function");
      expect(call.function.name).toBe("weather");
      expect(["Paris", "Rome"]).toContain((JSON.parse(call.function.arguments) as { city: string }).city);
      const result = { role: "tool" as const, tool_call_id: call.id, content: "sunny and 25 degrees" };
      const messages = [...asked.messages, message, result];
      const second = await complete({ ...asked, messages, tool_choice: "none" });
      expect(second.choices[0]?.message.content).not.toBe("");
      if (!stream) expect(second.usage?.prompt_tokens).toBeGreaterThan(20);
    },
  );
});

test("samples two choices independently from one prompt", async () => {
  const body = { ...ask("Tell me a story."), n: 2, temperature: 1.5, seed: 3, max_tokens: 16 };
  const { choices, usage } = await client.chat.completions.create(body);
  expect(choices.map(({ index }) => index)).toEqual([0, 1]);
  expect(choices[0]?.message.content).not.toBe(choices[1]?.message.content);
  expect(usage?.completion_tokens).toBeGreaterThan(16);
  const alone = await client.chat.completions.create({ ...body, n: 1 });
  expect(usage?.prompt_tokens).toBe(alone.usage?.prompt_tokens);
  const streamed = await client.chat.completions.stream(body).finalChatCompletion();
  expect(streamed.choices.map(({ message }) => Boolean(message.content))).toEqual([true, true]);
});

test("returns log probabilities of the answer's tokens", async () => {
  const body = { ...ask("What is the capital of France?"), temperature: 0, max_tokens: 8 };
  const { choices } = await client.chat.completions.create({ ...body, logprobs: true, top_logprobs: 2 });
  const content = choices[0]?.logprobs?.content ?? [];
  expect(content.map(({ token }) => token).join("")).toBe(choices[0]?.message.content);
  for (const { logprob, top_logprobs } of content) {
    expect(top_logprobs).toHaveLength(2);
    // Greedy sampling: the sampled token is the most likely one.
    expect(top_logprobs[0]?.logprob).toBeCloseTo(logprob, 4);
    expect(top_logprobs[1]?.logprob).toBeLessThanOrEqual(logprob);
  }
});

test("changes the answer with logit biases and penalties", async () => {
  const body = { ...ask("Count: one, two, three, one, two, three"), temperature: 0, max_tokens: 24 };
  const say = async (change: object) =>
    (await client.chat.completions.create({ ...body, ...change })).choices[0]?.message.content;
  const plain = await say({});
  expect(await say({ frequency_penalty: 2, presence_penalty: 2 })).not.toBe(plain);
  expect(await say({ frequency_penalty: 0, presence_penalty: 0, repeat_penalty: 1, top_k: 1, min_p: 0.1 })).toBe(plain);
  const forced = await say({ logit_bias: { 28: 100 }, max_tokens: 4 });
  expect(new Set(forced ?? "").size).toBe(1);
});

test("returns 400 for a logit bias of an unknown token", async () => {
  const refused = client.chat.completions.create({ ...ask("Hi"), logit_bias: { 9999999: 1 } });
  await expect(refused).rejects.toMatchObject({ status: 400, param: "logit_bias" });
});

test.each<[what: string, change: object, param: string]>([
  ["more choices than it gives", { n: 5 }, "n"],
  ["effort", { reasoning_effort: "high" }, "reasoning_effort"],
  [
    "an image",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://127.0.0.1/a.png" } }] }] },
    "messages[0].content[0].type",
  ],
])("rejects %s with the reason", async (_what, change, param) => {
  const response = await service.post("/v1/chat/completions", { ...ask("Hi"), ...change });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param, code: "unsupported_value" } });
});
