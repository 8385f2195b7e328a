import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { RoundRobinLock } from "./round-robin-lock.ts";

test("runs one task at a time, in turns by project", async () => {
  const turns = new RoundRobinLock();
  const order: string[] = [];
  let running = 0;
  const task = (name: string) => async () => {
    running += 1;
    expect(running).toBe(1);
    await turn();
    order.push(name);
    running -= 1;
    return name;
  };
  const long = ["a1", "a2", "a3", "a4"].map((name) => turns.run("a", task(name)));
  const short = ["b1", "c1"].map((name) => turns.run(name, task(name)));
  expect(await Promise.all([...long, ...short])).toEqual(["a1", "a2", "a3", "a4", "b1", "c1"]);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "a4"]);
});

test("continues after a task that fails", async () => {
  const turns = new RoundRobinLock();
  const failed = turns.run("a", () => Promise.reject(new Error("no")));
  const next = turns.run("a", async () => "next");
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("next");
  expect(await turns.run("b", async () => "idle")).toBe("idle");
});
