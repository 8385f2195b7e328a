import { expect, test } from "vitest";
import { Fault } from "../../kernel/faults.ts";
import { type Slot, Slots } from "./slots.ts";

const never = new AbortController().signal;

test("admits as many requests as slots, then in order of arrival", async () => {
  const slots = new Slots(2, 10);
  const [first, second] = (await Promise.all([slots.acquire(never, "a"), slots.acquire(never, "a")])) as [Slot, Slot];
  const order: string[] = [];
  const third = slots.acquire(never, "a").then(() => order.push("third"));
  const fourth = slots.acquire(never, "a").then(() => order.push("fourth"));
  expect([slots.inUse, slots.waiting]).toEqual([2, 2]);
  first.release();
  await third;
  second.release();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
});

test("counts a slot once when it is released twice", async () => {
  const slots = new Slots(1, 10);
  const { release } = await slots.acquire(never, "a");
  release();
  release();
  await slots.acquire(never, "a");
  expect(slots.inUse).toBe(1);
});

test("rejects with Retry-After once the queue is full", async () => {
  const slots = new Slots(1, 1);
  await slots.acquire(never, "a");
  void slots.acquire(never, "a");
  const refusal = await slots.acquire(never, "a").catch((failure: unknown) => failure);
  expect(refusal).toBeInstanceOf(Fault);
  expect(refusal).toMatchObject({ kind: "unavailable", code: "server_is_overloaded" });
  expect((refusal as Fault).retryAfterSeconds).toBeGreaterThanOrEqual(1);
});

test("limits Retry-After to the time the queue takes at the measured pace", async () => {
  const slots = new Slots(4, 8);
  for (let count = 0; count < 200; count += 1) (await slots.acquire(never, "a")).release();
  for (let count = 0; count < 12; count += 1) void slots.acquire(never, "a");
  await expect(slots.acquire(never, "a")).rejects.toMatchObject({ retryAfterSeconds: 1 });
});

test("removes an aborted request from the queue", async () => {
  const slots = new Slots(1, 10);
  const { release } = await slots.acquire(never, "a");
  const leaving = new AbortController();
  const reason = new Error("left");
  const left = slots.acquire(leaving.signal, "a").catch((failure: unknown) => failure);
  const next = slots.acquire(never, "a");
  leaving.abort(reason);
  expect(await left).toBe(reason);
  release();
  await next;
  expect([slots.inUse, slots.waiting]).toEqual([1, 0]);
});

test("admits every request at once without a limit", async () => {
  const slots = new Slots(undefined, 0);
  await Promise.all(Array.from({ length: 1000 }, () => slots.acquire(never, "a")));
  expect([slots.inUse, slots.waiting]).toEqual([1000, 0]);
});

test("delays another project's request by at most one turn behind a thousand waiting requests", async () => {
  const slots = new Slots(1, 2000);
  const order: string[] = [];
  const served = (project: string) =>
    slots.acquire(never, project).then(({ release }) => {
      order.push(project);
      setImmediate(release);
    });
  const greedy = Array.from({ length: 1001 }, () => served("greedy"));
  await Promise.resolve();
  const modest = served("modest");
  await modest;
  // Only the request that was already being served.
  expect(order).toEqual(["greedy", "modest"]);
  await Promise.all(greedy);
  expect(order).toHaveLength(1002);
});

test("delays sequential requests only by the turn that is running", async () => {
  const slots = new Slots(1, 2000);
  const order: string[] = [];
  const served = (project: string) =>
    slots.acquire(never, project).then(({ release }) => {
      order.push(project);
      setImmediate(release);
    });
  const greedy = Array.from({ length: 100 }, () => served("greedy"));
  for (let count = 0; count < 20; count += 1) {
    await new Promise(setImmediate);
    const before = order.length;
    await served("modest");
    expect(order.length - before).toBeLessThanOrEqual(2);
  }
  await Promise.all(greedy);
});

test("takes turns between projects with many waiting requests", async () => {
  const slots = new Slots(3, 1000);
  const order: string[] = [];
  const waiting = ["a", "b", "c"].flatMap((project) =>
    Array.from({ length: 50 }, () =>
      slots.acquire(never, project).then(({ release }) => {
        order.push(project);
        setImmediate(release);
      }),
    ),
  );
  await Promise.all(waiting);
  const inFirstHalf = (project: string) => order.slice(0, 75).filter((each) => each === project).length;
  for (const project of ["a", "b", "c"]) expect(Math.abs(inFirstHalf(project) - 25)).toBeLessThanOrEqual(4);
});

test("evicts from the project with the most waiting requests when the queue is full", async () => {
  const slots = new Slots(1, 10);
  await slots.acquire(never, "greedy");
  const greedy = Array.from({ length: 10 }, () => slots.acquire(never, "greedy"));
  const last = greedy.at(-1)?.catch((failure: unknown) => failure);
  void slots.acquire(never, "modest");
  expect(await last).toMatchObject({ code: "server_is_overloaded" });
  expect(slots.waiting).toBe(10);
  await expect(slots.acquire(never, "greedy")).rejects.toMatchObject({ code: "server_is_overloaded" });
});

test("reports the time in the queue", async () => {
  const slots = new Slots(1, 1);
  const { release, waitedSeconds } = await slots.acquire(never, "a");
  expect(waitedSeconds).toBe(0);
  const next = slots.acquire(never, "a");
  setTimeout(release, 30);
  expect((await next).waitedSeconds).toBeGreaterThan(0.02);
});

test("leaves the slots beyond a project's share to other projects", async () => {
  const slots = new Slots(4, 10, 2);
  const first = await slots.acquire(never, "a");
  await slots.acquire(never, "a");
  const third = slots.acquire(never, "a");
  await slots.acquire(never, "b");
  expect([slots.inUse, slots.waiting]).toEqual([3, 1]);
  first.release();
  await third;
  expect([slots.inUse, slots.waiting]).toEqual([3, 0]);
});
