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

test("leaves out the oldest steps of a long loop of tools, and keeps the question and the last results", () => {
  const question = message("user", "What is the weather in all cities?");
  const step = (id: string) => [{ type: "reasoning", summary: [] } as InputItem, call(id), output(id)];
  const steps = ["1", "2", "3", "4", "5", "6", "7", "8"].flatMap(step);
  const items = [message("developer", "Be brief."), question, ...steps];

  const first = withoutOldest({ context: items, input: [] })?.input as InputItem[];
  expect(first.slice(0, 2)).toEqual(items.slice(0, 2));
  expect(first.slice(2)).toEqual(items.slice(2 + 3 * 3));
  const last = shortest({ context: items, input: [] }).input as InputItem[];
  expect(last).toEqual([...items.slice(0, 2), ...items.slice(-3)]);
});

test("leaves out parallel calls together, with the reasoning before them", () => {
  const parallel = [{ type: "reasoning", summary: [] } as InputItem, call("1"), call("2"), output("1"), output("2")];
  const items = [message("user", "a"), ...parallel, message("assistant", "b"), message("user", "c".repeat(2000))];
  const next = withoutOldest({ context: items, input: [] })?.input as InputItem[];

  expect(next).toEqual(items.slice(-1));
});

test.each([0, 1, 2, 3])("never separates a call from its result, of random histories: seed %i", (seed) => {
  let state = seed + 1;
  const random = (max: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % max;
  };
  const items: InputItem[] = [];
  for (let step = 0; step < 40; step += 1) {
    if (random(4) === 0) items.push(message("user", "q".repeat(random(300))));
    const count = 1 + random(3);
    const ids = Array.from({ length: count }, (_each, index) => `${step}-${index}`);
    items.push(...ids.map(call), ...ids.map(output));
    if (random(3) === 0) items.push(message("assistant", "a".repeat(random(300))));
  }
  for (let prompt: Prompt | undefined = { context: items, input: [] }; prompt; prompt = withoutOldest(prompt)) {
    const current = [...prompt.context, ...(prompt.input as InputItem[])];
    const idsOf = (type: string) => current.filter((item) => item.type === type).map(({ call_id: id }) => id);
    expect(idsOf("function_call_output").toSorted()).toEqual(idsOf("function_call").toSorted());
  }
});
