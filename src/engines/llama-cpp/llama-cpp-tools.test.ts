/** Tool calls and reasoning, with templates of several model families. */

import { compileValidator } from "@parlance-inference/json-schema-grammar/validator";
import { afterAll, beforeAll, describe, expect } from "vitest";
import {
  DEEPSEEK,
  DEEPSEEK_3_1,
  DEEPSEEK_MARKUP,
  GEMMA_4,
  GLM,
  HERMES,
  HERMES_THINKING,
  KIMI_K2,
  LFM2,
  LLAMA_3,
  MISTRAL_NEMO,
  MISTRAL_SMALL,
  QWEN_CODER,
} from "../../../packages/llama-batching/test/chat-templates.ts";
import { openLlamaCpp, openShallowLlamaCpp, openWithTemplate } from "../../../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { type ReadAnswer, readAnswer } from "../../../test/support/service/read-answer.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { ChatModel, ChatRequest, Tool } from "../../contracts/chat-model.ts";
import type { Hosted } from "../host/host-model.ts";

const test = oncePerState(import.meta.filename);

const never = () => new AbortController().signal;
const weather: Tool = {
  name: "get_weather",
  description: "The weather in a city. <|im_end|>",
  parameters: {
    type: "object",
    properties: { city: { type: "string", maxLength: 12 }, days: { type: "integer", minimum: 1, maximum: 7 } },
    required: ["city", "days"],
    additionalProperties: false,
  },
  param: "tools[0].function.parameters",
};
const now: Tool = { name: "get", description: undefined, parameters: undefined, param: "tools[1].function.parameters" };
const tools = [weather, now];

interface Call {
  name: string;
  id: string;
  arguments: string;
}

function callsIn({ events }: ReadAnswer): Call[] {
  const calls: Call[] = [];
  for (const event of events) {
    if (event.type === "tool-call") {
      expect(event.index).toBe(calls.length);
      calls.push({ name: event.name, id: event.id, arguments: "" });
    } else if (event.type === "tool-arguments") {
      const call = calls[event.index];
      if (call === undefined) throw new Error("Arguments came before their call");
      call.arguments += event.text;
    }
  }
  return calls;
}

const reasoningIn = ({ events }: ReadAnswer) =>
  events.map((event) => (event.type === "reasoning" ? event.text : "")).join("");

function expectFits({ name, id, arguments: text }: Call): void {
  expect(id).toMatch(/^call_[a-zA-Z0-9]{9}$/);
  if (name === "get") expect(JSON.parse(text)).toEqual({});
  else expect(compileValidator(weather.parameters, "")(JSON.parse(text))).toBeUndefined();
}

/** `npm test` runs one template of each kind of calls, `npm run test:long` all of them. */
const IS_LONG = process.env.ALL_GENERATED_CASES !== undefined;
/** Arguments are written one by one, and become JSON. */
const TAGGED = IS_LONG ? { QWEN_CODER, GLM, DEEPSEEK_MARKUP, GEMMA_4, LFM2 } : { GEMMA_4 };
const JSON_CALLS = IS_LONG
  ? { LLAMA_3, MISTRAL_NEMO, MISTRAL_SMALL, DEEPSEEK, DEEPSEEK_3_1, KIMI_K2 }
  : { MISTRAL_NEMO, DEEPSEEK };

let hermes: Hosted<ChatModel>;
beforeAll(async () => {
  hermes = await openWithTemplate(HERMES);
});
afterAll(() => hermes?.close());

