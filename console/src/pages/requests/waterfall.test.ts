import { expect, test } from "vitest";
import type { RequestEntry, RequestStage } from "./requests-api.ts";
import { waterfallRows } from "./waterfall.tsx";

const ENTRY = {
  status: 200,
  answered_by: "echo",
  deployment: "echo/1",
  queued_ms: 30,
  first_token_ms: 200,
  duration_ms: 1000,
  error: null,
  error_message: null,
  stages: [],
} as unknown as RequestEntry;

const FAILED: RequestStage = {
  type: "attempt",
  deployment: "first/1",
  start_ms: 100,
  duration_ms: 50,
  queued_ms: 10,
  error: "upstream_error",
  error_message: "CUDA out of memory",
};

const partsOf = (entry: RequestEntry) =>
  waterfallRows(entry).map(({ label, parts }) => [label, ...parts.map(({ durationMs }) => durationMs)]);

test("splits a plain request into queue, first token and generation", () => {
  expect(partsOf(ENTRY)).toEqual([["Answer", 30, 170, 800]]);
});

test("puts loads and failed attempts before the attempt that answered, without their queue", () => {
  const load: RequestStage = { ...FAILED, type: "load", start_ms: 0, duration_ms: 100, queued_ms: null, error: null };
  const rows = waterfallRows({ ...ENTRY, stages: [load, FAILED] });
  expect(rows.map(({ label }) => label)).toEqual(["Load", "Attempt 1", "Attempt 2"]);
  expect(rows[1]?.message).toBe("upstream_error: CUDA out of memory");
  expect(rows[2]?.parts.map(({ startMs, durationMs }) => [startMs, durationMs])).toEqual([
    [150, 20],
    [170, 30],
    [200, 800],
  ]);
});

test("ends with the failed attempt of a request that nothing answered", () => {
  const entry = { ...ENTRY, status: 502, answered_by: null, first_token_ms: null, stages: [FAILED] };
  expect(waterfallRows(entry).map(({ label }) => label)).toEqual(["Attempt 1"]);
  const refused = { ...ENTRY, status: 404, answered_by: null, first_token_ms: null, error: "model_not_found" };
  expect(waterfallRows(refused)).toMatchObject([{ label: "Request", message: "model_not_found" }]);
});
