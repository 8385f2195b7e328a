import { expect, test } from "vitest";
import { changeOf } from "./change-of.ts";

test.each([
  [112, 100, "+12%"],
  [50, 100, "−50%"],
  [100, 100, "±0 %"],
  [100.1, 100, "±0 %"],
  [5, 0, "new"],
  [0, 0, "—"],
  [0, 5, "−100%"],
])("compares %d with %d before as %s", (now, before, expected) => {
  expect(changeOf(now, before)).toBe(expected);
});
