import type { Config } from "../config/config.ts";
import { workerCount } from "../http/settings.ts";
import type { Logger } from "../kernel/logger.ts";
import { workerSocket } from "../kernel/process/worker-socket.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** Creates the pool of workers, which starts them when the service listens; undefined where none are configured. */
export async function createWorkerPool(config: Config, logger: Logger): Promise<WorkerPool | undefined> {
  if (workerCount(config.server) === 1) return undefined;
  // Loads the code of workers only where they are configured.
  const { WorkerPool } = await import("./worker-pool.ts");
  const socketPath = workerSocket(config.dataDirectory);
  return new WorkerPool(config, { logger, socketPath });
}
