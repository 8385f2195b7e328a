import { expect, test } from "vitest";
import { secondsToEndOf } from "./expiry-field.tsx";

test("counts to the end of a local day, and knows none that is over", () => {
  const now = new Date(2026, 10, 22, 12, 0, 0).getTime();
  expect(secondsToEndOf("2026-11-22", now)).toBe(12 * 3600 - 1);
  expect(secondsToEndOf("2026-11-23", now)).toBe(36 * 3600 - 1);
  expect(secondsToEndOf("2026-11-21", now)).toBeUndefined();
  expect(secondsToEndOf("", now)).toBeUndefined();
});
