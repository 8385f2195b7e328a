/** Conversations with tools through the official client, on the scripted engine. */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
models:
  - id: caller
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, reasoning: true, choices: 4 }
        replies:
          - match: weather
            match_tool: sunny
            text: "It is sunny in Paris, and so it is in Łódź."
          - match: weather
            text: "Let me look."
            reasoning: "I have to ask."
            tool_calls:
              - { name: weather, arguments: { city: Paris } }
              - { name: weather, arguments: { city: Łódź 🐉, days: 2 } }
          - match: only
            tool_calls: [{ name: time }]
          - text: "Hello."
`;

let service: InProcessService;
let client: OpenAI;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  client = service.client({ maxRetries: 0 });
});
afterAll(() => service.stop());

const weather: OpenAI.ChatCompletionFunctionTool = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } },
  },
};
const time: OpenAI.ChatCompletionFunctionTool = { type: "function", function: { name: "time" } };
const ask = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: "user", content }];
const QUESTION = "How is the weather in Paris and in Łódź?";
const CITIES = [{ city: "Paris" }, { city: "Łódź 🐉", days: 2 }];

function functionCalls(calls: OpenAI.ChatCompletionMessageToolCall[] | undefined) {
  return (calls ?? []).filter((call) => call.type === "function");
}

describe.each([false, true])("two rounds sent by the test (streamed: %s)", (stream) => {
  const complete = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
    const body = { model: "caller", messages, tools: [weather] };
    return stream ? client.chat.completions.stream(body).finalChatCompletion() : client.chat.completions.create(body);
  };

  test("calls a tool and answers from its result", async () => {
    const first = await complete(ask(QUESTION));
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(choice?.message.content).toBe("Let me look.");
    const calls = functionCalls(choice?.message.tool_calls);
    expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual(CITIES);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    for (const { id } of calls) expect(id).toMatch(/^call_/);
    const results = calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "sunny" }));
    // The answer's message is sent back unchanged, including its reasoning.
    const second = await complete([...ask(QUESTION), choice?.message as OpenAI.ChatCompletionMessage, ...results]);
    expect(second.choices[0]?.finish_reason).toBe("stop");
    expect(second.choices[0]?.message.content).toBe("It is sunny in Paris, and so it is in Łódź.");
    expect(second.usage?.prompt_tokens ?? 99).toBeGreaterThan(10);
  });
});

describe.each([false, true])("two rounds run by the client's tool runner (streamed: %s)", (stream) => {
  test("runs each tool once per call", async () => {
    const asked: object[] = [];
    const tool = {
      type: "function" as const,
      function: {
        name: "weather",
        description: "The weather of a city",
        parameters: weather.function.parameters as never,
        parse: JSON.parse as (text: string) => { city: string },
        function: (given: { city: string }) => {
          asked.push(given);
          return `sunny in ${given.city}`;
        },
      },
    };
    const messages = ask(QUESTION);
    const runner = stream
      ? client.chat.completions.runTools({ model: "caller", messages, tools: [tool], stream: true })
      : client.chat.completions.runTools({ model: "caller", messages, tools: [tool] });
    expect(await runner.finalContent()).toBe("It is sunny in Paris, and so it is in Łódź.");
    expect(asked).toEqual(CITIES);
  });
});

test("streams id, type and function in a call's first fragment only", async () => {
  const stream = await client.chat.completions.create({
    model: "caller",
    messages: ask(QUESTION),
    tools: [weather],
    stream: true,
  });
  const deltas = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.delta ?? {});
  expect(deltas[0]).toEqual({ role: "assistant", content: null });
  for (const index of [0, 1]) {
    const fragments = deltas.flatMap(({ tool_calls }) => tool_calls ?? []).filter((call) => call.index === index);
    expect(fragments[0]).toEqual({
      index,
      id: expect.stringMatching(/^call_/),
      type: "function",
      function: { name: "weather", arguments: "" },
    });
    expect(fragments.length).toBeGreaterThan(2);
    for (const fragment of fragments.slice(1)) {
      expect(fragment).toEqual({ index, function: { arguments: expect.any(String) } });
    }
    expect(JSON.parse(fragments.map((fragment) => fragment.function?.arguments ?? "").join(""))).toEqual(CITIES[index]);
  }
});

test("returns null content for an answer with only calls, streamed or not", async () => {
  const body = { model: "caller", messages: ask("only the time"), tools: [time] };
  const complete = await client.chat.completions.create(body);
  expect(complete.choices[0]).toMatchObject({ message: { content: null }, finish_reason: "tool_calls" });
  expect(functionCalls(complete.choices[0]?.message.tool_calls)[0]?.function).toEqual({
    name: "time",
    arguments: "{}",
  });
  const streamed = await client.chat.completions.stream(body).finalChatCompletion();
  expect(streamed.choices[0]?.message.content).toBeNull();
});

test("omits tool_calls from an answer without calls", async () => {
  const { choices } = await client.chat.completions.create({ model: "caller", messages: ask("Hi"), tools: [weather] });
  expect(choices[0]?.message).not.toHaveProperty("tool_calls");
});

test.each<[choice: OpenAI.ChatCompletionToolChoiceOption, parallel: boolean, calls: number]>([
  ["auto", true, 2],
  ["required", true, 2],
  // Of Mistral's clients.
  ["any" as "required", true, 2],
  [{ type: "function", function: { name: "weather" } }, true, 2],
  [{ type: "function", function: { name: "time" } }, true, 0],
  ["none", true, 0],
  ["auto", false, 1],
])("passes tool_choice %j and parallel_tool_calls %s to the model", async (tool_choice, parallel_tool_calls, calls) => {
  const { choices } = await client.chat.completions.create({
    model: "caller",
    messages: ask(QUESTION),
    tools: [weather, time],
    tool_choice,
    parallel_tool_calls,
  });
  expect(choices[0]?.message.tool_calls ?? []).toHaveLength(calls);
});

test("returns separate calls with unique ids for each choice", async () => {
  const body = { model: "caller", messages: ask(QUESTION), tools: [weather], n: 2 };
  for (const answer of [
    await client.chat.completions.create(body),
    await client.chat.completions.stream(body).finalChatCompletion(),
  ]) {
    const calls = answer.choices.flatMap(({ message }) => functionCalls(message.tool_calls));
    expect(calls).toHaveLength(4);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(4);
    expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([...CITIES, ...CITIES]);
  }
});
