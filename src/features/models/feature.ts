import { availableParallelism } from "node:os";
import type { Catalog } from "../../catalog/catalog.ts";
import type { LiveCatalog } from "../../catalog/live-catalog.ts";
import { requireUnshared } from "../../catalog/require-unshared.ts";
import type { AuthenticateScope } from "../../http/authenticate.ts";
import type { Feature } from "../../http/feature.ts";
import { refuseNul } from "../../http/refuse-nul.ts";
import type { Inference } from "../../inference/inference.ts";
import { defaultMemoryBudget } from "../../kernel/process/available-memory.ts";
import { nvidiaGpus } from "../../kernel/process/gpus.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { MeasuredSpeeds } from "../../model-store/measured-speeds.ts";
import type { ModelStore } from "../../model-store/model-store.ts";
import type { MachineCapacity } from "../../model-store/recommend-models.ts";
import type { Accounts } from "../accounts/index.ts";
import { type ModelEntries, modelDeletion } from "./model-deletion.ts";
import { ModelOperations } from "./model-operations.ts";
import { organizationModels } from "./organization-model-routes.ts";
import { models } from "./routes.ts";

interface ModelsParts {
  authenticate: AuthenticateScope;
  configuration: { entries: ModelEntries };
  config: Settings;
  inference: Inference;
  accounts: Accounts;
  catalog: Catalog;
  live: LiveCatalog;
  store: ModelStore;
}

/** Listing of models, and administration of local ones. */
export function modelFeature({
  authenticate,
  config,
  configuration,
  inference,
  accounts,
  catalog,
  live,
  store,
}: ModelsParts): Feature {
  const operations = new ModelOperations({
    catalog,
    store,
    refresh: () => live.refresh(),
    requireUnshared: (id) => requireUnshared(id, live.config ?? config, store),
    machine: () => capacity(config.local.memory),
    speeds: () => new MeasuredSpeeds(config.dataDirectory).read(),
  });
  const deletion = modelDeletion({ accounts, catalog, entries: configuration.entries, operations, store });
  return {
    project: [models(inference)],
    admin: [organizationModels(accounts, operations)],
    public: [
      async (app) => {
        app.register(
          async (scope) => {
            authenticate(scope, "admin");
            refuseNul(scope);
            scope.register(deletion);
          },
          { prefix: "/v1" },
        );
      },
    ],
  };
}

/** `memory`: bytes that local models may use together; undefined: by default. */
async function capacity(memory: number | undefined): Promise<MachineCapacity> {
  const gpus = await nvidiaGpus();
  return {
    cores: availableParallelism(),
    modelMemoryBytes: memory ?? defaultMemoryBudget(),
    freeBytes: process.availableMemory(),
    gpuBytes: gpus.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  };
}
