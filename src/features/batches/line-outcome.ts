/** Decides whether the answer of a line stands, or the line runs again. */

import { backoffDelay } from "../../kernel/async/backoff.ts";
import { isRefusal, refusalWaitMs } from "../../kernel/jobs/refusal.ts";
import type { AnsweredLine } from "../../wire/openai/batch-lines.ts";
import type { LineUsage } from "./batch-parts.ts";

/** Answer of a request that was made for a line. */
export interface LineAnswer extends AnsweredLine {
  retryAfterSeconds: number | undefined;
  /** False for a failure that a repetition does not avoid. */
  shouldRetry: boolean;
  /** Undefined for an answer without a run. */
  usage?: LineUsage | undefined;
}

export type LineOutcome =
  | { type: "answered"; isError: boolean }
  /** `pausesBatch`: the next lines would be refused as well. `isFailure`: counts as one of the line's attempts. */
  | { type: "retry"; delayMs: number; pausesBatch: boolean; isFailure: boolean };

/** Attempts that a line has at a model or an upstream that fails. */
const MAX_ATTEMPTS = 5;
const FAILURE_BACKOFF = { initial: 1_000, max: 30_000, jitter: [0.5, 1] } as const;
/** Interactive requests come in groups. */
const PREEMPTED_MS = 500;
/** The status of requests that were ended, here for an interactive one. */
const ENDED = 499;

/** `attempts`: failed ones, this one included. */
export function outcomeOf(answer: LineAnswer, attempts: number): LineOutcome {
  const { status, retryAfterSeconds, shouldRetry } = answer;
  if (status < 400) return { type: "answered", isError: false };
  if (status === ENDED) return { type: "retry", delayMs: PREEMPTED_MS, pausesBatch: true, isFailure: false };
  if (!shouldRetry) return { type: "answered", isError: true };
  if (isRefusal(answer)) {
    return { type: "retry", delayMs: refusalWaitMs(retryAfterSeconds), pausesBatch: true, isFailure: false };
  }
  if (status < 500 || attempts >= MAX_ATTEMPTS) return { type: "answered", isError: true };
  return { type: "retry", delayMs: backoffDelay(attempts, FAILURE_BACKOFF), pausesBatch: false, isFailure: true };
}
