/** Queue of the batches of one process, which has the database to itself. */

import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../../observability/logger.ts";
import type { BatchQueue } from "./batch-queue.ts";

interface QueuedBatch {
  id: string;
  projectId: string;
}

export interface LocalQueueOptions {
  /** Lists the batches that have not ended, oldest first. */
  listUnfinished: () => Promise<readonly QueuedBatch[]>;
  logger: Logger;
  /** Batches that run at the same time. */
  concurrency: number;
}

const RETRY_MS = 5_000;

export class LocalQueue implements BatchQueue {
  readonly #options: LocalQueueOptions;
  readonly #waiting: QueuedBatch[] = [];
  readonly #running = new Map<QueuedBatch, Promise<void>>();
  #run: ((id: string) => Promise<boolean>) | undefined;
  readonly #draining = new AbortController();

  constructor(options: LocalQueueOptions) {
    this.#options = options;
  }

  async start(run: (id: string) => Promise<boolean>): Promise<void> {
    this.#run = run;
    const batches = await this.#options.listUnfinished();
    // Batches may have been added meanwhile.
    const knownIds = new Set([...this.#waiting, ...this.#running.keys()].map(({ id }) => id));
    this.#waiting.unshift(...batches.filter(({ id }) => !knownIds.has(id)));
    this.#fill();
  }

  async add(batch: QueuedBatch): Promise<void> {
    this.#waiting.push(batch);
    this.#fill();
  }

  drain(): void {
    this.#draining.abort();
  }

  async close(): Promise<void> {
    this.drain();
    await Promise.all(this.#running.values());
  }

  #fill(): void {
    const run = this.#run;
    while (run !== undefined && !this.#draining.signal.aborted && this.#running.size < this.#options.concurrency) {
      const next = this.#next();
      if (next === undefined) return;
      const ended = this.#runOne(next, run).finally(() => {
        this.#running.delete(next);
        this.#fill();
      });
      this.#running.set(next, ended);
    }
  }

  /** Takes the oldest batch of the project that has the fewest running. */
  #next(): QueuedBatch | undefined {
    const running = (projectId: string) =>
      [...this.#running.keys()].filter((batch) => batch.projectId === projectId).length;
    const fewest = Math.min(...this.#waiting.map(({ projectId }) => running(projectId)));
    const index = this.#waiting.findIndex(({ projectId }) => running(projectId) === fewest);
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  async #runOne(batch: QueuedBatch, run: (id: string) => Promise<boolean>): Promise<void> {
    try {
      if (await run(batch.id)) return;
    } catch (error) {
      this.#options.logger.error({ err: error, batch: batch.id }, "batch failed; it runs again");
    }
    const { signal } = this.#draining;
    await pause(RETRY_MS, undefined, { ref: false, signal }).catch(() => {});
    if (!signal.aborted) this.#waiting.push(batch);
  }
}
