/** Runs CPU work for callers in worker threads, off the event loop. */

import type { Piscina } from "piscina";
import { FairTurns } from "../async/fair-turns.ts";
import { MINUTE_MS } from "../durations.ts";
import { isExhausted, toStartFault } from "./start-fault.ts";

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

interface Threads<Task, Result> {
  pool: Piscina<Task, Result>;
  /** Aborts with the reason when a thread has failed without a task: one that waits for it would wait for good. */
  lost: AbortController;
}

/** `entry`: a module whose default export runs a task; it calls `lowerPriority`, so that the event loop comes first. */
export class ThreadPool<Task, Result> {
  readonly #entry: URL;
  readonly #turns = new FairTurns({ slots: THREADS });
  #threads: Promise<Threads<Task, Result>> | undefined;

  constructor(entry: URL) {
    this.#entry = entry;
  }

  /**
   * Piscina is loaded for the first task. Rejects with the signal's reason on abort, and with a Fault when the system has
   * nothing left for a thread.
   */
  async run(task: Task, { project, signal, transferList }: ThreadTaskOptions): Promise<Result> {
    signal?.throwIfAborted();
    const run = async () => ({ result: await this.#runInThread(task, signal, transferList) });
    const ended = await this.#turns.run(project, signal, run);
    if (ended === undefined) throw signal?.reason;
    return ended.result;
  }

  async #runInThread(task: Task, signal?: AbortSignal, transferList?: ArrayBuffer[]): Promise<Result> {
    this.#threads ??= this.#open().catch((error: unknown) => {
      this.#threads = undefined;
      throw toStartFault(error);
    });
    const { pool, lost } = await this.#threads;
    const ending = new AbortController();
    const end = () => ending.abort();
    for (const each of [signal, lost.signal]) each?.addEventListener("abort", end, { once: true });
    try {
      signal?.throwIfAborted();
      return await pool.run(task, { signal: ending.signal, ...(transferList && { transferList }) });
    } catch (error) {
      signal?.throwIfAborted();
      lost.signal.throwIfAborted();
      // The task is still in the pool's queue, and its failure there would be nobody's.
      if (isExhausted(error)) this.#lose(lost, error);
      throw toStartFault(error);
    } finally {
      for (const each of [signal, lost.signal]) each?.removeEventListener("abort", end);
    }
  }

  async #open(): Promise<Threads<Task, Result>> {
    const { Piscina } = await import("piscina");
    const pool = new Piscina<Task, Result>({
      filename: this.#entry.href,
      minThreads: 0,
      maxThreads: THREADS,
      idleTimeout: IDLE_MS,
    });
    const lost = new AbortController();
    // Without a listener, the error would end the service.
    pool.on("error", (error) => this.#lose(lost, error));
    return { pool, lost };
  }

  /** Ends the tasks of the pool. The next task opens another one. */
  #lose(lost: AbortController, error: unknown): void {
    if (lost.signal.aborted) return;
    this.#threads = undefined;
    lost.abort(toStartFault(error));
  }
}
