/** Operations of administrators on models: load, unload, pull, remove. */

import type { Catalog } from "../../catalog/catalog.ts";
import type { ModelReference } from "../../contracts/engine.ts";
import type { Deployment } from "../../inference/deployment.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { ModelStore } from "../../model-store/model-store.ts";
import type { PullProgress } from "../../model-store/pull-progress.ts";

export interface ModelStatus {
  id: string;
  deployments: readonly {
    name: string;
    state: Deployment["state"]["state"];
    memoryBytes: number | undefined;
    loadSeconds: number | undefined;
  }[];
}

export interface ModelOperationsOptions {
  catalog: Catalog;
  store: ModelStore;
  /** Updates the catalog with the pulled models. */
  refresh: () => Promise<void>;
}

const HUB_PREFIX = "hf:";

export class ModelOperations {
  readonly #options: ModelOperationsOptions;

  constructor(options: ModelOperationsOptions) {
    this.#options = options;
  }

  /** Loads every local deployment of the model. Throws a Fault when one cannot be loaded. */
  async load(id: string, signal: AbortSignal): Promise<ModelStatus> {
    const deployments = this.#localDeployments(id);
    for (const deployment of deployments) await deployment.load(signal);
    return statusOf(id, deployments);
  }

  /** Throws a Fault while the model serves requests. */
  async unload(id: string): Promise<ModelStatus> {
    const deployments = this.#localDeployments(id);
    for (const deployment of deployments) await deployment.unload();
    return statusOf(id, deployments);
  }

  /** `id` is a built-in model's, or `hf:owner/repo/path/file.gguf`. */
  async pull(id: string, signal: AbortSignal, onProgress: (progress: PullProgress) => void): Promise<void> {
    const reference: ModelReference = id.startsWith(HUB_PREFIX) ? { hf: id.slice(HUB_PREFIX.length) } : { model: id };
    await this.#options.store.pull(reference, { signal, onProgress });
    await this.#options.refresh();
  }

  /** Removes a model's files. Throws a Fault while the model serves requests. */
  async remove(id: string): Promise<void> {
    const found = this.#options.catalog.find(id);
    for (const deployment of found?.model.deployments ?? []) if (!deployment.isUpstream) await deployment.unload();
    await this.#options.store.remove(id);
    await this.#options.refresh();
  }

  #localDeployments(id: string): readonly Deployment[] {
    const found = this.#options.catalog.findFallback(id);
    if (found === undefined) {
      throw new Fault("not-found", `The model \`${id}\` does not exist.`, { code: "model_not_found", param: "id" });
    }
    const local = found.model.deployments.filter(({ isUpstream }) => !isUpstream);
    if (local.length === 0) throw invalidRequest(`The model \`${id}\` runs on an upstream; there is nothing to load.`);
    return local;
  }
}

function statusOf(id: string, deployments: readonly Deployment[]): ModelStatus {
  return {
    id,
    deployments: deployments.map(({ name, state, memoryBytes, loadSeconds }) => ({
      name,
      state: state.state,
      memoryBytes,
      loadSeconds,
    })),
  };
}
