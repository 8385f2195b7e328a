import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";

/** Added to the measured turns; without it, waiting for other threads would use the processor. */
const PAUSE_MS = 2;

interface Turns {
  /** Most CPU time of this thread between two turns of its event loop, in milliseconds. */
  turnMs: number;
  /** CPU time of all turns. */
  totalMs: number;
}

/** Measures this thread while `work` runs in it. Unlike a latency, CPU time does not depend on what else the machine does. */
export async function longestTurnDuring(work: () => Promise<unknown>): Promise<Turns> {
  let isOver = false;
  const turns: Turns = { turnMs: 0, totalMs: 0 };
  const measuring = (async () => {
    let usage = process.threadCpuUsage();
    while (!isOver) {
      await pause(PAUSE_MS);
      const { user, system } = process.threadCpuUsage(usage);
      usage = process.threadCpuUsage();
      const turnMs = (user + system) / 1000;
      turns.turnMs = Math.max(turns.turnMs, turnMs);
      turns.totalMs += turnMs;
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await measuring;
  }
  return turns;
}

const RUNS = 5;

/**
 * Fails if the longest turn of `work` reaches the limit in each of five runs: a neighbour on the same processor or a
 * garbage collection makes some of them longer, what `work` itself computes all of them.
 */
export async function expectTurnsBelow(
  limit: number | ((turns: Turns) => number),
  work: () => Promise<unknown>,
): Promise<void> {
  const limitOf = (turns: Turns) => (typeof limit === "number" ? limit : limit(turns));
  let turns = await longestTurnDuring(work);
  for (let run = 1; run < RUNS && turns.turnMs >= limitOf(turns); run += 1) turns = await longestTurnDuring(work);
  expect(turns.turnMs).toBeLessThan(limitOf(turns));
}
