import { expect, test } from "vitest";
import { SamplerMemory } from "./sampler-memory.ts";

test("collects garbage after every 64 MiB of candidates", () => {
  let collections = 0;
  const memory = new SamplerMemory(2 ** 18, () => {
    collections += 1;
  });
  for (let sampler = 0; sampler < 100; sampler++) memory.release(1);
  expect(collections).toBe(4);
});

test("exposes the garbage collector", () => {
  const memory = new SamplerMemory(2 ** 18);
  expect(() => Array.from({ length: 30 }, () => memory.release(1))).not.toThrow();
});
