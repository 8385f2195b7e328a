import { expect, test } from "vitest";
import { Fault } from "../faults.ts";
import { Slots } from "./slots.ts";

const never = new AbortController().signal;

test("admits as many as there are slots, then in order of arrival", async () => {
  const slots = new Slots(2, 10);
  const [first, second] = await Promise.all([slots.acquire(never), slots.acquire(never)]);
  const order: string[] = [];
  const third = slots.acquire(never).then((release) => order.push("third") && release);
  const fourth = slots.acquire(never).then((release) => order.push("fourth") && release);
  expect([slots.inUse, slots.waiting]).toEqual([2, 2]);
  first();
  await third;
  second();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
});

test("a slot given back twice counts once", async () => {
  const slots = new Slots(1, 10);
  const release = await slots.acquire(never);
  release();
  release();
  await slots.acquire(never);
  expect(slots.inUse).toBe(1);
});

test("refuses with Retry-After once the queue is full", async () => {
  const slots = new Slots(1, 1);
  await slots.acquire(never);
  void slots.acquire(never);
  const refusal = await slots.acquire(never).catch((failure: unknown) => failure);
  expect(refusal).toBeInstanceOf(Fault);
  expect(refusal).toMatchObject({ kind: "unavailable", code: "server_is_overloaded" });
  expect((refusal as Fault).retryAfterSeconds).toBeGreaterThanOrEqual(1);
});

test("who leaves the queue is not given a slot", async () => {
  const slots = new Slots(1, 10);
  const release = await slots.acquire(never);
  const leaving = new AbortController();
  const reason = new Error("left");
  const left = slots.acquire(leaving.signal).catch((failure: unknown) => failure);
  const next = slots.acquire(never);
  leaving.abort(reason);
  expect(await left).toBe(reason);
  release();
  await next;
  expect([slots.inUse, slots.waiting]).toEqual([1, 0]);
});

test("without a limit nobody waits", async () => {
  const slots = new Slots(undefined, 0);
  await Promise.all(Array.from({ length: 1000 }, () => slots.acquire(never)));
  expect([slots.inUse, slots.waiting]).toEqual([1000, 0]);
});
