import { expect, test } from "vitest";
import { formatUntil } from "./format.ts";

test.each([
  [-5, "this minute"],
  [1800, "in 30 minutes"],
  [7200, "in 2 hours"],
  [30 * 86_400, "in 30 days"],
])("says when a time in %d s is", (seconds, text) => {
  expect(formatUntil(1000 + seconds, 1000)).toBe(text);
});
