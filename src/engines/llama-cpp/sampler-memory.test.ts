import { expect, test } from "vitest";
import { SamplerMemory } from "./sampler-memory.ts";

test("collects each time that 64 MiB of candidates are garbage", () => {
  let collections = 0;
  const memory = new SamplerMemory(2 ** 18, () => {
    collections += 1;
  });
  for (let sampler = 0; sampler < 100; sampler++) memory.abandon(1);
  expect(collections).toBe(4);
});

test("finds the collector by itself", () => {
  const memory = new SamplerMemory(2 ** 18);
  expect(() => Array.from({ length: 30 }, () => memory.abandon(1))).not.toThrow();
});
