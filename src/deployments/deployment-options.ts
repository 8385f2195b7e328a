/** What a deployment is made from, and the states that it reports. */

import type { Model } from "../contracts/engine.ts";
import type { ModelDescription } from "../contracts/model-description.ts";
import type { Task } from "../contracts/task.ts";
import type { MemoryBudget } from "./loading/memory-budget.ts";
import type { ModelSize } from "./loading/model-memory.ts";
import type { RoutingOptions } from "./routing-options.ts";

export type DeploymentState =
  | { state: "loading" | "unloaded"; reason: string | undefined }
  | { state: "up"; device: string; restartedAt?: number | undefined }
  | { state: "restarting" | "failed"; reason: string };

export interface DeploymentOptions {
  /** Name in logs and metrics. */
  name: string;
  /** Name of the entry whose pool of endpoints it belongs to; left out: none. */
  pool?: string | undefined;
  engine: string;
  /** Whether the model runs in another service. */
  isUpstream: boolean;
  /** Host and port of that service; left out: unknown, or this machine. */
  host?: string | undefined;
  task: Task;
  routingOptions: RoutingOptions;
  open: (signal: AbortSignal) => Promise<Model>;
  /** Checks the settings and fetches the files of a model that is loaded on demand. Resolves with their size in bytes. */
  prepare?: (signal: AbortSignal) => Promise<ModelSize>;
  /** Describes the model before its first load; undefined where nothing is known. */
  describe?: ((signal: AbortSignal) => Promise<ModelDescription | undefined>) | undefined;
  /** What an earlier load has measured. */
  remembered?: ModelDescription | undefined;
  /** Called with what a load has measured. */
  onDescribed?: ((description: ModelDescription) => void) | undefined;
  /** Memory budget; left out: the model's memory on this machine is negligible. */
  memory?: MemoryBudget | undefined;
  /** Budget of the GPUs' memory, and whether the model is expected to take some. */
  gpuMemory?: MemoryBudget | undefined;
  usesGpu?: (() => Promise<boolean>) | undefined;
  /** Called after each failure to open, before the next attempt. */
  onOpenFailure: (failure: unknown) => void;
}
