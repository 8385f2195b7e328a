import { expect, test } from "vitest";
import { ChatEvents } from "./chat-events.ts";

const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const usage = { promptTokens: 3, completionTokens: 5, cachedTokens: 0, reasoningTokens: 0, estimated: false };

function framesOf(...chunks: object[]): Buffer[] {
  const json = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  return [Buffer.from(`${json.join("")}data: [DONE]\n\n`)];
}

function readAll(choices: number, ...chunks: object[]) {
  const reader = new ChatEvents({ choices });
  const events = reader.take(framesOf(...chunks));
  expect(reader).toMatchObject({ failure: undefined, isDone: true, isComplete: true });
  return [...(events ?? []), ...reader.finish(reader.usage ?? usage)];
}

const delta = (fields: object, reason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta: fields, finish_reason: reason, ...more }],
});

test("reads text with its log probabilities, the end of the choice and usage", () => {
  const top_logprobs = [{ token: "né", logprob: -0.1, bytes: [110, 195, 169] }];
  const logprobs = { content: [{ token: "né", logprob: -0.1, bytes: null, top_logprobs }] };
  const events = readAll(
    1,
    delta({ role: "assistant", content: "" }),
    delta({ content: "né" }, null, { logprobs }),
    delta({}, "length"),
    { choices: [], usage: USAGE },
  );
  const token = { token: "né", logprob: -0.1, bytes: [110, 195, 169] };
  expect(events).toEqual([
    { type: "text", choice: 0, text: "né", completionTokens: 1, logprobs: [{ ...token, top: [token] }] },
    { type: "choice-end", choice: 0, reason: "length" },
    { type: "finish", usage },
  ]);
});

test.each<[name: string, fields: object]>([
  ["DeepSeek's name", { reasoning_content: "hm" }],
  ["vLLM's name", { reasoning: "hm" }],
  ["both names", { reasoning_content: "hm", reasoning: "hm" }],
  ["Mistral's parts", { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }],
])("reads reasoning under %s once", (_name, fields) => {
  const events = readAll(1, delta(fields), delta({ content: "yes" }, "stop"), { choices: [], usage: USAGE });
  expect(events.slice(0, 2)).toEqual([
    { type: "reasoning", choice: 0, text: "hm", completionTokens: 1 },
    { type: "text", choice: 0, text: "yes", completionTokens: 2 },
  ]);
});

test("reads tool calls that come in pieces, side by side", () => {
  const call = (index: number, more: object) => delta({ tool_calls: [{ index, ...more }] });
  const events = readAll(
    1,
    call(0, { id: "a", type: "function", function: { name: "one", arguments: "" } }),
    call(1, { id: "b", type: "function", function: { name: "two", arguments: '{"x":' } }),
    call(0, { function: { arguments: "{}" } }),
    call(1, { function: { arguments: "1}" } }),
    delta({}, "tool_calls"),
  );
  expect(
    events.map(({ type, ...event }) => [type, "text" in event ? event.text : "id" in event ? event.id : ""]),
  ).toEqual([
    ["tool-call", "a"],
    ["tool-call", "b"],
    ["tool-arguments", '{"x":'],
    ["tool-arguments", "{}"],
    ["tool-arguments", "1}"],
    ["choice-end", ""],
    ["finish", ""],
  ]);
});

test("generates a missing call ID, and accepts arguments that are an object", () => {
  const [call, written] = readAll(
    1,
    delta({ tool_calls: [{ function: { name: "f", arguments: { a: 1 } } }] }, "tool_calls"),
  );
  expect(call).toMatchObject({ type: "tool-call", index: 0, name: "f", id: expect.stringMatching(/^call_/) });
  expect(written).toMatchObject({ type: "tool-arguments", text: '{"a":1}' });
});

test("ends each choice once, even if the upstream ends it twice or never", () => {
  const end = (index: number) => ({ choices: [{ index, delta: {}, finish_reason: "stop" }] });
  const ends = readAll(3, end(1), end(1), end(0)).filter(({ type }) => type === "choice-end");
  expect(ends.map((event) => "choice" in event && event.choice)).toEqual([1, 0, 2]);
});

test("reads a complete answer as the events of a stream", () => {
  const message = {
    ...{ role: "assistant", content: "Hello", reasoning: "hm" },
    tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
  };
  const completion = { choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
  expect(ChatEvents.ofCompletion(completion, usage).map(({ type }) => type)).toEqual([
    "reasoning",
    "text",
    "tool-call",
    "tool-arguments",
    "choice-end",
    "finish",
  ]);
});

test("keeps the events before an error in the stream", () => {
  const reader = new ChatEvents({ choices: 1 });
  const events = reader.take(framesOf(delta({ content: "a" }), { error: { message: "out of memory" } }));
  expect(events).toMatchObject([{ type: "text", text: "a" }]);
  expect(reader.failure?.details.message).toBe("out of memory");
});

test("estimates tokens from the text when a frame contains several", () => {
  const reader = new ChatEvents({ choices: 1 });
  const long = "word ".repeat(5_000);
  const events = reader.take(framesOf(delta({ content: "a" }), delta({ content: long }), delta({}, "stop")));
  expect(events?.map((event) => "completionTokens" in event && event.completionTokens)).toEqual([
    1,
    Math.ceil((1 + long.length) / 4),
    false,
  ]);
  expect(reader.estimatedTokens).toBe(Math.ceil((1 + long.length) / 4));
});

test("estimates the content parts that Mistral sends, and one token for a call without arguments", () => {
  const reader = new ChatEvents({ choices: 1 });
  const thinking = [{ type: "text", text: "x".repeat(200) }];
  reader.take(
    framesOf(
      delta({
        content: [
          { type: "thinking", thinking },
          { type: "text", text: "y".repeat(200) },
        ],
      }),
    ),
  );
  expect(reader.estimatedTokens).toBe(100);
  const called = new ChatEvents({ choices: 1 });
  called.take(framesOf(delta({ tool_calls: [{ index: 0, id: "a", function: { name: "f" } }] })));
  expect(called.estimatedTokens).toBe(1);
});
