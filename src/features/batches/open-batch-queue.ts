import type { Secret } from "../../kernel/secret.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Database } from "../../storage/database.ts";
import { listUnfinishedBatches } from "./batch-queries.ts";
import type { BatchQueue } from "./batch-queue.ts";
import { LocalQueue } from "./local-queue.ts";
import { PgBossQueue } from "./pg-boss-queue.ts";

export interface BatchQueueOptions {
  /** PostgreSQL, through which replicas share batches; undefined: this process runs all. */
  url: Secret | undefined;
  database: Database;
  logger: Logger;
  /** Batches that run at the same time. */
  concurrency: number;
}

export function openBatchQueue({ url, database, logger, concurrency }: BatchQueueOptions): BatchQueue {
  const listUnfinished = () => database.run(listUnfinishedBatches);
  const options = { listUnfinished, logger, concurrency };
  return url === undefined ? new LocalQueue(options) : new PgBossQueue({ url, ...options });
}
