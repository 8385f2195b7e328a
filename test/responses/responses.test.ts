/** POST /v1/responses through the official client and the AI SDK, on the scripted engine. */

import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import type OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { errorOf } from "../support/service/wire-error.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const config = `
builtin_models: false
models:
  - id: caller
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, reasoning: true, vision: true, json_schema: true, logprobs: true }
        replies:
          - match: weather
            match_tool: sunny
            text: "It is sunny in Paris."
          - match: weather
            reasoning: "I have to ask."
            tool_calls:
              - { name: weather, arguments: { city: Paris } }
              - { name: maps__find, arguments: { place: Paris } }
              - { name: patch, arguments: { input: "*** Begin\\nŁódź" } }
          - match: Jane
            text: '{"name": "Jane", "age": 41}'
          - match: forbidden
            refusal: "I cannot help."
          - match: breaks
            text: "one two three"
            fail_after_tokens: 2
            fail_with: { kind: upstream-failed, message: "Down." }
          - match: slow
            text: "${"word ".repeat(200)}"
            delay_ms_per_token: 50
        echo: true
  - { id: judge, task: moderation, deployments: [{ engine: classifier }] }
  - id: plain
    task: chat
    deployments:
      - { engine: scripted, context_window: 200, echo: true }
`;

const CHAT = { messages: [{ role: "user", content: "Hi" }] };

let service: Service;
let upstream: Service;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startService({ config });
  service = await startService({
    config: `${config}
  - { id: far, task: chat, deployments: [${deploymentAt(upstream, "caller")}] }
  - { id: native, task: chat, deployments: [${deploymentAt(upstream, "caller", { abilities: { responses: true } })}] }
