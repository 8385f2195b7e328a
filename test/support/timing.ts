/** Durations are checked by `npm run test:long`, which runs one file at a time; in `npm test` other files keep the cores busy. */

import { expect } from "vitest";

export const CHECKS_DURATIONS = process.env.PARLANCE_TEST_DURATIONS !== undefined;

/** Fails if the time since `startedAt` (`performance.now()`) is `limitMs` or more, in `npm run test:long` only. */
export function expectWithin(startedAt: number, limitMs: number): void {
  expectBelow(performance.now() - startedAt, limitMs);
}

/** Fails if the duration is `limitMs` or more, in `npm run test:long` only. */
export function expectBelow(durationMs: number, limitMs: number): void {
  if (CHECKS_DURATIONS) expect(durationMs).toBeLessThan(limitMs);
}
