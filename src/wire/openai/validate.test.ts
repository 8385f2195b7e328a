import { expect, test } from "vitest";
import { z } from "zod";
import { parse } from "./validate.ts";

const Variants = z.discriminatedUnion("type", [
  z.object({ type: z.literal("a"), size: z.number().multipleOf(8).optional() }),
  z.object({ type: z.literal("b"), url: z.url().optional(), word: z.string().regex(/^\w+$/).optional() }),
]);
const Body = z.object({ item: Variants });

test.each([
  [{ type: "c" }, "item.type", 'it must be "a" or "b"'],
  [{ type: 5 }, "item.type", 'it must be "a" or "b"'],
  [{ type: "a", size: 9 }, "item.size", "it must be a multiple of 8"],
  [{ type: "b", url: "nowhere" }, "item.url", "it must be a valid url"],
  [{ type: "b", word: "two words" }, "item.word", "it must match /^\\w+$/"],
])("words what %j lacks for callers", (item, param, reason) => {
  expect(() => parse(Body, { item })).toThrow(
    expect.objectContaining({ param, message: expect.stringContaining(reason) }),
  );
  expect(() => parse(Body, { item })).not.toThrow(/Invalid (input|string|number|URL|discriminator)/);
});
