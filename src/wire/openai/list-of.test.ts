import { expect, test } from "vitest";
import { z } from "zod";
import { listOf, parsedListOf } from "../../kernel/list-of.ts";
import { readChatBody } from "./chat/chat-body.ts";
import { parse } from "./validate.ts";

test("stops at the first invalid item and names its path", () => {
  let looked = 0;
  const item = z.looseObject({ size: z.number() }).check(() => {
    looked += 1;
  });
  const list = z.object({ all: listOf(z.union([z.string(), item])).min(1) });
  const good = { all: [{ size: 1, more: true }, "two"] };
  expect(parse(list, good)).toEqual(good);
  looked = 0;
  const bad = { all: [{ size: 1 }, { size: "big" }, ...new Array(1000).fill({ size: 1 })] };
  expect(() => parse(list, bad)).toThrow(
    expect.objectContaining({
      param: "all[1].size",
      code: "invalid_type",
      message: expect.stringContaining("a number"),
    }),
  );
  expect(looked).toBe(1);
  expect(() => parse(list, { all: [] })).toThrow(expect.objectContaining({ param: "all" }));
  expect(() => parse(list, { all: {} })).toThrow(expect.objectContaining({ param: "all", code: "invalid_type" }));
});

test.each([
  ["max", (item: z.ZodType) => listOf(item).max(3)],
  ["min and max", (item: z.ZodType) => listOf(item).min(1).max(3)],
  ["max and min", (item: z.ZodType) => parsedListOf(item).max(3).min(1).describe("Few.")],
])("reads no item of a list that is longer than its bounds: %s", (_, bounded) => {
  let looked = 0;
  const item = z.unknown().check(() => {
    looked += 1;
  });
  const list = z.object({ all: bounded(item).optional() });
  const message = expect.stringContaining("at most 3 entries");
  expect(() => parse(list, { all: [1, 2, 3, 4] })).toThrow(expect.objectContaining({ param: "all", message }));
  expect(looked).toBe(0);
  parse(list, { all: [1, 2, 3] });
  expect(looked).toBe(3);
});

const messages = [{ role: "user", content: "Hi." }];

test.each([
  [{ messages: [null] }, "messages[0]"],
  [{ messages: [...messages, 1] }, "messages[1]"],
  [{ messages: [{ role: "user", content: [null] }] }, "messages[0].content[0]"],
  [{ messages: [{ role: "user", content: [{ type: "text" }] }] }, "messages[0].content[0].text"],
  [{ messages: [{ role: "assistant", tool_calls: [null] }] }, "messages[0].tool_calls[0]"],
  [{ messages, tools: [null] }, "tools[0]"],
  [{ messages, tools: [{ type: "function", function: {} }] }, "tools[0].function.name"],
  [{ messages, logit_bias: { 1: null } }, "logit_bias.1"],
])("reports the fault of %j at %s", (change, param) => {
  expect(() => readChatBody({ model: "m", ...change })).toThrow(expect.objectContaining({ name: "Fault", param }));
});
