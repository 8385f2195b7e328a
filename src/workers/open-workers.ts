import type { FeatureParts } from "../features/feature.ts";
import { workerCount } from "../http/settings.ts";
import { workerSocket } from "../kernel/process/worker-socket.ts";
import { type OwnerParts, OwnerServices } from "./owner-services.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** Opens the pool of workers, which starts them when the service listens; undefined where none are configured. */
export async function openWorkers(parts: FeatureParts & OwnerParts): Promise<WorkerPool | undefined> {
  const { config, logger, lifetime, ...services } = parts;
  if (workerCount(config.server) === 1) return undefined;
  // Loads the code of workers only where they are configured.
  const { WorkerPool } = await import("./worker-pool.ts");
  const socketPath = workerSocket(config.dataDirectory);
  const pool = new WorkerPool(config, { services: new OwnerServices(services), logger, socketPath });
  lifetime.defer(() => pool.close());
  return pool;
}
