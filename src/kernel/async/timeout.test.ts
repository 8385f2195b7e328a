import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { resultWithin, TimeoutError, withTimeout } from "./timeout.ts";

test("returns the result or rethrows the error before the timeout", async () => {
  expect(await withTimeout(delay(1, "done"), 5000)).toBe("done");
  expect(await resultWithin(delay(1, "done"), 5000)).toBe("done");
  const failing = () => delay(1).then(() => Promise.reject(new Error("broken")));
  await expect(withTimeout(failing(), 5000)).rejects.toThrow("broken");
  await expect(resultWithin(failing(), 5000)).rejects.toThrow("broken");
});

test("rejects or stops waiting after the timeout", async () => {
  await expect(withTimeout(delay(1000), 5)).rejects.toThrow(new TimeoutError("no answer within 5 ms"));
  expect(await resultWithin(delay(1000, "late"), 5)).toBeUndefined();
});
