/** Upstreams that have the Responses or the Messages API: another Parlance, behind the official clients. */

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseEvents } from "../../src/kernel/server-sent-events.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const upstreamConfig = `
builtin_models: false
models:
  - id: remote
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, reasoning: true }
        replies:
          - match: weather
            match_tool: sunny
            text: "It is sunny."
          - match: weather
            tool_calls: [{ name: weather, arguments: { city: Paris } }]
          - match: breaks
            text: "one two three"
            fail_after_tokens: 2
            fail_with: { kind: upstream-failed, message: "Down." }
          - match: slow
            text: "${"word ".repeat(200)}"
            delay_ms_per_token: 50
        echo: true
`;

let upstream: Service;
let service: Service;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  upstream = await startService({ config: upstreamConfig });
  const deployment = (abilities: object) => deploymentAt(upstream, "remote", { abilities });
  const config = `
builtin_models: false
models:
  - id: native
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments: [${deployment({ responses: true, messages: true })}]
  - id: chat-only
    task: chat
    deployments: [${deployment({})}]
  - id: moderated
    task: moderation
    deployments: [${deployment({})}]
`;
  service = await startService({ config });
  openai = service.client({ maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

const upstreamPaths = () => upstream.log().flatMap(({ msg, path }) => (msg === "request" ? [path] : []));
const lastUpstreamPath = () => upstreamPaths().at(-1);
const weather = { type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false };

describe.each(["native", "chat-only"])("the Responses API of %s", (model) => {
  const path = model === "native" ? "/v1/responses" : "/v1/chat/completions";

  test("answers and stores the response here, not at the upstream", async () => {
    const response = await openai.responses.create({ model, input: "Say this" });
    expect(response).toMatchObject({ model, output_text: "Say this", store: true, status: "completed" });
    await eventually(() => expect(lastUpstreamPath()).toBe(path));
    expect(await openai.responses.retrieve(response.id)).toMatchObject({ output_text: "Say this" });
    const elsewhere = upstream.client({ maxRetries: 0 }).responses.retrieve(response.id);
    await expect(elsewhere).rejects.toMatchObject({ status: 404 });
  });

  test("streams, calls tools and continues from the stored response", async () => {
    const asked = await openai.responses
      .stream({ model, input: "How is the weather?", tools: [weather] })
      .finalResponse();
    expect(asked).toMatchObject({ model, store: true });
    const [call] = asked.output;
    if (call?.type !== "function_call") throw new Error("no call");
    const answered = await openai.responses
      .stream({
        model,
        previous_response_id: asked.id,
        tools: [weather],
        input: [{ type: "function_call_output", call_id: call.call_id, output: "sunny" }],
      })
      .finalResponse();
    expect(answered).toMatchObject({ output_text: "It is sunny.", previous_response_id: asked.id });
    await eventually(() => expect(lastUpstreamPath()).toBe(path));
  });

  test("ends a stream that fails with an error", async () => {
    const events: string[] = [];
    const reading = (async () => {
      for await (const event of await openai.responses.create({ model, input: "breaks", stream: true })) {
        events.push(event.type);
        if (event.type === "response.failed") throw new Error("failed");
      }
    })();
    await expect(reading).rejects.toThrow();
    expect(events).toContain("response.output_text.delta");
  });

  test("stops the upstream when the client disconnects, and records the usage", async () => {
    const stream = await openai.responses.create({ model, input: "slow", stream: true });
    for await (const { type } of stream) if (type === "response.output_text.delta") break;
    stream.controller.abort();
    for (const each of [service, upstream]) {
      await eventually(() => {
        const line = each.log().findLast(({ outcome }) => outcome === "client-left");
        expect(line).toMatchObject({ status: 499, promptTokens: expect.any(Number) });
      });
    }
  });
});

test("numbers the error that ends a forwarded stream", async () => {
  const answer = await service.post("/v1/responses", { model: "native", input: "breaks", stream: true });
  const events = parseEvents(await answer.text()).map(({ data }) => JSON.parse(data));
  expect(events.length).toBeGreaterThan(4);
  expect(events.at(-1)).toMatchObject({ type: "error", code: expect.any(String) });
  expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
});

test("reports the upstream's usage and costs of native answers", async () => {
  const before = service.log().length;
  const { usage } = await openai.responses.create({ model: "native", input: "one two three" });
  await eventually(() => {
    const line = service
      .log()
      .slice(before)
      .findLast(({ path, outcome }) => path === "/v1/responses" && outcome === "finished");
    expect(line).toMatchObject({ promptTokens: usage?.input_tokens, completionTokens: usage?.output_tokens });
  });
});

test("forwards hosted tools and items that only the upstream may read", async () => {
  const input = [{ type: "mcp_approval_response", approval_request_id: "x", approve: true }] as never;
  const refused = openai.responses.create({ model: "chat-only", input });
  await expect(refused).rejects.toMatchObject({ status: 400, param: "input[0].approval_request_id" });
  // The upstream of this test does not read them either, and says so in its words.
  const forwarded = openai.responses.create({ model: "native", input });
  await expect(forwarded).rejects.toMatchObject({ status: 400 });
  await eventually(() => expect(lastUpstreamPath()).toBe("/v1/responses"));
  const tools = [{ type: "web_search" as const }];
  const create = (model: string) => openai.responses.create({ model, input: "Hi", tools });
  await expect(create("chat-only")).rejects.toMatchObject({ status: 400, param: "tools[0].type" });
  expect(lastUpstreamPath()).toBe("/v1/responses");
  // The upstream of this test is another Parlance, whose refusal is passed on.
  await expect(create("native")).rejects.toMatchObject({ status: 400, param: "tools[0].type" });
});

describe.each(["native", "chat-only"])("the Messages API of %s", (model) => {
  const path = model === "native" ? "/v1/messages" : "/v1/chat/completions";
  const messages = (content: string) => [{ role: "user" as const, content }];

  test.each([false, true])("answers, streamed: %s", async (stream) => {
    const body = { model, max_tokens: 50, messages: messages("Say this") };
    const message = stream
      ? await anthropic.messages.stream(body).finalMessage()
      : await anthropic.messages.create(body);
    expect(message).toMatchObject({ model, stop_reason: "end_turn", content: [{ type: "text", text: "Say this" }] });
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    await eventually(() => {
      expect(lastUpstreamPath()).toBe(path);
      const line = service.log().findLast((each) => each.path === "/v1/messages");
      expect(line).toMatchObject({ completionTokens: message.usage.output_tokens, outcome: "finished" });
    });
  });

  test("calls tools and reads their results", async () => {
    const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
    const question = messages("How is the weather?");
    const asked = await anthropic.messages.stream({ model, max_tokens: 50, tools, messages: question }).finalMessage();
    const call = asked.content.find(({ type }) => type === "tool_use") as Anthropic.ToolUseBlock;
    const result = { type: "tool_result" as const, tool_use_id: call.id, content: "sunny" };
    const turns = [...question, { role: "assistant" as const, content: asked.content }];
    const answer = await anthropic.messages.create({
      model,
      max_tokens: 50,
      tools,
      messages: [...turns, { role: "user", content: [result] }],
    });
    expect(answer.content).toMatchObject([{ type: "text", text: "It is sunny." }]);
  });

  test("ends a stream that fails with an error", async () => {
    const streaming = anthropic.messages.stream({ model, max_tokens: 50, messages: messages("breaks") }).finalMessage();
    await expect(streaming).rejects.toThrow();
  });
});

test("answers typed where a moderation policy reads the answer", async () => {
  const admin = new OpenAI({ baseURL: service.baseUrl, apiKey: "unused", adminAPIKey: service.adminKey });
  const [project] = (await admin.admin.organization.projects.list()).data;
  const policy = `/v1/organization/projects/${project?.id}/moderation_policy`;
  const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "moderated", policy: { output: { mode: "score" } } });
  expect((await service.fetch(policy, { method: "POST", headers, body })).status).toBe(200);
  const before = upstreamPaths().length;
  try {
    const response = await openai.responses.create({ model: "native", input: "Hi" });
    expect(response.output_text).toBe("Hi");
    await eventually(() => expect(upstreamPaths().slice(before)).toContain("/v1/chat/completions"));
    expect(upstreamPaths().slice(before)).not.toContain("/v1/responses");
  } finally {
    await service.fetch(policy, { method: "DELETE", headers });
  }
});
