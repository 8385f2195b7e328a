/** Fields that the service does not know, such as those that clients of other services send by default. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { makeWave } from "../support/service/wave.ts";

const MODELS = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true, abilities: { tools: true, reasoning: true, json_schema: true } }]
  - id: tuned
    task: chat
    defaults: { temperature: 0.5, top_p: 0.9, top_k: 20, max_completion_tokens: 50, reasoning_effort: low }
    deployments: [{ engine: scripted, echo: true, abilities: { reasoning: true } }]
  - id: hum
    task: speech
    deployments: [{ engine: scripted, speech: { voices: [low] } }]
  - id: ears
    task: transcription
    deployments: [{ engine: scripted, replies: [{ text: Hello. }] }]
  - id: judge
    task: moderation
    deployments: [{ engine: classifier }]
`;
const HEADER = "x-parlance-ignored-fields";
const user = { role: "user", content: "Say hi." };

let lenient: Service;
let strict: Service;
beforeAll(async () => {
  lenient = await startService({ config: MODELS });
  strict = await startService({ config: `server: { unknown_fields: refuse }\n${MODELS}` });
});
afterAll(() => Promise.all([lenient?.stop(), strict?.stop()]));

const chat = (service: Service, fields: object) =>
  service.post("/v1/chat/completions", { model: "parrot", messages: [user], ...fields });
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { message: string; param: string; code: string } }).error;

describe("of a chat", () => {
  test("ignores unknown fields, names them in a header and counts them", async () => {
    const response = await chat(lenient, { chat_id: "c1", "odd name": 1, messages: [{ ...user, id: "m1" }] });
    expect(response.status).toBe(200);
    expect(response.headers.get(HEADER)).toBe("chat_id, messages[].id, and 1 more");
    const metrics = await (await fetch(`${lenient.origin}/metrics`)).text();
    expect(metrics).toMatch(/parlance_ignored_fields_total\{operation="chat\/completions",model="parrot"\} 3/);
  });

  test("names ignored fields in the header of a stream", async () => {
    const response = await chat(lenient, { stream: true, tags: ["a"] });
    expect(response.headers.get(HEADER)).toBe("tags");
    expect(await response.text()).toContain("[DONE]");
  });

  test.each([
    ["temprature", "temperature"],
    ["maxTokens", "max_tokens"],
    ["max_completion_token", "max_completion_tokens"],
    ["responseFormat", "response_format"],
    ["tool_choise", "tool_choice"],
  ])("rejects the misspelled %s and names %s", async (field, meant) => {
    const response = await chat(lenient, { [field]: 1 });
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error).toMatchObject({ param: field, code: "unknown_parameter" });
    expect(error.message).toContain(`Did you mean '${meant}'?`);
  });

  test.each([
    ["/v1/chat/completions", "temprature", "temperature"],
    ["/v1/chat/completions", "topP", "top_p"],
    ["/v1/chat/completions", "max_completion_token", "max_completion_tokens"],
    ["/v1/chat/completions", "reasoningEffort", "reasoning_effort"],
    ["/v1/completions", "temprature", "temperature"],
    ["/v1/completions", "maxTokens", "max_tokens"],
    ["/v1/responses", "topP", "top_p"],
    ["/v1/messages", "topK", "top_k"],
  ])("rejects at %s the misspelled %s of a model with defaults", async (path, field, meant) => {
    const prompts = { messages: [user], prompt: "Hi", input: "Hi", max_tokens: 10 };
    const fields = { "/v1/chat/completions": ["messages"], "/v1/completions": ["prompt"], "/v1/responses": ["input"] };
    const names = fields[path as keyof typeof fields] ?? ["messages", "max_tokens"];
    const prompt = Object.fromEntries(Object.entries(prompts).filter(([name]) => names.includes(name)));
    const response = await lenient.post(path, { model: "tuned", ...prompt, [field]: 0.1 });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toContain(`Did you mean '${meant}'?`);
  });

  test.each(["top_a", "models", "typical_p", "mirostat", "session_id", "options", "extra_body", "transforms"])(
    "does not treat %s as a misspelling",
    async (field) => {
      const response = await chat(lenient, { [field]: 1 });
      expect(response.headers.get(HEADER)).toBe(field);
    },
  );

  test("accepts fields of other engines that have no effect", async () => {
    const fields = {
      num_ctx: 2048,
      keep_alive: "5m",
      cache_prompt: true,
      prediction: { type: "content", content: "hi" },
    };
    const response = await chat(strict, fields);
    expect(response.status).toBe(200);
    expect(response.headers.get(HEADER)).toBe("num_ctx, keep_alive, prediction");
  });

  test("rejects unknown fields when configured", async () => {
    expect(await errorOf(await chat(strict, { chat_id: "c1" }))).toMatchObject({
      param: "chat_id",
      code: "unknown_parameter",
    });
    const inMessage = await errorOf(await chat(strict, { messages: [{ ...user, id: "m1" }] }));
    expect(inMessage).toMatchObject({ param: "messages[0].id" });
  });

  test.each([
    { think: false },
    { think: true },
    { think: "high" },
    { chat_template_kwargs: { enable_thinking: false } },
  ])("honors %o", async (fields) => {
    const response = await chat(strict, fields);
    expect(response.status).toBe(200);
    expect(response.headers.get(HEADER)).toBeNull();
  });

  test("reads a refusal in an earlier answer as the text of its message", async () => {
    const refusal = { role: "assistant", content: null, refusal: "I cannot." };
    const response = await chat(strict, { messages: [user, refusal, user] });
    expect(response.status).toBe(200);
  });

  test.each(["system", "user", "assistant"])("accepts a name in a message with the role %s", async (role) => {
    const response = await chat(strict, { messages: [{ role, content: "Hi.", name: "Ann" }, user] });
    expect(response.status).toBe(200);
    expect(response.headers.get(HEADER)).toBeNull();
  });

  test("offers only the tools that allowed_tools names", async () => {
    const tool = (name: string) => ({ type: "function", function: { name } });
    const choice = (name: string) => ({
      tools: [tool("f"), tool("g")],
      tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tool(name)] } },
    });
    expect((await chat(strict, choice("f"))).status).toBe(200);
    const refused = await errorOf(await chat(strict, choice("h")));
    expect(refused).toMatchObject({ param: "tool_choice.allowed_tools.tools.0", code: "invalid_value" });
  });
});

describe("of a speech request", () => {
  const speak = (service: Service, fields: object) =>
    service.post("/v1/audio/speech", { model: "hum", input: "Hi.", voice: "low", ...fields });

  test("ignores and names unknown fields", async () => {
    const response = await speak(lenient, { lang_code: "a" });
    expect(response.status).toBe(200);
    expect(response.headers.get(HEADER)).toBe("lang_code");
    expect((await speak(strict, { lang_code: "a" })).status).toBe(400);
  });

  test("rejects a misspelled field", async () => {
    expect(await errorOf(await speak(lenient, { respons_format: "wav" }))).toMatchObject({ param: "respons_format" });
  });
});

describe("of a transcription", () => {
  const transcribe = (service: Service, fields: Record<string, string>) => {
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(makeWave({ seconds: 1 }))]), "a.wav");
    for (const [name, value] of Object.entries({ model: "ears", ...fields })) form.append(name, value);
    return service.fetch("/v1/audio/transcriptions", { method: "POST", body: form });
  };

  test("ignores and names unknown fields", async () => {
    const response = await transcribe(lenient, { vad_filter: "true" });
    expect(response.status).toBe(200);
    expect(response.headers.get(HEADER)).toBe("vad_filter");
    expect((await transcribe(strict, { vad_filter: "true" })).status).toBe(400);
  });

  test("treats empty fields as omitted", async () => {
    const empty = { language: "", prompt: "", temperature: "", response_format: "", stream: "" };
    expect((await transcribe(strict, empty)).status).toBe(200);
  });
});

test("ignores and names unknown fields of a moderation", async () => {
  const ask = (service: Service) => service.post("/v1/moderations", { model: "judge", input: "hi", threshold: 0.9 });
  expect((await ask(lenient)).headers.get(HEADER)).toBe("threshold");
  expect((await ask(strict)).status).toBe(400);
});

const functionTool = { type: "function", name: "add", parameters: { type: "object", properties: {} } };
const messagesTool = { name: "add", input_schema: { type: "object", properties: {} } };

test.each<[route: string, fields: object, ignored: string]>([
  ["responses", { reasoning: { effort: "none", context: "auto", mode: "fast" } }, "reasoning.context, reasoning.mode"],
  ["responses", { tools: [{ ...functionTool, defer_loading: true }] }, "tools[].defer_loading"],
  [
    "responses",
    { tools: [{ ...functionTool, output_schema: {}, allowed_callers: ["a"] }] },
    "tools[].output_schema, tools[].allowed_callers",
  ],
  ["responses", { stream: true, stream_options: { include_obfuscation: true } }, "stream_options.include_obfuscation"],
  ["messages", { tools: [{ ...messagesTool, input_examples: [{}] }] }, "tools[].input_examples"],
  ["messages", { tools: [{ ...messagesTool, eager_input_streaming: true }] }, "tools[].eager_input_streaming"],
  [
    "messages",
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            {
              type: "document",
              source: { type: "text", media_type: "text/plain", data: "x" },
              citations: { enabled: true },
            },
          ],
        },
      ],
    },
    "messages[].content[].citations",
  ],
])("names members without effect of a body of %s: %j", async (route, fields, ignored) => {
  const prompt = route === "responses" ? { input: "Hi" } : { max_tokens: 10, messages: [user] };
  const response = await lenient.post(`/v1/${route}`, { model: "parrot", ...prompt, ...fields });
  expect(await response.text()).not.toContain('"error":{');
  expect(response.headers.get(HEADER)).toBe(ignored);
});

test.each([
  ["code_interpreter", "An operator makes it available to every model with the section 'code_interpreter'"],
  ["telepathy", "'telepathy'. Leave it out"],
])("says who can make the hosted tool %s available", async (type, message) => {
  const response = await strict.post("/v1/responses", { model: "parrot", input: "Hi", tools: [{ type }] });
  expect(response.status).toBe(400);
  expect((await errorOf(response)).message).toContain(message);
});

test("says what is wrong with a key of the metadata", async () => {
  const metadata = { ["k".repeat(65)]: "x" };
  const error = await errorOf(await lenient.post("/v1/conversations", { metadata }));
  expect(error.message).toMatch(/'metadata\.k+' is too large: at most 64 characters, not 65/);
});
