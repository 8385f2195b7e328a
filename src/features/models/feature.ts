import { availableParallelism } from "node:os";
import type { LiveCatalog } from "../../catalog/live-catalog.ts";
import { defaultMemoryBudget } from "../../kernel/process/available-memory.ts";
import { nvidiaGpus } from "../../kernel/process/gpus.ts";
import type { ModelStore } from "../../model-store/model-store.ts";
import type { MachineCapacity } from "../../model-store/recommend-models.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature, RouteParts } from "../feature.ts";
import { ModelOperations } from "./model-operations.ts";
import { organizationModels } from "./organization-model-routes.ts";
import { models } from "./routes.ts";

export interface ModelFeatureParts {
  accounts: Accounts;
  live: LiveCatalog;
  store: ModelStore;
  /** Bytes that local models may use together; undefined: by default. */
  memory: number | undefined;
}

/** Listing of models, and administration of local ones. */
export function modelFeature({ inference }: RouteParts, { accounts, live, store, memory }: ModelFeatureParts): Feature {
  const operations = new ModelOperations({
    catalog: live.catalog,
    store,
    refresh: () => live.refresh(),
    machine: () => capacity(memory),
  });
  return { project: [models(inference)], admin: [organizationModels(accounts, operations)] };
}

async function capacity(memory: number | undefined): Promise<MachineCapacity> {
  const gpus = await nvidiaGpus();
  return {
    cores: availableParallelism(),
    modelMemoryBytes: memory ?? defaultMemoryBudget(),
    freeBytes: process.availableMemory(),
    gpuBytes: gpus.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  };
}
