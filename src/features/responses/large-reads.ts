import { setImmediate as nextTurn } from "node:timers/promises";
import { RoundRobinLock } from "../../kernel/async/round-robin-lock.ts";

/** Less is read in some 10 ms. */
const LARGE_BYTES = 1_000_000;

/**
 * Lets reads of many bytes take turns by project: a request of a hundred bytes can continue from 20 MB, and twenty of
 * them at once blocked the event loop for seconds and had all contexts in memory.
 */
export class LargeReads {
  readonly #turns = new RoundRobinLock();

  run<Result>(projectId: string, bytes: number, read: () => Promise<Result>): Promise<Result> {
    if (bytes < LARGE_BYTES) return read();
    return this.#turns.run(projectId, async () => {
      // Queries of SQLite end without a turn of the event loop.
      await nextTurn();
      const result = await read();
      await nextTurn();
      return result;
    });
  }
}
