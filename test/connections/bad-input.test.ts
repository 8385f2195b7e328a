/** Invalid requests and their error responses. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";
import { errorOf } from "../support/service/wire-error.ts";

const CONFIG = `
builtin_models: false
server:
  receive_timeout_seconds: 3
models:
  - id: parrot
    task: chat
    deployments:
      - engine: scripted
        echo: true
        context_window: 64
`;

let service: InProcessService;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

const user = [{ role: "user", content: "Say hi." }];
const valid = { model: "parrot", messages: user };

describe("names an invalid field by its path, with a stable code", () => {
  const MISSING = "missing_required_parameter";
  test.each<[what: string, body: unknown, param: string | null, code: string | null]>([
    ["model missing", { messages: user }, "model", MISSING],
    ["model of the wrong type", { ...valid, model: 7 }, "model", "invalid_type"],
    ["messages missing", { model: "parrot" }, "messages", MISSING],
    ["messages empty", { model: "parrot", messages: [] }, "messages", "invalid_value"],
    ["messages of the wrong type", { model: "parrot", messages: "hi" }, "messages", "invalid_type"],
    ["a message of the wrong type", { model: "parrot", messages: ["hi"] }, "messages[0]", "invalid_type"],
    [
      "an unknown role",
      { model: "parrot", messages: [...user, { role: "robot", content: "x" }] },
      "messages[1].role",
      "invalid_value",
    ],
    ["no role", { model: "parrot", messages: [{ content: "x" }] }, "messages[0].role", MISSING],
    [
      "content null",
      { model: "parrot", messages: [{ role: "user", content: null }] },
      "messages[0].content",
      "invalid_type",
    ],
    ["content missing", { model: "parrot", messages: [{ role: "user" }] }, "messages[0].content", MISSING],
    [
      "a text part without text",
      { model: "parrot", messages: [{ role: "user", content: [{ type: "text" }] }] },
      "messages[0].content[0].text",
      MISSING,
    ],
    ["temperature 2.01", { ...valid, temperature: 2.01 }, "temperature", "decimal_above_max_value"],
    ["temperature -0.1", { ...valid, temperature: -0.1 }, "temperature", "decimal_below_min_value"],
    ["temperature hot", { ...valid, temperature: "hot" }, "temperature", "invalid_type"],
    ["top_p 1.1", { ...valid, top_p: 1.1 }, "top_p", "decimal_above_max_value"],
    ["max_tokens 0", { ...valid, max_tokens: 0 }, "max_tokens", "integer_below_min_value"],
    ["max_tokens -1", { ...valid, max_tokens: -1 }, "max_tokens", "integer_below_min_value"],
    ["max_tokens 1.5", { ...valid, max_tokens: 1.5 }, "max_tokens", "invalid_type"],
    [
      "max_completion_tokens 0",
      { ...valid, max_completion_tokens: 0 },
      "max_completion_tokens",
      "integer_below_min_value",
    ],
    ["5 stop strings", { ...valid, stop: ["a", "b", "c", "d", "e"] }, "stop", "invalid_value"],
    ["an empty stop string", { ...valid, stop: "" }, "stop", "invalid_value"],
    ["seed 0.5", { ...valid, seed: 0.5 }, "seed", "invalid_type"],
    ["stream yes", { ...valid, stream: "yes" }, "stream", "invalid_type"],
    ["stream_options without stream", { ...valid, stream_options: {} }, "stream_options", "invalid_value"],
    ["n 129", { ...valid, n: 129 }, "n", "integer_above_max_value"],
    ["a misspelled field", { ...valid, temprature: 1 }, "temprature", "unknown_parameter"],
    ["an array as body", [valid], null, "invalid_type"],
    ["a string as body", "hi", null, "invalid_type"],
    ["null as body", null, null, "invalid_type"],
  ])("%s", async (_what, body, param, code) => {
    const response = await service.post("/v1/chat/completions", body);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ type: "invalid_request_error", param, code });
  });

  test.each<[what: string, change: object, param: string]>([
    ["two choices", { n: 2 }, "n"],
    ["tools", { tools: [{ type: "function", function: { name: "f" } }] }, "tools"],
    ["a schema", { response_format: { type: "json_object" } }, "response_format"],
    ["logprobs", { logprobs: true }, "logprobs"],
    ["thinking", { reasoning_effort: "high" }, "reasoning_effort"],
    [
      "an image",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:," } }] }] },
      "messages[0].content[0].type",
    ],
  ])("rejects the known but unsupported field %s instead of ignoring it", async (_what, change, param) => {
    const response = await service.post("/v1/chat/completions", { ...valid, ...change });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ param, code: "unsupported_value" });
  });

  test("accepts fields that request nothing", async () => {
    const harmless = {
      n: 1,
      frequency_penalty: 0,
      logprobs: false,
      tools: [],
      tool_choice: "none",
      reasoning_effort: "none",
      verbosity: "medium",
      response_format: { type: "text" },
      user: "u",
      metadata: { a: "b" },
      store: false,
      service_tier: "auto",
      prompt_cache_options: { mode: "explicit" },
      temperature: null,
      stop: null,
      messages: [{ role: "assistant", content: "Hi.", refusal: null, annotations: [] }, ...user],
    };
    const response = await service.post("/v1/chat/completions", { ...valid, ...harmless });
    expect(response.status).toBe(200);
  });
});

test("returns 404 for an unknown model and names it", async () => {
  const response = await service.post("/v1/chat/completions", { ...valid, model: "gpt-9" });
  expect(response.status).toBe(404);
  const error = await errorOf(response);
  expect(error).toMatchObject({ code: "model_not_found", param: "model" });
  expect(error.message).toContain("gpt-9");
});

test("does not echo an unknown model name of one megabyte", async () => {
  const response = await service.post("/v1/chat/completions", { ...valid, model: "x".repeat(1024 ** 2) });
  expect(response.status).toBe(404);
  expect((await response.text()).length).toBeLessThan(1000);
});

test("returns 400 with both counts for a prompt longer than the context window", async () => {
  const content = "word ".repeat(200);
  const response = await service.post("/v1/chat/completions", {
    model: "parrot",
    messages: [{ role: "user", content }],
  });
  expect(response.status).toBe(400);
  const error = await errorOf(response);
  expect(error).toMatchObject({ code: "context_length_exceeded", param: "messages" });
  expect(error.message).toContain("64");
  expect(error.message).toMatch(/[2-9]\d\d/);
});
