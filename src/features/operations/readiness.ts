import type { Catalog, CatalogModel } from "../../catalog/catalog.ts";
import { listPools } from "../../catalog/deployment-status.ts";
import { Fault } from "../../kernel/faults.ts";
import { VERSION } from "../../kernel/version.ts";
import type { Readiness } from "./operations.ts";

export interface ReadinessParts {
  catalog: Catalog;
  /** Throws when the database does not answer, and a Fault `conflict` when its schema is too new. */
  checkDatabase: () => Promise<void>;
  /** Describes what a deployment that is not open yet waits for. */
  waitsFor: (deployment: string) => string | undefined;
}

/**
 * Reports readiness: true once the database is available and every built-in model is up or has failed. Configured
 * models, upstreams in particular, never delay readiness.
 */
export async function readinessOf({ catalog, checkDatabase, waitsFor }: ReadinessParts): Promise<Readiness> {
  const database = await checkDatabase().then(
    (): Readiness["database"] => ({ state: "up" }),
    (error: unknown): Readiness["database"] => {
      const isNewer = error instanceof Fault && error.kind === "conflict";
      return { state: "down", reason: isNewer ? error.message : "the database does not respond; see the log" };
    },
  );
  const models = [...catalog.models];
  const isLoading = (model: (typeof models)[number]) =>
    model.isBuiltin && model.deployments.some(({ state }) => state.state === "loading");
  return {
    isReady: database.state === "up" && !models.some(isLoading),
    version: VERSION,
    database,
    models: models.flatMap((model) => model.deployments.map((each) => toReadyModel(model, each, waitsFor))),
    pools: [...listPools(catalog)],
  };
}

function toReadyModel(
  { id, task }: CatalogModel,
  { name, engine, state, circuits, memoryBytes, gpuBytes, loadSeconds, lastModel }: CatalogModel["deployments"][number],
  waitsFor: ReadinessParts["waitsFor"],
): Readiness["models"][number] {
  const chat = lastModel?.task === "chat" ? lastModel : undefined;
  return {
    id,
    task,
    deployment: name,
    engine,
    state: state.state,
    circuit: circuits.state,
    device: state.state === "up" ? state.device : undefined,
    memory_bytes: memoryBytes,
    vram_bytes: gpuBytes,
    load_seconds: loadSeconds,
    context_window: chat?.contextWindow,
    context_window_reason: chat?.contextReason,
    reason: state.state === "up" ? undefined : (state.reason ?? waitsFor(name)),
  };
}
