import { expect, test } from "vitest";
import { MemoryBudget, type MemoryUser } from "./memory-budget.ts";

class Loaded implements MemoryUser {
  readonly name: string;
  readonly memoryBytes: number;
  readonly lastUsedAt: number;
  isIdle = true;
  isLoaded = true;

  constructor(name: string, memoryBytes: number, lastUsedAt: number) {
    this.name = name;
    this.memoryBytes = memoryBytes;
    this.lastUsedAt = lastUsedAt;
  }

  async unload(): Promise<void> {
    await new Promise((resume) => setTimeout(resume, 2));
    this.isLoaded = false;
  }
}

test("unloads the least recently used models until a new one fits", async () => {
  const budget = new MemoryBudget(100);
  const [old, older, recent] = [new Loaded("old", 30, 2), new Loaded("older", 30, 1), new Loaded("recent", 30, 3)];
  for (const each of [old, older, recent]) await budget.admit(each);
  await budget.admit(new Loaded("new", 60, 4));
  expect([old, older, recent].map(({ isLoaded }) => isLoaded)).toEqual([false, false, true]);
  expect(budget.usedBytes).toBe(90);
});

test("never unloads a model in use, and reports the available memory", async () => {
  const budget = new MemoryBudget(100e6);
  const busy = new Loaded("busy", 60e6, 1);
  await budget.admit(busy);
  busy.isIdle = false;
  await expect(budget.admit(new Loaded("new", 50e6, 2))).rejects.toMatchObject({
    code: "insufficient_memory",
    message: expect.stringMatching(/needs about 50 MB .* in use, have 60 MB of 100 MB/),
  });
  expect(busy.isLoaded).toBe(true);
  busy.isIdle = true;
  await budget.admit(new Loaded("new", 50e6, 2));
  expect(busy.isLoaded).toBe(false);
});

test("rejects a model that can never fit, with the required and the available memory", async () => {
  const budget = new MemoryBudget(100e6);
  await expect(budget.admit(new Loaded("huge", 200e6, 1))).rejects.toMatchObject({
    retryAfterSeconds: 600,
    message: expect.stringMatching(/needs about 200 MB of memory, but local models may use 100 MB together/),
  });
});

test("does not reserve the same memory for two models", async () => {
  const budget = new MemoryBudget(100);
  const both = [budget.admit(new Loaded("one", 60, 1)), budget.admit(new Loaded("two", 60, 2))];
  await Promise.all(both);
  expect(budget.usedBytes).toBe(60);
});
