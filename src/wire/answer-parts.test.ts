import { expect, test } from "vitest";
import type { ChatEvent } from "../contracts/chat-model.ts";
import { toAnswerParts } from "./answer-parts.ts";

const choice = 0;
const completionTokens = 1;
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens, reasoningTokens: 0, estimated: false };

const start = (index: number): ChatEvent => ({
  type: "tool-call",
  choice,
  index,
  id: `call_${index}`,
  name: `f${index}`,
  completionTokens,
});
const args = (index: number, text: string): ChatEvent => ({
  type: "tool-arguments",
  choice,
  index,
  text,
  completionTokens,
});
const text = (value: string): ChatEvent => ({ type: "text", choice, text: value, completionTokens });

async function partsOf(events: ChatEvent[]) {
  async function* all(): AsyncGenerator<ChatEvent> {
    yield* events;
    yield { type: "choice-end", choice, reason: "tool_calls" };
    yield { type: "finish", usage };
  }
  const seen: string[] = [];
  let open: number | undefined;
  for await (const event of toAnswerParts({ events: all() }, true)) {
    if (event.type === "part-start") {
      expect(open).toBeUndefined();
      open = event.index;
      seen.push(event.part.type === "tool-call" ? `${event.part.name}:` : `${event.part.type}:`);
    }
    if (event.type === "part-delta") {
      expect(event.index).toBe(open);
      seen[event.index] += event.text;
    }
    if (event.type === "part-stop") {
      expect(event.index).toBe(open);
      open = undefined;
    }
  }
  expect(open).toBeUndefined();
  return seen;
}

test.each<[string, ChatEvent[], string[]]>([
  [
    "consecutive calls",
    [text("Hi"), start(0), args(0, '{"a"'), args(0, ":1}"), start(1), args(1, "{}")],
    ["text:Hi", 'f0:{"a":1}', "f1:{}"],
  ],
  [
    "calls that begin together",
    [start(0), start(1), start(2), args(1, '{"b":'), args(0, '{"a":'), args(2, "{}"), args(0, "1}"), args(1, "2}")],
    ['f0:{"a":1}', 'f1:{"b":2}', "f2:{}"],
  ],
  [
    "a brace within a text of interleaved arguments",
    [start(0), args(0, '{"a":"}'), start(1), args(1, "{}"), args(0, '"}')],
    ['f0:{"a":"}"}', "f1:{}"],
  ],
  ["calls without arguments", [start(0), start(1), args(1, "{}")], ["f0:", "f1:{}"]],
  ["text after calls", [start(0), args(0, "{}"), start(1), text("Done")], ["f0:{}", "f1:", "text:Done"]],
])("yields %s one after the other", async (_name, events, expected) => {
  expect(await partsOf(events)).toEqual(expected);
});

test("streams the arguments of a call before the next one begins", async () => {
  const gate = Promise.withResolvers<void>();
  async function* events(): AsyncGenerator<ChatEvent> {
    yield* [start(0), args(0, "{}"), start(1), args(1, '{"b"')];
    await gate.promise;
  }
  const deltas: string[] = [];
  for await (const event of toAnswerParts({ events: events() }, true)) {
    if (event.type === "part-delta") deltas.push(event.text);
    if (deltas.length === 2) gate.resolve();
  }
  expect(deltas).toEqual(["{}", '{"b"']);
});

test("throws a Fault for arguments of a call that has ended", async () => {
  await expect(partsOf([start(0), args(0, "{}"), start(1), args(0, "x")])).rejects.toMatchObject({
    kind: "answer-unfit",
  });
});
