/** Runs CPU work for callers in worker threads, off the event loop. */

import type { Piscina } from "piscina";
import { FairTurns } from "../async/fair-turns.ts";
import { MINUTE_MS } from "../durations.ts";

const THREADS = 2;
/** Idle threads end: each occupies some 10 MB. */
const IDLE_MS = MINUTE_MS;

export interface ThreadTaskOptions {
  /** Project that the task is for, which takes turns with others; "": work of all, in the order that it came. */
  project: string;
  /** Ends the thread of a running task. */
  signal?: AbortSignal;
  transferList?: ArrayBuffer[];
}

/** `entry`: a module whose default export runs a task; it calls `lowerPriority`, so that the event loop comes first. */
export class ThreadPool<Task, Result> {
  readonly #entry: URL;
  readonly #turns = new FairTurns({ slots: THREADS });
  #pool: Promise<Piscina<Task, Result>> | undefined;

  constructor(entry: URL) {
    this.#entry = entry;
  }

  /** Piscina is loaded for the first task. Rejects with the signal's reason on abort. */
  async run(task: Task, { project, signal, transferList }: ThreadTaskOptions): Promise<Result> {
    signal?.throwIfAborted();
    this.#pool ??= this.#open();
    const pool = await this.#pool;
    try {
      const options = { ...(signal && { signal }), ...(transferList && { transferList }) };
      const ended = await this.#turns.run(project, signal, async () => ({ result: await pool.run(task, options) }));
      if (ended === undefined) throw signal?.reason;
      return ended.result;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  async #open(): Promise<Piscina<Task, Result>> {
    const { Piscina } = await import("piscina");
    return new Piscina<Task, Result>({
      filename: this.#entry.href,
      minThreads: 0,
      maxThreads: THREADS,
      idleTimeout: IDLE_MS,
    });
  }
}
