/** Invalid chat requests, and the field that each error names. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
models:
  - id: plain
    task: chat
    deployments: [{ engine: scripted, echo: true }]
  - id: able
    task: chat
    deployments:
      - engine: scripted
        echo: true
        abilities: { tools: true, json_schema: true, vision: true, logprobs: true, reasoning: true, choices: 4 }
`;

let service: InProcessService;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

const user = { role: "user", content: "Say hi." };
const tool = (name: string) => ({ type: "function", function: { name } });
const call = (id: string, fields: object = {}) => ({
  id,
  type: "function",
  function: { name: "f", arguments: "{}", ...fields },
});
const named = (name: string) => ({ type: "function", function: { name } });

async function refusal(model: string, change: object) {
  const response = await service.post("/v1/chat/completions", { model, messages: [user], ...change });
  const body = (await response.json()) as { error: { message: string; param: string; code: string } };
  return { status: response.status, ...body.error };
}

const MISSING = "missing_required_parameter";
const INVALID = "invalid_value";
const TYPE = "invalid_type";
const UNSUPPORTED = "unsupported_value";

describe("validated for every model", () => {
  test.each<[what: string, change: object, param: string, code: string]>([
    ["n 0", { n: 0 }, "n", "integer_below_min_value"],
    ["n 1.5", { n: 1.5 }, "n", TYPE],
    ["frequency_penalty 2.1", { frequency_penalty: 2.1 }, "frequency_penalty", "decimal_above_max_value"],
    ["presence_penalty -2.1", { presence_penalty: -2.1 }, "presence_penalty", "decimal_below_min_value"],
    ["repeat_penalty 0", { repeat_penalty: 0 }, "repeat_penalty", INVALID],
    ["two repeat penalties", { repeat_penalty: 1.1, repetition_penalty: 1.2 }, "repetition_penalty", INVALID],
    ["top_k -2", { top_k: -2 }, "top_k", "integer_below_min_value"],
    ["top_k 1.5", { top_k: 1.5 }, "top_k", TYPE],
    ["min_p 1.1", { min_p: 1.1 }, "min_p", "decimal_above_max_value"],
    ["a bias of a word", { logit_bias: { hello: 1 } }, "logit_bias.hello", INVALID],
    ["a bias of 101", { logit_bias: { 5: 101 } }, "logit_bias.5", "decimal_above_max_value"],
    ["a bias that is a list", { logit_bias: [[5, 1]] }, "logit_bias", TYPE],
    ["top_logprobs 21", { logprobs: true, top_logprobs: 21 }, "top_logprobs", "integer_above_max_value"],
    ["top_logprobs alone", { top_logprobs: 2 }, "top_logprobs", INVALID],
    ["an empty effort", { reasoning_effort: "" }, "reasoning_effort", INVALID],
    ["a tool without a name", { tools: [{ type: "function", function: {} }] }, "tools[0].function.name", MISSING],
    ["a tool without its function", { tools: [{ type: "function" }] }, "tools[0].function", MISSING],
    ["a tool's name with a space", { tools: [tool("get it")] }, "tools[0].function.name", INVALID],
    ["a tool's name of 65 letters", { tools: [tool("x".repeat(65))] }, "tools[0].function.name", INVALID],
    ["two tools of one name", { tools: [tool("f"), tool("g"), tool("f")] }, "tools[2].function.name", INVALID],
    [
      "parameters that are no schema",
      { tools: [{ type: "function", function: { name: "f", parameters: "none" } }] },
      "tools[0].function.parameters",
      TYPE,
    ],
    [
      "a choice of an unknown tool",
      { tools: [tool("f")], tool_choice: named("g") },
      "tool_choice.function.name",
      INVALID,
    ],
    ["a named choice without tools", { tool_choice: named("g") }, "tool_choice.function.name", INVALID],
    ["a required choice without tools", { tool_choice: "required" }, "tool_choice", INVALID],
    ["an unknown choice", { tools: [tool("f")], tool_choice: "some" }, "tool_choice", INVALID],
    [
      "a tool's message that answers no call",
      { messages: [user, { role: "tool", content: "1", tool_call_id: "c1" }] },
      "messages[1].tool_call_id",
      INVALID,
    ],
    [
      "a tool's message before its call",
      {
        messages: [
          { role: "tool", content: "1", tool_call_id: "c1" },
          { role: "assistant", tool_calls: [call("c1")] },
        ],
      },
      "messages[0].tool_call_id",
      INVALID,
    ],
    [
      "a call whose arguments are an object",
      { messages: [user, { role: "assistant", tool_calls: [call("c1", { arguments: {} })] }] },
      "messages[1].tool_calls[0].function.arguments",
      TYPE,
    ],
    [
      "an image without a URL",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      "messages[0].content[0].image_url.url",
      MISSING,
    ],
    ["an unknown format", { response_format: { type: "xml" } }, "response_format.type", INVALID],
    ["a format without a schema", { response_format: { type: "json_schema" } }, "response_format.json_schema", MISSING],
    [
      "an envelope without a schema",
      { response_format: { type: "json_schema", json_schema: { name: "x", strict: true } } },
      "response_format.json_schema.schema",
      MISSING,
    ],
    [
      "a schema that is a list",
      { response_format: { type: "json_schema", json_schema: { name: "x", schema: [] } } },
      "response_format.json_schema.schema",
      TYPE,
    ],
    [
      "a schema's name with a space",
      { response_format: { type: "json_schema", json_schema: { name: "my x", schema: {} } } },
      "response_format.json_schema.name",
      INVALID,
    ],
    [
      "a schema beside the type text",
      { response_format: { type: "text", schema: {} } },
      "response_format.schema",
      INVALID,
    ],
    [
      "a schema in an envelope beside the type json_object",
      { response_format: { type: "json_object", json_schema: { name: "x", schema: {} } } },
      "response_format.json_schema",
      INVALID,
    ],
    [
      "two schemas",
      { response_format: { type: "json_schema", json_schema: { name: "x", schema: {} }, schema: {} } },
      "response_format.schema",
      INVALID,
    ],
    [
      "a schema that is text",
      { response_format: { type: "json_object", schema: "{}" } },
      "response_format.schema",
      TYPE,
    ],
  ])("%s", async (_what, change, param, code) => {
    for (const model of ["plain", "able"]) {
      expect(await refusal(model, change)).toMatchObject({ status: 400, param, code });
    }
  });
});

describe("rejected by models without the capability, with the reason", () => {
  const asked = { messages: [user, { role: "assistant", tool_calls: [call("c1")] }] };
  const answered = { messages: [...asked.messages, { role: "tool", content: "1", tool_call_id: "c1" }] };
  const pictured = {
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] }],
  };
  test.each<[what: string, change: object, param: string, reason: RegExp]>([
    ["tools", { tools: [tool("f")] }, "tools", /does not call tools/],
    ["a call of before", asked, "messages[1].tool_calls", /does not call tools/],
    ["a tool's answer of before", answered, "messages[1].tool_calls", /does not call tools/],
    ["JSON", { response_format: { type: "json_object" } }, "response_format", /JSON/],
    ["a schema", { response_format: { type: "json_schema", schema: {} } }, "response_format", /JSON/],
    ["log probabilities", { logprobs: true }, "logprobs", /log probabilities/],
    ["an image", pictured, "messages[0].content[0].type", /text only/],
    ["two answers", { n: 2 }, "n", /one answer to a request, not 2/],
    ["effort", { reasoning_effort: "low" }, "reasoning_effort", /'none'/],
  ])("%s", async (_what, change, param, reason) => {
    const refused = await refusal("plain", change);
    expect(refused).toMatchObject({ status: 400, param, code: UNSUPPORTED });
    expect(refused.message).toMatch(reason);
    const response = await service.post("/v1/chat/completions", { model: "able", messages: [user], ...change });
    expect(response.status).toBe(200);
  });

  test("rejects more choices than the model supports and names the limit", async () => {
    const refused = await refusal("able", { n: 5 });
    expect(refused).toMatchObject({ status: 400, param: "n", code: UNSUPPORTED });
    expect(refused.message).toContain("at most 4 answers");
  });
});

test.each<[what: string, change: object, param: string, reason: RegExp]>([
  ["functions", { functions: [{ name: "f" }] }, "functions", /'tools'/],
  ["a function's call", { function_call: "auto" }, "function_call", /'tool_choice'/],
  [
    "a function's message",
    { messages: [user, { role: "function", name: "f", content: "1" }] },
    "messages[1].role",
    /'tool'/,
  ],
  ["sound", { modalities: ["text", "audio"] }, "modalities", /text/],
  ["a search", { web_search_options: {} }, "web_search_options", /search engine/],
  [
    "a custom grammar",
    { response_format: { type: "json_object", grammar: "root ::= [0-9]" } },
    "response_format.grammar",
    /grammar/,
  ],
  ["a tool of another kind", { tools: [{ type: "custom", custom: { name: "f" } }] }, "tools[0].type", /functions/],
  [
    "a choice of another kind",
    { tools: [tool("f")], tool_choice: { type: "custom", custom: { name: "f" } } },
    "tool_choice.type",
    /custom/,
  ],
  ["a schema in Ollama's field", { format: "json" }, "format", /response_format/],
  ["a regular expression", { guided_regex: "[0-9]+" }, "guided_regex", /response_format/],
  ["a choice of vLLM", { structured_outputs: { choice: ["a"] } }, "structured_outputs.choice", /'json'/],
  ["an image beside the messages", { images: ["aGk="] }, "images", /message/],
  [
    "a message to continue",
    { messages: [user, { role: "assistant", content: "Hi", prefix: true }] },
    "messages[1]",
    /prefix/,
  ],
  [
    "a part with sound",
    { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }] },
    "messages[0].content[0].type",
    /input_audio/,
  ],
])("rejects %s, which no local model supports, and names the way out", async (_what, change, param, reason) => {
  const refused = await refusal("able", change);
  expect(refused).toMatchObject({ status: 400, param, code: UNSUPPORTED });
  expect(refused.message).toMatch(reason);
});

test("rejects earlier call arguments that are not a JSON object, and accepts empty ones", async () => {
  const withText = (text: string) => ({
    messages: [user, { role: "assistant", content: null, tool_calls: [call("c1", { arguments: text })] }],
  });
  const param = "messages[1].tool_calls[0].function.arguments";
  for (const text of ["{", "[]", "null", "7"]) {
    expect(await refusal("able", withText(text))).toMatchObject({ status: 400, param, code: INVALID });
  }
  const response = await service.post("/v1/chat/completions", { model: "able", ...withText("") });
  expect(response.status).toBe(200);
});

test("accepts the extra fields of an earlier answer in the next request", async () => {
  const before = {
    role: "assistant",
    content: "4",
    reasoning_content: "2 and 2",
    reasoning: "2 and 2",
    parsed: 4,
    refusal: null,
    tool_calls: [],
  };
  const response = await service.post("/v1/chat/completions", { model: "plain", messages: [user, before, user] });
  expect(response.status).toBe(200);
});