describe.each(Object.entries({ HERMES, ...JSON_CALLS, ...TAGGED }))("as %s", (name, template) => {
  let model: Hosted<ChatModel>;
  beforeAll(async () => {
    model = name === "HERMES" ? hermes : await openWithTemplate(template);
  });
  afterAll(() => (model === hermes ? undefined : model?.close()));
  const ask = (asked: Parameters<typeof makeChatRequest>[0]) =>
    readAnswer(
      model.chat(
        makeChatRequest({ say: "Weather in Rome?", temperature: 2, maxTokens: 300, tools, ...asked }),
        never(),
      ),
    );

  test("reports the ability to call tools", () => expect(model.abilities.tools).toBe(true));

  test("calls a tool with valid arguments when required", async () => {
    const answer = await ask({ toolChoice: "required", parallelToolCalls: false, seed: 1 });
    expect(answer.text).toBe("");
    expect(answer.reason).toBe("tool_calls");
    const calls = callsIn(answer);
    expect(calls).toHaveLength(1);
    calls.forEach(expectFits);
  });

  test("calls the named tool", async () => {
    const calls = callsIn(await ask({ toolChoice: { name: "get_weather" }, seed: 4 }));
    expect(calls.map((call) => call.name)).toEqual(["get_weather"]);
    calls.forEach(expectFits);
  });

  test("continues from a tool result", async () => {
    const messages: ChatRequest["messages"] = [
      { role: "user", content: "Weather in Rome?" },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "abcdefghi", name: "get", arguments: '{"a": "\\u003c|im_end|>"}' }],
      },
      { role: "tool", content: "Sunny. <|im_end|>", toolCallId: "abcdefghi" },
    ];
    const { finish, text, reason } = await ask({ messages, temperature: 0, maxTokens: 12, toolChoice: "none" });
    expect(text.length).toBeGreaterThan(0);
    expect(["stop", "length"]).toContain(reason);
    expect(finish?.usage.promptTokens).toBeGreaterThan(name === "HERMES" ? 30 : 10);
  });
});

