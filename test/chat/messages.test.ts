/** POST /v1/messages through Anthropic's official client, on the scripted engine and an upstream. */

import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const MODELS = `
  - id: caller
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, reasoning: true, vision: true, json_schema: true }
        replies:
          - match: weather
            match_tool: sunny
            text: "It is sunny in Paris."
          - match: weather
            text: "Let me look."
            reasoning: "I have to ask."
            tool_calls:
              - { name: weather, arguments: { city: Paris } }
              - { name: weather, arguments: { city: Łódź 🐉, days: 2 } }
          - match: Jane
            text: '{"name": "Jane"}'
          - match: nothing
            text: "One, two, three, four."
          - match: breaks
            text: "one two three"
            fail_after_tokens: 2
            fail_with: { kind: upstream-failed, message: "Down." }
          - match: slow
            text: "${"word ".repeat(200)}"
            delay_ms_per_token: 50
          - match: unsafe
            text: "No."
            finish_reason: content_filter
        echo: true
`;

const config = `
builtin_models: false
models:${MODELS}
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`;

let service: Service;
let upstream: Service;
beforeAll(async () => {
  upstream = await startService({ config: `builtin_models: false\nmodels:${MODELS}` });
  service = await startService({
    config: `${config}
  - id: far
    task: chat
    deployments: [${deploymentAt(upstream, "caller")}]
  - id: native
    task: chat
    deployments: [${deploymentAt(upstream, "caller", { abilities: { messages: true } })}]
  - id: tooled
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, json_schema: true }
        replies:
          - { match: call bash, tool_calls: [{ name: bash, arguments: { command: ls } }] }
          - { match: call str_replace_editor, tool_calls: [{ name: str_replace_editor, arguments: { command: undo_edit } }] }
          - { match: call str_replace_based, tool_calls: [{ name: str_replace_based_edit_tool, arguments: {} }] }
          - match: call memory
            tool_calls: [{ name: memory, arguments: { command: rename, old_path: /a, new_path: /b } }]
          - match: call computer
            tool_calls: [{ name: computer, arguments: { action: zoom, region: [0, 0, 1, 1] } }]
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

function client(options: { apiKey?: string } = {}): Anthropic {
  return new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0, ...options });
}

const weather: Anthropic.Tool = {
  name: "weather",
  description: "The weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } },
};
const ask = (content: Anthropic.MessageParam["content"]): Anthropic.MessageParam[] => [{ role: "user", content }];

async function complete(stream: boolean, body: Omit<Anthropic.MessageCreateParamsNonStreaming, "max_tokens">) {
  const asked = { max_tokens: 1000, ...body };
  return stream ? client().messages.stream(asked).finalMessage() : client().messages.create(asked);
}

const ASKED = { max_tokens: 10, messages: ask("Hi") };

const textOf = ({ content }: Anthropic.Message) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

describe.each(["caller", "far"])("the model %s", (model) => {
  test("has a list of citations with every text: the SDK's type has the field, and the AI SDK refuses null", async () => {
    const { content } = await client().messages.create({ ...ASKED, model });
    expect(content).toEqual([{ type: "text", text: expect.any(String), citations: [] }]);
  });

  describe.each([false, true])("streamed: %s", (stream) => {
    test("answers with text and usage", async () => {
      const message = await complete(stream, { model, system: "Repeat.", messages: ask("Say this again") });
      expect(message).toMatchObject({ type: "message", role: "assistant", model, stop_reason: "end_turn" });
      expect(message.id).toMatch(/^msg_/);
      expect(message.content).toMatchObject([{ type: "text", text: "Say this again" }]);
      expect(message.usage.input_tokens).toBeGreaterThan(3);
      expect(message.usage.output_tokens).toBeGreaterThan(2);
    });

    test("calls tools and reads their results", async () => {
      const question = ask("How is the weather?");
      const first = await complete(stream, { model, messages: question, tools: [weather] });
      expect(first.stop_reason).toBe("tool_use");
      expect(first.content.map(({ type }) => type)).toEqual(["text", "tool_use", "tool_use"]);
      const calls = first.content.filter((block) => block.type === "tool_use");
      expect(calls.map(({ input }) => input)).toEqual([{ city: "Paris" }, { city: "Łódź 🐉", days: 2 }]);
      const results = calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: "sunny" }));
      const second = await complete(stream, {
        model,
        messages: [...question, { role: "assistant", content: first.content }, ...ask(results)],
        tools: [weather],
      });
      expect(textOf(second)).toBe("It is sunny in Paris.");
      expect(second.stop_reason).toBe("end_turn");
    });

    test("shows thinking only to clients that ask for it", async () => {
      const shown = await complete(stream, {
        model,
        messages: ask("How is the weather?"),
        thinking: { type: "enabled", budget_tokens: 1024 },
        tools: [weather],
        tool_choice: { type: "auto", disable_parallel_tool_use: true },
      });
      expect(shown.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
      expect(shown.content[0]).toMatchObject({ thinking: "I have to ask." });
    });

    test("stops at max_tokens", async () => {
      const body = { model, max_tokens: 2, messages: ask("one two three four five") };
      const message = stream
        ? await client().messages.stream(body).finalMessage()
        : await client().messages.create(body);
      expect(message.stop_reason).toBe("max_tokens");
    });

    test("answers with a refusal when the answer is filtered", async () => {
      expect((await complete(stream, { model, messages: ask("unsafe") })).stop_reason).toBe("refusal");
    });
  });

  test("answers in the schema of output_config", async () => {
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const message = await client().messages.create({
      model,
      max_tokens: 100,
      messages: ask("Jane"),
      output_config: { format: { type: "json_schema", schema } },
    });
    expect(JSON.parse(textOf(message))).toEqual({ name: "Jane" });
  });

  test("ends a stream that fails with an error event", async () => {
    const stream = client().messages.stream({ model, max_tokens: 100, messages: ask("breaks") });
    await expect(stream.finalMessage()).rejects.toMatchObject({ type: "api_error" });
  });
});

test("streams the events in Anthropic's order", async () => {
  const body = { model: "caller", max_tokens: 100, messages: ask("How is the weather?"), tools: [weather] };
  const stream = await client().messages.create({ ...body, stream: true });
  const types: string[] = [];
  for await (const { type } of stream) if (types.at(-1) !== type) types.push(type);
  const block = ["content_block_start", "content_block_delta", "content_block_stop"];
  expect(types).toEqual(["message_start", ...block, ...block, ...block, "message_delta", "message_stop"]);
});

test("names the stop sequence that ended the answer", async () => {
  const message = await client().messages.create({
    model: "caller",
    max_tokens: 100,
    messages: ask("nothing"),
    stop_sequences: ["never said", " three"],
  });
  expect(message).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: " three" });
  expect(textOf(message)).toBe("One, two,");
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const picture: Anthropic.ImageBlockParam = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PIXEL },
};

test("reads images when the model has vision", async () => {
  const messages = ask([picture, { type: "text", text: "What is this?" }]);
  expect(textOf(await complete(false, { model: "caller", messages }))).toContain("What is this?");
  await expect(complete(false, { model: "parrot", messages })).rejects.toMatchObject({ status: 400 });
});

test("names unknown fields that it ignores", async () => {
  const body = { model: "parrot", max_tokens: 10, messages: ask("Hi"), speed: "fast" as const };
  const { response } = await client().messages.create(body).withResponse();
  expect(response.headers.get("x-parlance-ignored-fields")).toBe("speed");
});

const HOSTED_TOOLS = [
  ...["web_search_20250305", "web_fetch_20250910", "code_execution_20250825"],
  ...["mcp_toolset", "computer_toolset_20260801", "bash", "bash_code_execution_20250825"],
];

describe.each([false, true])("streamed: %s", (stream) => {
  test.each(HOSTED_TOOLS)("refuses the tool %s, which runs on Anthropic's servers", async (type) => {
    const body = { model: "caller", messages: ask("Hi"), tools: [weather, { type, name: "hosted" }] as never };
    const failure = await complete(stream, body).catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(String(failure)).toContain("'tools[1].type'");
    expect(String(failure)).toContain(`'${type}'`);
    expect(String(failure)).toContain("input_schema");
  });

  test.each([
    { type: "function", function: { name: "weather", parameters: {} } },
    { type: "function", name: "weather", parameters: {} },
  ])("says how a tool in the form of OpenAI is written here: %j", async (tool) => {
    const failure = complete(stream, { model: "caller", messages: ask("Hi"), tools: [tool] as never });
    await expect(failure).rejects.toThrow(/the form of .* Here a tool is .*input_schema/);
  });
});

test.each([
  [{ type: "bash_20250124", name: "bash" }, "bash", { command: "ls" }],
  [{ type: "text_editor_20241022", name: "str_replace_editor" }, "str_replace_editor", { command: "undo_edit" }],
  [{ type: "text_editor_20250728", name: "str_replace_based_edit_tool" }, "str_replace_based_edit_tool", {}],
  [{ type: "memory_20250818", name: "memory" }, "memory", { command: "rename", old_path: "/a", new_path: "/b" }],
  [
    { type: "computer_20251124", name: "computer", display_width_px: 800, display_height_px: 600, enable_zoom: true },
    "computer",
    { action: "zoom", region: [0, 0, 1, 1] },
  ],
])("passes the client-side tool %j to the model as a function", async (tool, name, input) => {
  const message = await complete(false, {
    model: "tooled",
    messages: ask(`call ${name} ${JSON.stringify(input)}`),
    tools: [tool] as never,
    tool_choice: { type: "any" },
  });
  const call = message.content.find((block) => block.type === "tool_use");
  expect(call).toMatchObject({ type: "tool_use", name, input });
  const far = await complete(false, { model: "far", messages: ask("Hi"), tools: [tool] as never });
  expect(textOf(far)).toBe("Hi");
});

test.each([{ type: "create" }, { type: "continue", previous_message_id: "msg_1" }])(
  "refuses the thread %j in the words on which Anthropic's clients send the entire conversation",
  async (thread) => {
    for (const model of ["caller", "far", "native"]) {
      const body = { ...ASKED, model, thread };
      const response = await service.post("/v1/messages", body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: {
          type: "invalid_request_error",
          details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
        },
      });
    }
    expect((await service.post("/v1/messages", { ...ASKED, model: "caller", thread: null })).status).toBe(200);
  },
);

test("forwards hosted tools and fields to an upstream with the Messages API", async () => {
  const search = { type: "web_search_20250305", name: "web_search" };
  const failure = client().messages.create({ ...ASKED, model: "native", tools: [search] as never });
  // The upstream is another Parlance, which refuses the tool.
  await expect(failure).rejects.toThrow("web_search_20250305");
  await eventually(() => {
    const line = upstream.log().findLast(({ path }) => path === "/v1/messages");
    expect(line).toMatchObject({ status: 400 });
  });
});

test.each([
  ["stop", ["x"], "stop_sequences"],
  ["max_completion_tokens", 5, "max_tokens"],
  ["response_format", { type: "json_object" }, "output_config.format"],
  ["compaction", { type: "create" }, "client"],
])("refuses '%s' and names what there is instead", async (field, value, instead) => {
  const failure = client().messages.create({ ...ASKED, model: "caller", [field]: value } as never);
  await expect(failure).rejects.toMatchObject({ status: 400 });
  await expect(failure).rejects.toThrow(instead);
});

test("counts the tokens of a prompt with a local model's tokenizer", async () => {
  const prompt = { model: "parrot", system: "Be brief.", messages: ask("one two three") };
  const { data, response } = await client().messages.countTokens(prompt).withResponse();
  expect(response.headers.get("x-parlance-token-count")).toBe("exact");
  const { usage } = await client().messages.create({ ...prompt, max_tokens: 5 });
  expect(data.input_tokens).toBe(usage.input_tokens);
});

test("estimates the tokens of a prompt for an upstream", async () => {
  const { data, response } = await client()
    .messages.countTokens({ model: "far", system: "Be brief.", messages: ask("one two three ".repeat(40)) })
    .withResponse();
  expect(data.input_tokens).toBeGreaterThan(100);
  expect(data.input_tokens).toBeLessThan(250);
  expect(response.headers.get("x-parlance-token-count")).toBe("estimate");
});

test("answers Claude's model names with the first chat model", async () => {
  const message = await complete(false, { model: "claude-haiku-9-20300101", messages: ask("Hi") });
  expect(message.model).toBe("caller");
});

test("lists and retrieves chat models in Anthropic's shape", async () => {
  const page = await client().models.list({ limit: 2 });
  expect(page.data.map(({ id, type }) => [id, type])).toEqual([
    ["caller", "model"],
    ["parrot", "model"],
  ]);
  expect(page).toMatchObject({ has_more: true, first_id: "caller", last_id: "parrot" });
  expect((await Array.fromAsync(client().models.list({ limit: 2 }))).map(({ id }) => id)).toEqual([
    "caller",
    "parrot",
    "far",
    "native",
    "tooled",
  ]);
  expect(await client().models.retrieve("parrot")).toMatchObject({ type: "model", display_name: "parrot" });
});

const body = { model: "parrot", max_tokens: 10, messages: ask("Hi") };

test.each([
  ["a wrong key", () => client({ apiKey: "sk-wrong" }).messages.create(body), 401, "authentication_error"],
  ["an unknown model", () => client().messages.create({ ...body, model: "none" }), 404, "not_found_error"],
  ["an unknown path", () => client().get("/v1/messages/nowhere"), 404, "not_found_error"],
  ["a wrong method", () => client().get("/v1/messages"), 405, "invalid_request_error"],
])("answers %s with an error in Anthropic's shape", async (_case, request, status, type) => {
  const failure = await Promise.resolve(request()).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Anthropic.APIError);
  expect(failure).toMatchObject({ status, type, requestID: expect.stringMatching(/^req_/) });
  const { error } = failure as InstanceType<typeof Anthropic.APIError>;
  expect(error).toMatchObject({ type: "error", error: { type, message: expect.any(String) } });
});

const image = (source: object) => ask([{ type: "image", source }] as unknown as Anthropic.ContentBlockParam[]);

test.each([
  [{ max_tokens: undefined }, "'max_tokens'"],
  [{ max_tokens: "many" }, "'max_tokens'"],
  [{ temperature: 2 }, "'temperature'"],
  [{ messages: [] }, "'messages'"],
  [{ messages: [{ role: "tool", content: "x" }] }, "'messages[0].role'"],
  [{ messages: ask([{ type: "text" }] as never) }, "'messages[0].content[0].text'"],
  [{ messages: ask([{ type: "tool_result", tool_use_id: "toolu_1" }]) }, "tool_use_id"],
  [{ messages: ask([{ type: "container_upload", file_id: "f" }]) }, "container_upload"],
  [{ messages: image({ type: "file", file_id: "f" }) }, "'file'"],
  [{ messages: image({ type: "base64", media_type: "image/png" }) }, "'messages[0].content[0].source.data'"],
  [{ tools: [{ name: "no schema" }] }, "'tools[0]"],
  [{ tools: [weather, weather] }, "'weather'"],
  [{ tool_choice: { type: "any" } }, "tool_choice"],
  [{ tool_choice: { type: "tool", name: "weather" } }, "tool_choice"],
  [{ stop_sequences: [""] }, "stop_sequences"],
])("rejects %j", async (part, named) => {
  const failure = client().messages.create({ ...body, ...part } as never);
  await expect(failure).rejects.toMatchObject({ status: 400, type: "invalid_request_error" });
  await expect(failure).rejects.toThrow(named);
});

test("frees the slot when the client disconnects", async () => {
  const stream = client().messages.stream({ ...body, model: "caller", max_tokens: 500, messages: ask("slow") });
  await new Promise<void>((first) => stream.once("text", () => first()));
  stream.abort();
  await stream.done().catch(() => undefined);
  await eventually(() => {
    const line = service.log().findLast(({ path, outcome }) => path === "/v1/messages" && outcome === "client-left");
    expect(line).toMatchObject({ status: 499 });
  });
});
