import { expect, test } from "vitest";
import { TookTooLong, withinTime } from "./within-time.ts";

test("returns and throws what the work does, also from within other work", () => {
  expect(withinTime(10_000, () => withinTime(10_000, () => 3) + 1)).toBe(4);
  const mistake = new RangeError("no");
  expect(() => withinTime(10_000, () => withinTime(10_000, () => thrown(mistake)))).toThrow(mistake);
});

test("ends what would go on for ever", () => {
  expect(() =>
    withinTime(50, () => {
      for (;;) {
        // Nothing else ends it.
      }
    }),
  ).toThrow(TookTooLong);
  expect(() => withinTime(50, () => /^(a+)+$/.test(`${"a".repeat(100)}!`))).toThrow(TookTooLong);
});

function thrown(error: Error): never {
  throw error;
}
