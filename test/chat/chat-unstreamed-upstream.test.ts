/** Upstreams and proxies that ignore `stream` and answer with JSON: their answers are rendered as streams. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const CALL = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } };
const TOOLS = [{ type: "function" as const, function: { name: "weather", parameters: { type: "object" } } }];
const MESSAGES = [{ role: "user" as const, content: "What is the capital of France?" }];

let upstream: Server;
let service: Service;
let client: OpenAI;

beforeAll(async () => {
  upstream = createServer(async (request, answer) => {
    const { tools, n = 1, messages } = JSON.parse((await request.toArray()).join(""));
    answer.setHeader("content-type", "application/json");
    const common = { id: "chatcmpl-1", created: 1, model: "far", usage: USAGE };
    if (request.url?.endsWith("/chat/completions") !== true) {
      const choices = [{ index: 0, text: "Paris", logprobs: null, finish_reason: "stop" }];
      return answer.end(JSON.stringify({ ...common, object: "text_completion", choices }));
    }
    if (JSON.stringify(messages).includes("refuse"))
      return answer.end(
        JSON.stringify({ error: { message: "The prompt is too long.", type: "invalid_request_error" } }),
      );
    if (JSON.stringify(messages).includes("nothing")) return answer.end("{}");
    const message =
      tools === undefined
        ? { role: "assistant", content: "Paris" }
        : { role: "assistant", content: null, tool_calls: [CALL] };
    const finish_reason = tools === undefined ? "stop" : "tool_calls";
    const choices = Array.from({ length: n }, (_each, index) => ({ index, message, logprobs: null, finish_reason }));
    return answer.end(JSON.stringify({ ...common, object: "chat.completion", choices }));
  });
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done));
  const { port } = upstream.address() as AddressInfo;
  service = await startService({
    config: `models:
  - id: far
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1" }]
`,
  });
  client = service.client({ maxRetries: 0 });
});

afterAll(async () => {
  await service?.stop();
  upstream?.close();
});

test("streams the answer of a chat, with usage where the caller asks for it", async () => {
  const body = { model: "far", messages: MESSAGES, stream: true, n: 2 } as const;
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({ ...body, stream_options: { include_usage: true } }),
  );
  for (const choice of [0, 1]) {
    const parts = chunks.flatMap(({ choices }) => choices).filter(({ index }) => index === choice);
    expect(parts.map(({ delta }) => delta.content ?? "").join("")).toBe("Paris");
    expect(parts.at(-1)?.finish_reason).toBe("stop");
  }
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: USAGE });
  const plain = await Array.fromAsync(await client.chat.completions.create(body));
  expect(plain.filter((chunk) => "usage" in chunk)).toEqual([]);
});

test("streams calls of tools", async () => {
  const stream = client.chat.completions.stream({ model: "far", messages: MESSAGES, tools: TOOLS });
  const { choices } = await stream.finalChatCompletion();
  expect(choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { tool_calls: [CALL] } });
});

test("streams text completions", async () => {
  const chunks = await Array.fromAsync(
    await client.completions.create({ model: "far", prompt: "The capital is", stream: true }),
  );
  expect(
    chunks
      .flatMap(({ choices }) => choices)
      .map(({ text }) => text)
      .join(""),
  ).toBe("Paris");
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
});

test("streams responses and messages", async () => {
  const response = await client.responses
    .stream({ model: "far", input: "What is the capital of France?" })
    .finalResponse();
  expect(response).toMatchObject({ output_text: "Paris", usage: { input_tokens: 7, output_tokens: 3 } });
  const anthropic = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
  const message = await anthropic.messages.stream({ model: "far", max_tokens: 20, messages: MESSAGES }).finalMessage();
  expect(message).toMatchObject({
    content: [{ type: "text", text: "Paris" }],
    usage: { input_tokens: 7, output_tokens: 3 },
  });
});

test.each([
  ["refuse", 400, "The prompt is too long."],
  ["nothing", 502, "answered without a stream"],
])("tells an answer to '%s' from a stream", async (content, status, message) => {
  const answer = client.chat.completions.create({ model: "far", messages: [{ role: "user", content }], stream: true });
  await expect(answer).rejects.toMatchObject({ status, message: expect.stringContaining(message) });
});
