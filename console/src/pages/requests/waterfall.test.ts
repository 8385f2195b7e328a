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

test("shows the moderation of the prompt before the answer, and that of the answer after its first token", () => {
  const moderation: RequestStage = { ...FAILED, type: "moderation", deployment: "judge", error: null, queued_ms: null };
  const prompt = { ...moderation, start_ms: 0, duration_ms: 60 };
  const answer = { ...moderation, start_ms: 700, duration_ms: 80 };
  expect(partsOf({ ...ENTRY, stages: [prompt, answer] })).toEqual([
    ["Moderation", 60],
    ["Answer", 30, 170, 740],
    ["Moderation", 80],
  ]);
});

test("shows turns and tools in place of one answer", () => {
  const turn: RequestStage = { ...FAILED, type: "turn", start_ms: 0, duration_ms: 300, queued_ms: null, error: null };
  const tool: RequestStage = { ...turn, type: "tool", deployment: "file_search", start_ms: 300, duration_ms: 200 };
  const failed = { ...tool, error: "upstream_error", error_message: "It is gone." };
  const rows = waterfallRows({ ...ENTRY, stages: [turn, tool, failed, { ...turn, start_ms: 500, duration_ms: 500 }] });
  expect(rows.map(({ label, detail }) => [label, detail])).toEqual([
    ["Turn 1", "first/1"],
    ["Tool", "file_search"],
    ["Tool", "file_search"],
    ["Turn 2", "first/1"],
  ]);
  expect(rows[2]).toMatchObject({ message: "upstream_error: It is gone.", parts: [{ part: "failed" }] });
});

test("ends with the failed attempt of a request that nothing answered", () => {
  const entry = { ...ENTRY, status: 502, answered_by: null, first_token_ms: null, stages: [FAILED] };
  expect(waterfallRows(entry).map(({ label }) => label)).toEqual(["Attempt 1"]);
  const refused = { ...ENTRY, status: 404, answered_by: null, first_token_ms: null, error: "model_not_found" };
  expect(waterfallRows(refused)).toMatchObject([{ label: "Request", message: "model_not_found" }]);
});
