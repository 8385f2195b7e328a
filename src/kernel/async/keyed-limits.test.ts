import { expect, test } from "vitest";
import { KeyedLimits } from "./keyed-limits.ts";

test("runs works of one key in turn beside those of others, and forgets a key without works", async () => {
  const limits = new KeyedLimits(1);
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = limits.run("a", async () => {
    await gate.promise;
    events.push("a1");
  });
  const second = limits.run("a", async () => {
    events.push("a2");
    throw new Error("failed");
  });
  await limits.run("b", async () => {
    events.push("b");
  });
  expect([events, limits.size]).toEqual([["b"], 1]);
  gate.resolve();
  await first;
  await expect(second).rejects.toThrow("failed");
  expect(events).toEqual(["b", "a1", "a2"]);
  expect(limits.size).toBe(0);
});
