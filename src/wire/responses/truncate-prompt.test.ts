import { expect, test } from "vitest";
import type { InputItem, Prompt } from "./responses-input.ts";
import { withoutOldest } from "./truncate-prompt.ts";

const message = (role: string, content: string): InputItem => ({ type: "message", role, content });
const call = (call_id: string): InputItem => ({ type: "function_call", call_id, name: "f", arguments: "{}" });
const output = (call_id: string): InputItem => ({ type: "function_call_output", call_id, output: "x".repeat(100) });

/** Shortens until nothing more can be left out. */
function shortest(prompt: Prompt): Prompt {
  const next = withoutOldest(prompt);
  return next === undefined ? prompt : shortest(next);
}

test("leaves out the oldest items first, about a quarter at a time", () => {
  const turns = Array.from({ length: 20 }, (_each, index) => message("user", `turn ${10 + index} ${"x".repeat(50)}`));
  const { input } = withoutOldest({ context: turns.slice(0, 15), input: turns.slice(15) }) ?? { input: [] };
  expect(input).toEqual(turns.slice(5));
});

test("keeps instructions and the last turn", () => {
  const context = [message("developer", "Be brief."), message("user", "a"), message("assistant", "b")];
  expect(shortest({ context, input: "Hello" })).toEqual({
    context: [],
    input: [context[0], { role: "user", content: "Hello" }],
  });
  expect(withoutOldest({ context: [], input: "Hello" })).toBeUndefined();
});

test("leaves out results with their calls, and keeps the calls of the last results", () => {
  const items = [message("user", "a"), call("1"), output("1"), message("user", "b"), call("2"), output("2")];
  expect(withoutOldest({ context: items, input: [] })?.input).toEqual(items.slice(3));
  const loop = [call("1"), output("1"), call("2"), output("2")];
  expect(shortest({ context: loop.slice(0, 3), input: loop.slice(3) }).input).toEqual(loop.slice(2));
});
