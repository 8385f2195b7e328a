/** Operations of administrators on models: load, unload, pull, remove. */

import type { Catalog } from "../../catalog/catalog.ts";
import type { ModelReference } from "../../contracts/engine.ts";
import type { Task } from "../../contracts/task.ts";
import type { Deployment } from "../../deployments/deployment.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { ModelStore } from "../../model-store/model-store.ts";
import type { PullProgress } from "../../model-store/pull-progress.ts";
import { type MachineCapacity, type Recommendation, recommendModels } from "../../model-store/recommend-models.ts";

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
  /** Throws a Fault for a model whose files are not its own, or that others use. */
  requireUnshared: (id: string) => Promise<void>;
  /** What this machine has for models. */
  machine: () => Promise<MachineCapacity>;
  /** Tokens per second of models that were measured on this machine; left out: none was. */
  speeds?: () => Promise<ReadonlyMap<string, number>>;
}

/** A pull that goes on without its client. */
export interface BackgroundPull {
  state: "running" | "done" | "failed" | "cancelled";
  progress: PullProgress | undefined;
  /** Why it failed. */
  message: string | undefined;
}

/** Models of the manifest, and others that are stored or being pulled. */
export interface ModelLibrary {
  machine: MachineCapacity;
  models: readonly (Recommendation & { pull: BackgroundPull | undefined })[];
}

const TASKS = ["chat", "embedding", "moderation", "speech", "transcription", "image"] as const satisfies Task[];
/** Pulls that have ended are shown until others replace them. */
const MAX_ENDED_PULLS = 20;

const HUB_PREFIX = "hf:";

export class ModelOperations {
  readonly #options: ModelOperationsOptions;
  readonly #pulls = new Map<string, BackgroundPull & { abort: AbortController }>();

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

  /**
   * Starts to pull a model, which goes on without the client, or joins the pull that runs. `onDone` is called once it
   * is stored. The promise rejects with the pull's Fault.
   */
  pullInBackground(id: string, onDone: () => Promise<unknown>): Promise<void> {
    const running = this.#pulls.get(id);
    if (running?.state === "running") return Promise.resolve();
    const pull = {
      state: "running",
      progress: undefined,
      message: undefined,
      abort: new AbortController(),
    } as BackgroundPull & {
      abort: AbortController;
    };
    this.#pulls.delete(id);
    this.#pulls.set(id, pull);
    const pulled = this.pull(id, pull.abort.signal, (progress) => {
      pull.progress = progress;
    }).then(onDone);
    pulled.then(
      () => {
        pull.state = "done";
      },
      (failure: unknown) => {
        pull.state = pull.abort.signal.aborted ? "cancelled" : "failed";
        pull.message = failure instanceof Fault ? failure.message : "See the service log for the cause.";
        // A mistyped ID is refused, rather than listed.
        if (failure instanceof Fault && failure.kind === "not-found") this.#pulls.delete(id);
      },
    );
    this.#removeEndedPulls();
    return pulled.then(() => {});
  }

  /** Cancels a pull; what has arrived stays for the next one. Throws a Fault when none runs. */
  cancelPull(id: string): BackgroundPull {
    const pull = this.#pulls.get(id);
    if (pull?.state !== "running") {
      throw new Fault("not-found", `No background pull of \`${id}\` is running.`, { code: "not_found", param: "id" });
    }
    pull.abort.abort(new Error("cancelled"));
    pull.state = "cancelled";
    return pull;
  }

  /** Lists the models that can be pulled with what they need and how fast they are on this machine. */
  async library(): Promise<ModelLibrary> {
    const { store } = this.#options;
    const machine = await this.#options.machine();
    const pulled = new Set((await store.list()).map(({ id }) => id));
    const listed = recommendModels(store.manifest, machine, (id) => pulled.has(id), {
      tasks: TASKS,
      speeds: (await this.#options.speeds?.()) ?? new Map(),
    });
    const ids = new Set(listed.map(({ id }) => id));
    const others = [...this.#pulls.keys()].filter((id) => !ids.has(id)).map(fromElsewhere);
    return { machine, models: [...others, ...listed].map((model) => ({ ...model, pull: this.#pulls.get(model.id) })) };
  }

  #removeEndedPulls(): void {
    const ended = [...this.#pulls].filter(([, { state }]) => state !== "running");
    for (const [id] of ended.slice(0, -MAX_ENDED_PULLS)) this.#pulls.delete(id);
  }

  /** Removes a model's files. Throws a Fault while the model serves requests, or another one uses the files. */
  async remove(id: string): Promise<void> {
    await this.#options.requireUnshared(id);
    const model = this.#options.catalog.find(id);
    for (const deployment of model?.model.deployments ?? []) if (!deployment.isUpstream) await deployment.unload();
    await this.#options.store.remove(id);
    this.#pulls.delete(id);
    await this.#options.refresh();
  }

  #localDeployments(id: string): readonly Deployment[] {
    const model = this.#options.catalog.findFallback(id);
    if (model === undefined) {
      throw new Fault("not-found", `The model \`${id}\` does not exist.`, { code: "model_not_found", param: "id" });
    }
    const local = model.model.deployments.filter(({ isUpstream }) => !isUpstream);
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

/** A model of a hub, of which only the ID is known before it is pulled. */
function fromElsewhere(id: string): Recommendation {
  return {
    id,
    task: "chat",
    description: "GGUF file of a model hub",
    license: "unknown",
    bytes: undefined,
    memoryBytes: undefined,
    tokensPerSecond: undefined,
    isMeasured: false,
    fits: true,
    isPulled: false,
  };
}
