import type { Catalog } from "../../catalog/catalog.ts";
import { VERSION } from "../../version.ts";
import type { Readiness } from "./operations.ts";

export interface ReadinessParts {
  catalog: Catalog;
  /** Throws when the database does not answer. */
  checkDatabase: () => Promise<void>;
  /** What a deployment that is not open yet waits for, in words. */
  waitsFor: (deployment: string) => string | undefined;
}

/**
 * Ready once the database answers and every built-in model is up or has failed; what an operator added, upstreams
 * above all, never holds it back.
 */
export async function readinessOf({ catalog, checkDatabase, waitsFor }: ReadinessParts): Promise<Readiness> {
  const database = await checkDatabase().then(
    (): Readiness["database"] => ({ state: "up" }),
    (): Readiness["database"] => ({ state: "down", reason: "it does not answer; the log says more" }),
  );
  const models: Readiness["models"][number][] = [];
  let isSettled = true;
  for (const model of catalog.models) {
    for (const { name, engine, state, circuits, memoryBytes, loadSeconds } of model.deployments) {
      if (model.isBuiltin && state.state === "loading") isSettled = false;
      models.push({
        id: model.id,
        task: model.task,
        deployment: name,
        engine,
        state: state.state,
        circuit: circuits.state,
        device: state.state === "up" ? state.device : undefined,
        memory_bytes: memoryBytes,
        load_seconds: loadSeconds,
        reason: state.state === "up" ? undefined : (state.reason ?? waitsFor(name)),
      });
    }
  }
  return { isReady: database.state === "up" && isSettled, version: VERSION, database, models };
}
