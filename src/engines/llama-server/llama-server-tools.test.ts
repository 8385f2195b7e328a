/** Tool calls with a real llama-server. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compileValidator } from "@parlance-inference/json-schema-grammar/validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HERMES } from "../../../packages/llama-batching/test/chat-templates.ts";
import { llamaServerBinary, openLlamaServer } from "../../../test/support/models/llama-server.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatEvent, ChatModel, ChatRequest, Tool } from "../../contracts/chat-model.ts";

const never = () => new AbortController().signal;

describe.skipIf(llamaServerBinary === undefined)("with a template that supports tools", () => {
  let folder: TemporaryDirectory;
  let model: ChatModel;
  const weather: Tool = {
    name: "get_weather",
    description: "Current weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 20 }, days: { type: "integer", minimum: 1, maximum: 7 } },
      required: ["city", "days"],
      additionalProperties: false,
    },
    param: "tools[0].function.parameters",
  };
  const question = { role: "user" as const, content: "Weather in Paris for 3 days?" };
  // A small model imitates the earlier turns.
  const asked = [...turn("London", 2), ...turn("Rome", 5), ...turn("Cairo", 4), question];
  const ask = (request: Partial<ChatRequest>, messages: ChatMessage[] = asked) =>
    readAnswer(
      model.chat(makeChatRequest({ messages, tools: [weather], maxTokens: 120, temperature: 0, ...request }), never()),
    );

  beforeAll(async () => {
    folder = await temporaryDirectory();
    const file = join(folder.path, "template.jinja");
    await writeFile(file, HERMES);
    model = await openLlamaServer({ options: ["--chat-template-file", file] });
  });
  afterAll(async () => {
    await model.close();
    await folder[Symbol.asyncDispose]();
  });

  test("makes a required call and continues from its result", async () => {
    expect(model.abilities.tools).toBe(true);
    const first = await ask({ toolChoice: { name: "get_weather" } });
    expect(first.reason).toBe("tool_calls");
    const [call] = callsOf(first.events);
    expect(call?.name).toBe("get_weather");
    expect(compileValidator(weather.parameters, "schema")(JSON.parse(call?.arguments ?? ""))).toBeUndefined();
    const result = { role: "tool" as const, toolCallId: "call_1", content: "It rains." };
    const second = await ask({ toolChoice: "none" }, [question, called(call?.arguments ?? ""), result]);
    expect(second.text).not.toBe("");
    expect(callsOf(second.events)).toEqual([]);
  });

  test("rejects an unenforceable argument schema, and a response format together with tools", async () => {
    const parameters = { type: "object", patternProperties: { a: {} } };
    await expect(ask({ tools: [{ ...weather, parameters }] })).rejects.toMatchObject({
      code: "unsupported_value",
      param: expect.stringContaining("tools[0].function.parameters"),
    });
    await expect(ask({ format: { type: "json" } })).rejects.toMatchObject({ param: "response_format" });
  });
});

function turn(city: string, days: number): ChatMessage[] {
  return [
    { role: "user", content: `Weather in ${city} for ${days} days?` },
    called(JSON.stringify({ city, days })),
    { role: "tool", toolCallId: "call_1", content: "It snows." },
  ];
}

function called(written: string): ChatMessage {
  return { role: "assistant", content: "", toolCalls: [{ id: "call_1", name: "get_weather", arguments: written }] };
}

interface Call {
  name: string;
  arguments: string;
}

/** Joins the calls from their pieces. */
function callsOf(events: readonly ChatEvent[]): Call[] {
  const calls: Call[] = [];
  for (const event of events) {
    if (event.type === "tool-call") calls[event.index] = { name: event.name, arguments: "" };
    const call = event.type === "tool-arguments" ? calls[event.index] : undefined;
    if (call !== undefined && event.type === "tool-arguments") call.arguments += event.text;
  }
  return calls;
}
