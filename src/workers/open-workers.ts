import type { FeatureParts } from "../features/feature.ts";
import { workerSocket } from "../kernel/process/worker-socket.ts";
import { type OwnerParts, OwnerServices } from "./owner-services.ts";
import { WorkerPool } from "./worker-pool.ts";

/** Opens the pool of workers, which starts them when the service listens. */
export function openWorkers({ config, logger, lifetime, ...services }: FeatureParts & OwnerParts): WorkerPool {
  const socketPath = workerSocket(config.dataDirectory);
  const pool = new WorkerPool(config, { services: new OwnerServices(services), logger, socketPath });
  lifetime.defer(() => pool.close());
  return pool;
}
