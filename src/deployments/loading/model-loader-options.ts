/** What a model loader is made from. */

import type { Model } from "../../contracts/engine.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import type { ModelSize } from "./model-memory.ts";

export interface LoadPolicy {
  /** `on_demand`: the files are fetched at the start, and the model is loaded by the first request. */
  load: "start" | "on_demand";
  /** Idle time after which the model is unloaded; undefined: never. */
  unloadAfterSeconds: number | undefined;
}

export interface ModelLoaderOptions {
  name: string;
  /** Returns the present policy, which a reload may change. */
  policy: () => LoadPolicy;
  open: (signal: AbortSignal) => Promise<Model>;
  /** Checks the settings and fetches the files. */
  prepare: ((signal: AbortSignal) => Promise<ModelSize>) | undefined;
  /** Memory budget; undefined: the model's memory on this machine is negligible. */
  memory: MemoryBudget | undefined;
  /** Budget of the GPUs' memory; left out: the model takes none. */
  gpuMemory?: MemoryBudget | undefined;
  /** Whether the model is expected to take memory of a GPU. */
  usesGpu?: (() => Promise<boolean>) | undefined;
  /** Requests that hold or await a slot, and when the last one ended, on the clock of `performance.now()`. */
  activity: () => { requests: number; lastEndedAt: number };
  onOpened: (model: Model) => void;
  onFailure: (failure: unknown) => void;
}
