import { expect, test } from "vitest";
import { SingleEventStream } from "./single-event-stream.ts";

test("yields its event, if there is one, and ends", async () => {
  expect(await Array.fromAsync(new SingleEventStream(async () => "all"))).toEqual(["all"]);
  expect(await Array.fromAsync(new SingleEventStream(async () => undefined))).toEqual([]);
});

test("starts on the first call of next, and ends after a failure or return", async () => {
  let begun = 0;
  const fail = async () => {
    begun += 1;
    throw new Error("broken");
  };
  const failing = new SingleEventStream(fail);
  expect(begun).toBe(0);
  await expect(failing.next()).rejects.toThrow("broken");
  expect(await failing.next()).toEqual({ done: true, value: undefined });
  const left = new SingleEventStream(fail);
  await left.return();
  expect(await left.next()).toEqual({ done: true, value: undefined });
  expect(begun).toBe(1);
});
