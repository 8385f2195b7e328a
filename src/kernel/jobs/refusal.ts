/** Refusals of requests that jobs make: limits and busy models, which the same request passes later. */

import { MINUTE_MS } from "../durations.ts";

interface Answer {
  status: number;
  retryAfterSeconds: number | undefined;
  /** False for a failure that a repetition does not avoid. */
  shouldRetry: boolean;
}

const MIN_WAIT_MS = 250;
const MAX_WAIT_MS = MINUTE_MS;

export function isRefusal({ status, retryAfterSeconds, shouldRetry }: Answer): boolean {
  return shouldRetry && (status === 429 || (status === 503 && retryAfterSeconds !== undefined));
}

/** Time until a refused request is sent again. What the refusal says is for one request: the next needs room of its own. */
export function refusalWaitMs(retryAfterSeconds = 1): number {
  return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, retryAfterSeconds * 1000));
}
