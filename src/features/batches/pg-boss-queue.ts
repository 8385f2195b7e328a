/** Queue of the batches of several replicas, in PostgreSQL. It polls, so it works behind PgBouncer. */

import type { PgBoss } from "pg-boss";
import { DAY_SECONDS, MINUTE_MS } from "../../kernel/durations.ts";
import type { Secret } from "../../kernel/secret.ts";
import type { Logger } from "../../observability/logger.ts";
import type { BatchQueue } from "./batch-queue.ts";

export interface PgBossQueueOptions {
  url: Secret;
  /** Lists the batches that have not ended, oldest first. */
  listUnfinished: () => Promise<readonly { id: string; projectId: string }[]>;
  logger: Logger;
  /** Batches that this replica runs at the same time. */
  concurrency: number;
}

const QUEUE = "batches";
const SCHEMA = "parlance_queue";
const MAX_CONNECTIONS = 2;
const POLL_SECONDS = 1;
/** A replica whose heartbeat is older has died; pg-boss takes no less. */
const HEARTBEAT_SECONDS = 10;
const MONITOR_SECONDS = 5;
const RETRY_SECONDS = 1;
const RECONCILE_MS = MINUTE_MS;
const CLOSE_MS = 5_000;

export class PgBossQueue implements BatchQueue {
  readonly #options: PgBossQueueOptions;
  #boss: PgBoss | undefined;
  #reconciling: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(options: PgBossQueueOptions) {
    this.#options = options;
  }

  async start(run: (id: string) => Promise<boolean>): Promise<void> {
    const { concurrency, logger } = this.#options;
    const boss = await this.#open();
    this.#boss = boss;
    await boss.createQueue(QUEUE, {
      // At most one job for each singleton key.
      policy: "exclusive",
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: DAY_SECONDS,
      retentionSeconds: 30 * DAY_SECONDS,
      deleteAfterSeconds: DAY_SECONDS,
      retryLimit: 1_000_000,
      retryDelay: RETRY_SECONDS,
    });
    const options = {
      localConcurrency: concurrency,
      // Leaves a place for other projects.
      localGroupConcurrency: Math.max(1, concurrency - 1),
      pollingIntervalSeconds: POLL_SECONDS,
      heartbeatRefreshSeconds: HEARTBEAT_SECONDS / 4,
    };
    await boss.work<{ id: string }>(QUEUE, options, async (jobs) => {
      for (const { data } of jobs) {
        const hasEnded = await run(data.id).catch((error: unknown) => {
          logger.error({ err: error, batch: data.id }, "batch failed; it runs again");
          return false;
        });
        // pg-boss gives a job again that has failed.
        if (!hasEnded) throw new Error("interrupted");
      }
    });
    await this.#reconcile();
    this.#reconciling = setInterval(() => void this.#reconcile(), RECONCILE_MS).unref();
  }

  async add({ id, projectId }: { id: string; projectId: string }): Promise<void> {
    // A failure does not lose the batch: it is in the database, which is reconciled with the queue.
    await this.#send(id, projectId).catch((error: unknown) => this.#warn(error));
  }

  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    clearInterval(this.#reconciling);
    this.#boss?.offWork(QUEUE, { wait: false }).catch((error: unknown) => this.#warn(error));
  }

  async close(): Promise<void> {
    this.drain();
    await this.#boss?.stop({ graceful: true, timeout: CLOSE_MS });
  }

  async #open(): Promise<PgBoss> {
    // Only replicas with PostgreSQL load it.
    const { PgBoss } = await import("pg-boss");
    const boss = new PgBoss({
      connectionString: this.#options.url.reveal(),
      application_name: "parlance-queue",
      schema: SCHEMA,
      max: MAX_CONNECTIONS,
      schedule: false,
      registerInstance: false,
      superviseIntervalSeconds: MONITOR_SECONDS,
      monitorIntervalSeconds: MONITOR_SECONDS,
      persistWarnings: false,
      reindex: false,
    });
    boss.on("error", (error) => this.#warn(error));
    await boss.start();
    return boss;
  }

  /** Adds batches whose jobs were not stored, for example because their replica died. */
  async #reconcile(): Promise<void> {
    try {
      for (const { id, projectId } of await this.#options.listUnfinished()) await this.#send(id, projectId);
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Does nothing when there is a job for this batch. */
  async #send(id: string, projectId: string): Promise<void> {
    await this.#boss?.send(QUEUE, { id }, { singletonKey: id, group: { id: projectId } });
  }

  #warn(error: unknown): void {
    this.#options.logger.warn({ error: error instanceof Error ? error.message : error }, "queue of batches disturbed");
  }
}
