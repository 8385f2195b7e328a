export interface Backoff {
  /** Delay before the second attempt, in the unit that the caller uses; doubles with each further attempt. */
  initial: number;
  /** Upper bound before jitter. Default: none. */
  max?: number;
  /** The delay is multiplied by a random factor of this range, which spreads clients that failed together. */
  jitter?: readonly [min: number, max: number];
}

/** Exponential backoff: the delay after `failures` failed attempts in a row, 1 or more. */
export function backoffDelay(failures: number, { initial, max = Number.POSITIVE_INFINITY, jitter }: Backoff): number {
  const delay = Math.min(max, initial * 2 ** (failures - 1));
  if (jitter === undefined) return delay;
  const [low, high] = jitter;
  return delay * (low + (high - low) * Math.random());
}
