/** Opens models with the files of the model store, and reports what they wait for. */

import { stat } from "node:fs/promises";
import type { EngineServices, Model, ModelFiles } from "../contracts/engine.ts";
import type { ModelDescription } from "../contracts/model-description.ts";
import type { ModelSize } from "../deployments/loading/model-memory.ts";
import { describeUnopened, openModel, prepareModel } from "../engines/registry.ts";
import { Fault } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import type { PullProgress } from "../model-store/pull-progress.ts";
import { TOOL_MISSING } from "../model-store/sources/source.ts";
import type { OpenRequest } from "./build-catalog.ts";

export interface ModelOpenerOptions {
  store: ModelStore;
  logger: Logger;
  onPullProgress: (progress: PullProgress) => void;
  /** Left out: evaluated prompts cannot be stored. */
  promptCache?: EngineServices["promptCache"];
}

export class ModelOpener {
  readonly #options: ModelOpenerOptions;
  /** What deployments that are not yet open wait for. */
  readonly #pulls = new Map<string, PullProgress>();
  readonly #missingTools = new Set<string>();

  constructor(options: ModelOpenerOptions) {
    this.#options = options;
  }

  open(request: OpenRequest): Promise<Model> {
    return openModel(request.engine, request.settings, request.task, this.#servicesFor(request));
  }

  /** Describes a model whose files are there, without loading it. */
  describe(request: OpenRequest): Promise<ModelDescription | undefined> {
    return describeUnopened(request.engine, request.settings, request.task, this.#servicesFor(request));
  }

  /** Describes what a deployment that is not yet open waits for. */
  waitsFor(deployment: string): string | undefined {
    const progress = this.#pulls.get(deployment);
    if (progress === undefined) return undefined;
    const { file, phase, source, receivedBytes, totalBytes } = progress;
    if (phase === "waiting") return `waiting for another process to download ${file}`;
    if (phase !== "fetching") return undefined;
    const size = totalBytes === undefined ? `${receivedBytes} bytes` : `${receivedBytes} of ${totalBytes} bytes`;
    return `downloading ${file} from ${source}: ${size}`;
  }

  /** One missing program keeps many models from opening: its error is logged once. */
  reportFailure(deployment: string, err: unknown): void {
    const { logger } = this.#options;
    const missing = err instanceof Fault && err.code === TOOL_MISSING ? err.message : undefined;
    const level = missing !== undefined && this.#missingTools.has(missing) ? "debug" : "error";
    if (missing !== undefined) this.#missingTools.add(missing);
    logger[level]({ deployment, err }, "cannot open a model");
  }

  /** Resolves with the size of the files, including those of other models that it uses, and of the contexts. */
  async prepare(request: OpenRequest): Promise<ModelSize> {
    let fileBytes = 0;
    const services = this.#servicesFor(request);
    const count = async <T extends ModelFiles | undefined>(files: T): Promise<T> => {
      for (const path of Object.values(files?.paths ?? {})) fileBytes += (await stat(path)).size;
      return files;
    };
    const contextBytes = await prepareModel(request.engine, request.settings, request.task, {
      ...services,
      pull: async (reference, signal) => count(await services.pull(reference, signal)),
      findPulled: async (id) => count(await services.findPulled(id)),
    });
    return { fileBytes, contextBytes };
  }

  #servicesFor({ name, entry, catalogId, signal }: OpenRequest): EngineServices {
    const { logger, store, onPullProgress, promptCache } = this.#options;
    return {
      name: entry,
      catalogId,
      signal,
      logger: logger.child({ deployment: name }),
      promptCache,
      findPulled: (id) => store.findPulled(id),
      pull: async (reference, aborted) => {
        const onProgress = (progress: PullProgress) => {
          this.#pulls.set(name, progress);
          onPullProgress(progress);
        };
        try {
          return await store.pull(reference, { signal: aborted, onProgress });
        } catch (failure) {
          throw shortenMissingTool(failure);
        } finally {
          this.#pulls.delete(name);
        }
      },
    };
  }
}

/** Gives all models that need a missing program one message, which the log and the terminal show once. */
function shortenMissingTool(failure: unknown): unknown {
  if (!(failure instanceof Fault && failure.code === TOOL_MISSING && failure.cause instanceof Fault)) return failure;
  const message = `Models could not be downloaded: ${failure.cause.message}.`;
  return new Fault("unavailable", message, { code: TOOL_MISSING, cause: failure.cause });
}