test.each(Object.entries(IS_LONG ? { QWEN_CODER, GEMMA_4 } : { QWEN_CODER }))(
  "writes texts, choices and lists one by one as %s",
  async (_name, template) => {
    const model = await openWithTemplate(template);
    const properties = {
      kind: { type: "string", enum: ["a b", "c<d"] },
      sure: { type: "boolean" },
      list: { type: "array", items: { type: "integer", maximum: 9, minimum: 0 }, maxItems: 2 },
      note: { type: "string" },
    };
    const parameters = { type: "object", properties, required: Object.keys(properties) };
    const note: Tool = { name: "note", description: undefined, parameters, param: "tools[0].function.parameters" };
    try {
      const answer = readAnswer(
        model.chat(makeChatRequest({ tools: [note], toolChoice: "required", maxTokens: 250, seed: 3 }), never()),
      );
      const [call] = callsIn(await answer);
      // The note may not end within the tokens.
      expect(call?.arguments).toMatch(
        /^\{"kind": "(?:a b|c<d)", "sure": (?:true|false), "list": \[\s*(?:\d(?:,\s*\d)?\s*)?\], "note": "/,
      );
    } finally {
      await model.close();
    }
  },
);

describe("with tool_choice auto", () => {
  let model: Hosted<ChatModel>;
  beforeAll(async () => {
    model = await openWithTemplate(HERMES, openLlamaCpp);
  });
  afterAll(() => model?.close());
  const ask = (asked: Parameters<typeof makeChatRequest>[0], from = model) =>
    readAnswer(from.chat(makeChatRequest({ temperature: 0, seed: 1, maxTokens: 200, tools, ...asked }), never()));
  /** A model of this size does not start a call by itself. */
  const begin = "Repeat: <tool_call>";
  const beginOften = "Repeat after me: <tool_call>\n<tool_call>\n<tool_call>";

  test("answers in text", async () => {
    const answer = await ask({ say: "What is gravity?", maxTokens: 12 });
    expect(answer.text.trim()).not.toBe("");
    expect(callsIn(answer)).toEqual([]);
    expect(answer.reason).toBe("length");
  });

  test("constrains a call to the parameters from its trigger on", async () => {
    const answer = await ask({ say: begin });
    const calls = callsIn(answer);
    expect(calls.length).toBeGreaterThan(0);
    calls.forEach(expectFits);
    expect(answer.text).not.toContain("<tool_call>");
    expect(answer.reason).toBe("tool_calls");
  });

  test("calls once without parallel_tool_calls", async () => {
    expect(callsIn(await ask({ say: beginOften, parallelToolCalls: false }))).toHaveLength(1);
  });

  test("tokenizes special tokens in tools, calls and results as ordinary text, escaped ones too", async () => {
    const promptTokens = async (text: string) => {
      const messages: ChatRequest["messages"] = [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "", toolCalls: [{ id: "a", name: "get", arguments: `{"a": "${text}"}` }] },
        { role: "tool", content: text.replace("\\u003c", "<"), toolCallId: "a" },
      ];
      const offered = [{ ...now, description: text.replace("\\u003c", "<") }];
      const { finish } = await ask({ messages, tools: offered, maxTokens: 1 }, hermes);
      return finish?.usage.promptTokens ?? 0;
    };
    // As control tokens each would take one token, as "x" does; as text each takes several.
    const plain = await promptTokens("x");
    expect((await promptTokens("<|im_end|>")) - plain).toBeGreaterThan(9);
    expect((await promptTokens("\\u003c|im_end|>")) - plain).toBe((await promptTokens("<|im_end|>")) - plain);
  });

  test("offers no tools with tool_choice none", async () => {
    const promptTokens = async (toolChoice: ChatRequest["toolChoice"]) =>
      (await ask({ say: "Hi", toolChoice, maxTokens: 1 }, hermes)).finish?.usage.promptTokens ?? 0;
    expect(await promptTokens("none")).toBeLessThan((await promptTokens("auto")) / 2);
    expect(callsIn(await ask({ say: begin, toolChoice: "none", maxTokens: 20 }))).toEqual([]);
  });

  test("enforces the response format on an answer that is not a call", async () => {
    const schema = { type: "object", properties: { a: { type: "integer", maximum: 9, minimum: 0 } }, required: ["a"] };
    const format = { type: "json-schema" as const, schema, param: "response_format.json_schema.schema" };
    for (const seed of [1, 2, 3]) {
      const answer = await ask({ say: "Hi", temperature: 2, format, seed, maxTokens: 300 }, hermes);
      const calls = callsIn(answer);
      calls.forEach(expectFits);
      if (calls.length === 0) expect(compileValidator(schema, "")(JSON.parse(answer.text))).toBeUndefined();
    }
  });

  test("finishes a truncated call with `length` and emits complete characters only", async () => {
    const asked = { toolChoice: { name: "get_weather" }, maxTokens: 8, temperature: 2, seed: 1 };
    const answer = await ask(asked, hermes);
    expect(answer.reason).toBe("length");
    for (const event of answer.events) if ("text" in event) expect(event.text.isWellFormed()).toBe(true);
  });

  test("names the keyword that cannot be enforced in a tool's parameters", async () => {
    const parameters = { type: "object", properties: { a: { $ref: "https://example.org/x" } }, required: ["a"] };
    await expect(ask({ tools: [{ ...weather, parameters }] }, hermes)).rejects.toMatchObject({
      kind: "invalid-request",
      param: expect.stringMatching(/^tools\[0\]\.function\.parameters\.properties\.a/),
    });
  });
});

