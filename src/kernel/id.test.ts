import { expect, test } from "vitest";
import { newOrderedId } from "./id.ts";

test("IDs sort by time, and differ within a millisecond", () => {
  const before = Date.now();
  const ids = Array.from({ length: 1000 }, () => newOrderedId("req_"));
  const times = ids.map((id) => Number.parseInt(/^req_([0-9a-f]{12})[0-9a-f]{20}$/.exec(id)?.[1] ?? "", 16));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(before);
  expect(new Set(ids).size).toBe(1000);
});
