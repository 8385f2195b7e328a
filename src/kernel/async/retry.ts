import { setTimeout as pause } from "node:timers/promises";
import { type Backoff, backoffDelay } from "./backoff.ts";

export interface RetryOptions {
  /** Maximum number of attempts. Default: no limit. */
  attempts?: number;
  /** In milliseconds. */
  backoff: Backoff;
  /** Failures that another attempt may avoid. Default: all. */
  isRetryable?: (error: unknown) => boolean;
  /** Called before each pause with the number of failed attempts. */
  onRetry?: (error: unknown, failures: number) => void;
  /** Ends the attempts: its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** Repeats `work` until it succeeds. Throws its last error, or the signal's reason. */
export async function retry<Result>(work: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { attempts = Number.POSITIVE_INFINITY, backoff, isRetryable, onRetry, signal } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      if (failures >= attempts || isRetryable?.(error) === false) throw error;
      onRetry?.(error, failures);
      await sleep(backoffDelay(failures, backoff), signal);
    }
  }
}

export interface UntilOptions {
  /** Pause between two checks. */
  everyMs: number;
  /** Default: no limit. */
  timeoutMs?: number;
  /** Ends the wait: its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * Checks until `check` returns something other than undefined and false, and resolves with it; with undefined once the
 * time is over, after a last check.
 */
export async function until<Result>(
  check: () => Result | undefined | false | Promise<Result | undefined | false>,
  { everyMs, timeoutMs = Number.POSITIVE_INFINITY, signal }: UntilOptions,
): Promise<Result | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const result = await check();
    if (result !== undefined && result !== false) return result;
    if (performance.now() >= deadline) return undefined;
    await sleep(everyMs, signal);
  }
}

/** Throws the signal's own reason, rather than the AbortError that wraps it. */
export async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await pause(milliseconds, undefined, signal && { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
