import { expect, test } from "vitest";
import { outcomeOf } from "./line-outcome.ts";

const answer = (status: number, retryAfterSeconds?: number, shouldRetry = true) => ({
  status,
  requestId: "req_1",
  body: "{}",
  retryAfterSeconds,
  shouldRetry,
});

test.each([
  ["an answer", answer(200), { type: "answered", isError: false }],
  ["an invalid request", answer(400), { type: "answered", isError: true }],
  ["an exhausted budget", answer(429, undefined, false), { type: "answered", isError: true }],
  ["a rate limit", answer(429, 3), { type: "retry", delayMs: 3000, pausesBatch: true, isFailure: false }],
  ["a long rate limit", answer(429, 900), { type: "retry", delayMs: 60_000, pausesBatch: true }],
  ["an overloaded model", answer(503, 2), { type: "retry", delayMs: 2000, pausesBatch: true, isFailure: false }],
  ["preemption", answer(499), { type: "retry", pausesBatch: true, isFailure: false }],
  ["a failed upstream", answer(502), { type: "retry", pausesBatch: false, isFailure: true }],
])("decides about %s", (_name, given, expected) => {
  expect(outcomeOf(given, 1)).toMatchObject(expected);
});

test("gives up on a line that fails five times", () => {
  expect(outcomeOf(answer(502), 4)).toMatchObject({ type: "retry" });
  expect(outcomeOf(answer(502), 5)).toEqual({ type: "answered", isError: true });
});