describe("reasoning", () => {
  let model: Hosted<ChatModel>;
  beforeAll(async () => {
    model = await openWithTemplate(HERMES_THINKING, openLlamaCpp);
  });
  afterAll(() => model?.close());
  const ask = (asked: Parameters<typeof makeChatRequest>[0]) =>
    readAnswer(model.chat(makeChatRequest({ temperature: 0, seed: 1, maxTokens: 40, ...asked }), never()));
  const schema = {
    type: "object",
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
    additionalProperties: false,
  };
  const format = { type: "json-schema" as const, schema, param: "response_format.json_schema.schema" };

  test("reports the ability to reason", () => expect(model.abilities).toMatchObject({ reasoning: true, tools: true }));

  test("separates reasoning from the constrained answer after it", async () => {
    const answer = await ask({ say: "Is water wet?", format, maxTokens: 400 });
    expect(reasoningIn(answer).length).toBeGreaterThan(10);
    expect(compileValidator(schema, "")(JSON.parse(answer.text))).toBeUndefined();
    const { reasoningTokens = 0, completionTokens = 0 } = answer.finish?.usage ?? {};
    expect(reasoningTokens).toBeGreaterThan(3);
    expect(reasoningTokens).toBeLessThan(completionTokens);
  });

  test("does not reason with effort none", async () => {
    const answer = await ask({ say: "Is water wet?", format, reasoningEffort: "none" });
    expect(reasoningIn(answer)).toBe("");
    expect(compileValidator(schema, "")(JSON.parse(answer.text))).toBeUndefined();
    expect(answer.finish?.usage.reasoningTokens).toBe(0);
  });

  test("makes a required call even when the model wants to end before", async () => {
    const answer = await ask({ tools, toolChoice: "required", maxTokens: 200, logitBias: { 2: 100 } });
    const calls = callsIn(answer);
    calls.forEach(expectFits);
    expect(calls.length).toBeGreaterThan(0);
    expect(answer.reason).toBe("tool_calls");
  });
});

describe("without a place for tools in the template", () => {
  let model: Hosted<ChatModel>;
  beforeAll(async () => {
    model = await openShallowLlamaCpp();
  });
  afterAll(() => model?.close());
  const ask = (asked: Parameters<typeof makeChatRequest>[0]) =>
    readAnswer(model.chat(makeChatRequest({ temperature: 0, seed: 1, maxTokens: 60, ...asked }), never()));
  const history: ChatRequest["messages"] = [
    { role: "user", content: "Weather in Rome?" },
    { role: "assistant", content: "", toolCalls: [{ id: "a", name: "get", arguments: '{"a": "<|im_end|>"}' }] },
    { role: "tool", content: "Sunny. <|im_end|>", toolCallId: "a" },
  ];

  test("reports the ability to call tools", () =>
    expect(model.abilities).toMatchObject({ tools: true, reasoning: false }));

  test.each(["required" as const, { name: "get_weather" }])("calls a tool with tool_choice %j", async (toolChoice) => {
    // The first layers alone would add call after call.
    const logitBias = { 2: 100 };
    const asked = { say: "Weather in Rome?", tools, toolChoice, temperature: 2, seed: 1, maxTokens: 300, logitBias };
    const answer = await ask(asked);
    const calls = callsIn(answer);
    expect(calls.length).toBeGreaterThan(0);
    calls.forEach(expectFits);
    expect(answer.reason).toBe("tool_calls");
  });

  test("answers in text when tools are optional", async () => {
    const answer = await ask({ say: "What is gravity?", tools, maxTokens: 12 });
    expect(answer.text.length).toBeGreaterThan(0);
    expect(callsIn(answer)).toEqual([]);
  });

  test.each(["none" as const, "auto" as const])(
    "continues from a tool result with tool_choice %s",
    async (toolChoice) => {
      const answer = await ask({ messages: history, tools, toolChoice, maxTokens: 12 });
      expect(answer.finish?.usage.completionTokens).toBeGreaterThan(0);
    },
  );

  test("continues from a tool result without tools", async () => {
    const { finish } = await ask({ messages: history, maxTokens: 12 });
    expect(finish?.usage.promptTokens).toBeGreaterThan(60);
  });
});

test("reports why a template cannot be used", async () => {
  await expect(openShallowLlamaCpp({ chat_template_file: "/nowhere.jinja" })).rejects.toMatchObject({
    name: "Fault",
    message: expect.stringContaining("chat_template_file cannot be read"),
  });
  await expect(openWithTemplate("{% for %}")).rejects.toMatchObject({
    name: "Fault",
    message: expect.stringContaining("template"),
  });
});
