import { setTimeout as pause } from "node:timers/promises";

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
