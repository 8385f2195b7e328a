import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { untilAborted } from "./until-aborted.ts";

const never = new Promise<never>(() => {});
const reason = new Error("left");

test("has the result of the work", async () => {
  expect(await untilAborted(Promise.resolve("done"), new AbortController().signal)).toBe("done");
});

test("rejects with the reason once the signal aborts", async () => {
  const controller = new AbortController();
  const waiting = untilAborted(never, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

test("rejects for a signal that has aborted before", async () => {
  const waiting = untilAborted(never, AbortSignal.abort(reason)).catch((failure: unknown) => failure);
  expect(await Promise.race([waiting, nextTurn("it waits")])).toBe(reason);
});
