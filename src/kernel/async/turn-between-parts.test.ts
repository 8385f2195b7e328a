import { expect, test } from "vitest";
import { turnBetweenParts } from "./turn-between-parts.ts";

test.each([
  [1_000_000, true],
  [1000, false],
  [undefined, false],
])("work on a body of %s bytes lets others have a turn: %s", async (bytes, expected) => {
  let hadTurn = false;
  setImmediate(() => {
    hadTurn = true;
  });
  await turnBetweenParts(bytes);
  expect(hadTurn).toBe(expected);
});
