import { expect, test } from "vitest";
import { groupEvents } from "./group-events.ts";

test("groups types of events by what they are about, and titles others by their resource", () => {
  const types = ["budget.reached", "batch.failed", "spend_limit.reached", "cache.cleared"].map((type) => ({ type }));
  expect(groupEvents(types)).toEqual([
    ["Spending", [{ type: "budget.reached" }, { type: "spend_limit.reached" }]],
    ["Batches", [{ type: "batch.failed" }]],
    ["cache", [{ type: "cache.cleared" }]],
  ]);
});