`,
  });
  client = service.client({ maxRetries: 0 });
});
afterAll(() => Promise.all([service?.stop(), upstream?.stop()]));

const model = "caller";
const weather: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  strict: false,
};
const maps: OpenAI.Responses.NamespaceTool = {
  type: "namespace",
  name: "maps",
  description: "Maps",
  tools: [{ type: "function", name: "find", parameters: { type: "object" } }],
};
const patch: OpenAI.Responses.CustomTool = { type: "custom", name: "patch", description: "Applies a patch" };

describe.each([false, true])("streamed: %s", (stream) => {
  const create = async (body: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
    stream ? client.responses.stream({ ...body, stream: true }).finalResponse() : client.responses.create(body);

  test("answers a text with text and usage", async () => {
    const response = await create({ model, instructions: "Repeat.", input: "Say this again", store: false });
    expect(response).toMatchObject({ object: "response", status: "completed", model, store: false, error: null });
    expect(response.output_text).toBe("Say this again");
    expect(response.usage?.total_tokens).toBeGreaterThan(5);
  });

  test("calls functions, functions of a namespace and custom tools, and reads their results", async () => {
    const question = { role: "user" as const, content: "How is the weather?" };
    const tools = [weather, maps, patch];
    const first = await create({ model, input: [question], tools });
    expect(first.output).toMatchObject([
      { type: "reasoning", content: [{ type: "reasoning_text", text: "I have to ask." }] },
      { type: "function_call", name: "weather", arguments: '{"city":"Paris"}' },
      { type: "function_call", name: "find", namespace: "maps" },
      { type: "custom_tool_call", name: "patch", input: "*** Begin\nŁódź" },
    ]);
    const results = first.output.flatMap((item): OpenAI.Responses.ResponseInputItem[] => {
      if (item.type === "function_call")
        return [{ type: "function_call_output", call_id: item.call_id, output: "sunny" }];
      if (item.type !== "custom_tool_call") return [];
      return [{ type: "custom_tool_call_output", call_id: item.call_id, output: "sunny" }];
    });
    const input = [question, ...(first.output as OpenAI.Responses.ResponseInputItem[]), ...results];
    const second = await create({ model, input, tools });
    expect(second.output_text).toBe("It is sunny in Paris.");
  });

  test("marks the answer incomplete at max_output_tokens", async () => {
    const response = await create({ model, input: "one two three four", max_output_tokens: 2 });
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  });
});

test("streams every event of a text, numbered from 0", async () => {
  const events = await Array.fromAsync(await client.responses.create({ model, input: "one two", stream: true }));
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  const types = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
  expect(types).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
});

test("parses an answer in a schema", async () => {
  const format = zodTextFormat(z.object({ name: z.string(), age: z.number() }), "person");
  const response = await client.responses.parse({ model, input: "Jane", text: { format } });
  expect(response.output_parsed).toEqual({ name: "Jane", age: 41 });
});

test("ends a stream that fails with response.failed", async () => {
  const events = await Array.fromAsync(await client.responses.create({ model, input: "breaks", stream: true }));
  expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
});

const HOSTED_TOOLS = [
  ...["web_search", "web_search_preview", "code_interpreter", "image_generation", "mcp"],
  ...["computer_use", "toString"],
];

describe.each([
  ["as JSON", {}],
  ["as a stream", { stream: true }],
  ["in the background", { background: true }],
  ["from an upstream with chat completions only", { model: "far" }],
])("asked for %s", (_how, fields) => {
  const create = (part: object) => service.post("/v1/responses", { model, input: "Hi", ...fields, ...part });

  test.each(HOSTED_TOOLS)("refuses the hosted tool %s by its name", async (type) => {
    for (const tools of [[weather, { type }], [{ ...maps, tools: [...maps.tools, { type }] }]]) {
      const response = await create({ tools });
      expect(response.status).toBe(400);
      const { message, param, code } = await errorOf(response);
      expect({ param, code }).toEqual({
        param: tools.length === 2 ? "tools[1].type" : "tools[0].tools[1].type",
        code: "unsupported_value",
      });
      expect(message).toContain(`'${type}'`);
      expect(message).toContain("a function");
    }
  });

  test.each([
    [{ tools: [{ ...weather, type: "functoin" }] }, "tools[0].type", "'function'"],
    [{ include: ["web_search_call.action.sources"] }, "include[0]", "leave it out"],
    [{ include: ["reasoning.encripted_content"] }, "include[0]", "'reasoning.encrypted_content'"],
    [{ max_tokens: 5 }, "max_tokens", "'max_output_tokens'"],
    [{ response_format: { type: "json_object" } }, "response_format", "'text.format'"],
    [{ messages: [{ role: "user", content: "Hi" }] }, "messages", "'input'"],
    [{ stop: ["x"] }, "stop", "/v1/chat/completions"],
    [{ n: 2 }, "n", "several times"],
    [{ seed: 1 }, "seed", "/v1/chat/completions"],
    [{ top_k: 20 }, "top_k", "/v1/chat/completions"],
    [{ guided_json: {} }, "guided_json", "'text.format'"],
    [{ context_management: [{ type: "compaction" }] }, "context_management[0].compact_threshold", "Missing"],
    [{ context_management: [{ type: "clear" }] }, "context_management[0].type", "compaction"],
    [{ temprature: 1 }, "temprature", "'temperature'"],
    [{ tool_choice: { type: "web_search_preview" } }, "tool_choice.type", "web_search_preview"],
  ])("refuses %j and says what to send", async (part, param, instead) => {
    const response = await create(part);
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error.param).toBe(param);
    expect(error.message).toContain(instead);
  });
});

test("accepts what equals the behavior without it, and names fields that it ignores", async () => {
  const part = { include: ["reasoning.encrypted_content", "message.output_text.logprobs"], service_tier: "auto" };
  const same = { n: 1, stop: null, seed: null, tools: [], top_k: -1, messages: [] };
  const body = { model, input: "Hi", ...part, ...same, text: { verbosity: "low" }, own_field: 1, truncation: "auto" };
  const response = await service.post("/v1/responses", body);
  expect(response.status).toBe(200);
  expect(response.headers.get("x-parlance-ignored-fields")).toBe("own_field, text.verbosity");
  expect(await response.json()).toMatchObject({ text: { verbosity: "low" } });
  const tier = await service.post("/v1/responses", { model, input: "Hi", service_tier: "flex" });
  expect(tier.headers.get("x-parlance-ignored-fields")).toBe("service_tier");
  expect(await tier.json()).toMatchObject({ status: "completed", service_tier: "default" });
});

test("refuses options of streams without a stream", async () => {
  const response = await service.post("/v1/responses", { model, input: "Hi", stream_options: {} });
  expect(response.status).toBe(400);
  const { param, message } = await errorOf(response);
  expect(param).toBe("stream_options");
  expect(message).toContain("'stream' is true");
});

test("takes the penalties of Open Responses, and shows them", async () => {
  const penalties = { frequency_penalty: 0.5, presence_penalty: -1 };
  const response = await service.post("/v1/responses", { model, input: "Hi", ...penalties });
  expect(response.headers.get("x-parlance-ignored-fields")).toBeNull();
  expect(await response.json()).toMatchObject({ ...penalties, completed_at: expect.any(Number) });
  const refused = await errorOf(await service.post("/v1/responses", { model, input: "Hi", presence_penalty: 3 }));
  expect(refused.param).toBe("presence_penalty");
});

test("leaves out the oldest items for truncation auto, stored, streamed and in the background", async () => {
  const turn = (index: number) => ({ role: "user" as const, content: `${"word ".repeat(40)}${index}` });
  const turns = Array.from({ length: 8 }, (_each, at) => turn(at));
  const hello = { role: "user" as const, content: "Hi" };
  const input = [{ role: "system" as const, content: "Be brief." }, ...turns, hello];
  const create = (more: object) => service.post("/v1/responses", { model: "plain", input, ...more });
  expect((await errorOf(await create({}))).code).toBe("context_length_exceeded");
  const answered = await create({ truncation: "auto" });
  expect(answered.headers.get("x-parlance-ignored-fields")).toBeNull();
  const response = (await answered.json()) as OpenAI.Responses.Response;
  expect(response).toMatchObject({ status: "completed", truncation: "auto" });
  expect(response.usage?.input_tokens).toBeGreaterThan(60);
  const items = await client.responses.inputItems.list(response.id);
  expect(items.data).toHaveLength(10);
  expect(await (await create({ truncation: "auto", stream: true })).text()).toContain("response.completed");
  const { id } = await client.responses.create({ model: "plain", input, truncation: "auto", background: true });
  await eventually(async () => expect((await client.responses.retrieve(id)).status).toBe("completed"));
});

test("passes the verbosity on to an upstream with chat completions only", async () => {
  const response = await service.post("/v1/responses", { model: "far", input: "Hi", text: { verbosity: "low" } });
  expect(response.headers.get("x-parlance-ignored-fields")).toBeNull();
  await eventually(() => {
    const line = upstream.log().findLast(({ path }) => path === "/v1/chat/completions");
    expect(line).toMatchObject({ status: 200, ignoredFields: "verbosity" });
  });
});

test("forwards hosted tools, includes and other fields to an upstream with the Responses API", async () => {
  const refused = (part: object) => service.post("/v1/responses", { model: "native", input: "Hi", ...part });
  // The upstream is another Parlance, which refuses them.
  for (const [part, param] of [
    [{ tools: [{ type: "web_search" }] }, "tools[0].type"],
    [{ include: ["web_search_call.action.sources"] }, "include[0]"],
    [{ seed: 1 }, "seed"],
  ] as const) {
    expect((await errorOf(await refused(part))).param).toBe(param);
    await eventually(() => {
      expect(upstream.log().findLast(({ path }) => path === "/v1/responses")).toMatchObject({ status: 400 });
    });
  }
  const { response } = await client.responses.create({ model: "native", input: "Hi" }).withResponse();
  expect(response.status).toBe(200);
});

test("says that 'messages' belongs to chat completions where 'input' is missing", async () => {
  const response = await service.post("/v1/responses", { model, messages: [{ role: "user", content: "Hi" }] });
  const { param, message } = await errorOf(response);
  expect(param).toBe("input");
  expect(message).toContain("/v1/chat/completions");
});

test.each([
  [
    "/v1/responses",
    { input: "Hi" },
    { type: "function", function: { name: "f", parameters: {} } },
    '"type": "function", "name"',
  ],
  ["/v1/responses", { input: "Hi" }, { name: "f", input_schema: {} }, '"type": "function", "name"'],
  ["/v1/chat/completions", CHAT, { type: "function", name: "f", parameters: {} }, '"function": {"name"'],
  ["/v1/chat/completions", CHAT, { name: "f", input_schema: { type: "object" } }, '"function": {"name"'],
])("says at %s how a tool in another API's form is written: %j", async (path, fields, tool, form) => {
  const response = await service.post(path, { model, ...fields, tools: [tool] });
  expect(response.status).toBe(400);
  const { param, message } = await errorOf(response);
  expect(param).toBe("tools[0]");
  expect(message).toContain(form);
});

describe.each(["caller", "far"])("the model %s declines to answer", (name) => {
  const question = { model: name, input: "forbidden" };

  test.each([false, true])("with a refusal in a response, streamed: %s", async (stream) => {
    const response = stream
      ? await client.responses.stream(question).finalResponse()
      : await client.responses.create(question);
    expect(response.status).toBe("completed");
    expect(response.output).toMatchObject([
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "I cannot help." }] },
    ]);
    expect(response.output_text).toBe("");
  });

  test("with the events of a refusal", async () => {
    const events = await Array.fromAsync(await client.responses.create({ ...question, stream: true }));
    const types = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
    expect(types.slice(2, -1)).toEqual([
      "response.output_item.added",
      "response.content_part.added",
      "response.refusal.delta",
      "response.refusal.done",
      "response.content_part.done",
      "response.output_item.done",
    ]);
  });

  test.each([false, true])("with a refusal in a chat completion, streamed: %s", async (stream) => {
    const messages = [{ role: "user" as const, content: "forbidden" }];
    const completion = stream
      ? await client.chat.completions.stream({ model: name, messages }).finalChatCompletion()
      : await client.chat.completions.create({ model: name, messages });
    expect(completion.choices[0]?.message).toMatchObject({ refusal: "I cannot help." });
    expect(completion.choices[0]?.message.content || null).toBeNull();
  });

  test("with the stop reason refusal in a message", async () => {
    const response = await service.post("/v1/messages", {
      model: name,
      max_tokens: 50,
      messages: [{ role: "user", content: "forbidden" }],
    });
    expect(await response.json()).toMatchObject({
      stop_reason: "refusal",
      content: [{ type: "text", text: "I cannot help." }],
    });
  });
});

test("states the moderation of a response as OpenAI's document does: one result for each direction", async () => {
  const moderate = async (policy: object) => {
    const response = await service.post("/v1/responses", {
      model,
      input: "Hi",
      moderation: { model: "judge", policy },
    });
    return ((await response.json()) as { moderation: object }).moderation;
  };
  const both = { input: { mode: "score" }, output: { mode: "score" } };
  const result = {
    type: "moderation_result",
    model: "judge",
    flagged: false,
    categories: expect.any(Object),
    category_scores: expect.any(Object),
    category_applied_input_types: expect.any(Object),
  };
  expect(await moderate(both)).toEqual({ input: result, output: result });
});

test("leaves out 'user' where the request has none, and completes functions as OpenAI's document does", async () => {
  const response = await client.responses.create({
    model,
    input: "Hi",
    tools: [{ type: "function", name: "f" } as never],
  });
  expect(response).not.toHaveProperty("user");
  expect(response.tools).toEqual([{ type: "function", name: "f", parameters: null, strict: null }]);
  expect(await client.responses.create({ model, input: "Hi", user: "u" })).toMatchObject({ user: "u" });
});

test.each([
  [{ previous_response_id: 1 }, "previous_response_id"],
  [{ conversation: { name: "x" } }, "conversation.id"],
  [{ previous_response_id: "resp_1", conversation: "conv_1" }, "conversation"],
  [{ background: true, store: false }, "store"],
  [{ metadata: { a: 1 } }, "metadata.a"],
  [{ metadata: { a: "x".repeat(513) } }, "metadata.a"],
  [{ input: [] }, "input"],
  [{ input: undefined }, "input"],
  [{ input: [{ type: "item_reference" }] }, "input[0].id"],
  [{ input: [{ type: "web_search_call" }] }, "input[0].action"],
  [{ tools: [{ type: "file_search" }] }, "tools[0].vector_store_ids"],
  [{ input: [{ type: "function_call_output", call_id: "call_1", output: "x" }] }, "input[0].call_id"],
  [{ input: [{ role: "nobody", content: "x" }] }, "input[0].role"],
  [{ tools: [{ type: "function", name: "no name" }] }, "tools[0].name"],
  [{ tool_choice: { type: "function", name: "none" } }, "tool_choice.name"],
  [{ max_output_tokens: 0 }, "max_output_tokens"],
  [{ model: "plain", input: "word ".repeat(300) }, "input"],
  [{ model: "plain", text: { format: { type: "json_object" } } }, "text.format"],
  [{ model: "plain", top_logprobs: 2 }, "top_logprobs"],
  [{ model: "plain", tools: [{ type: "function", name: "f" }] }, "tools"],
])("rejects %j", async (part, param) => {
  const body = { model, input: "Hi", ...part } as OpenAI.Responses.ResponseCreateParamsNonStreaming;
  await expect(client.responses.create(body)).rejects.toMatchObject({ status: 400, param });
});

test("serves the AI SDK's default model with tools", async () => {
  const provider = createOpenAI({ baseURL: service.baseUrl, apiKey: service.apiKey });
  const { textStream } = streamText({ model: provider(model), prompt: "Echo this" });
  expect((await Array.fromAsync(textStream)).join("")).toBe("Echo this");
  const { text } = await generateText({
    model: provider(model),
    prompt: "How is the weather?",
    tools: { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: async () => "sunny" }) },
    stopWhen: stepCountIs(3),
  });
  expect(text).toBe("It is sunny in Paris.");
});

test("frees the slot when the client disconnects", async () => {
  const stream = await client.responses.create({ model, input: "slow", stream: true });
  for await (const { type } of stream) if (type === "response.output_text.delta") break;
  stream.controller.abort();
  await eventually(() => {
    const line = service.log().findLast(({ path, outcome }) => path === "/v1/responses" && outcome === "client-left");
    expect(line).toMatchObject({ status: 499 });
  });
});
