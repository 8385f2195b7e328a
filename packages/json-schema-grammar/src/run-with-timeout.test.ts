import { expect, test } from "vitest";
import { runWithTimeout, TimeoutError } from "./run-with-timeout.ts";

test("returns the result or rethrows the error, also when nested", () => {
  expect(runWithTimeout(10_000, () => runWithTimeout(10_000, () => 3) + 1)).toBe(4);
  const mistake = new RangeError("no");
  expect(() => runWithTimeout(10_000, () => runWithTimeout(10_000, () => thrown(mistake)))).toThrow(mistake);
});

test("interrupts infinite loops and exponential backtracking", () => {
  expect(() =>
    runWithTimeout(50, () => {
      for (;;) {
        // Only the time limit ends it.
      }
    }),
  ).toThrow(TimeoutError);
  expect(() => runWithTimeout(50, () => /^(a+)+$/.test(`${"a".repeat(100)}!`))).toThrow(TimeoutError);
});

function thrown(error: Error): never {
  throw error;
}

test("counts CPU time of the thread, not time in which other threads have the core", () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  let count = 0;
  const result = runWithTimeout(40, () => {
    count += 1;
    Atomics.wait(flag, 0, 0, 300);
    return "done";
  });
  expect(result).toBe("done");
  // Interrupted work starts again.
  expect(count).toBeGreaterThan(1);
});
