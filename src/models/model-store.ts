/** The models on this machine's disk: what is there, and how it got there. */

import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ModelFiles, ModelReference } from "../engines/engine.ts";
import { Fault, invalidRequest } from "../faults.ts";
import type { Logger } from "../observability/logger.ts";
import { FileFetcher } from "./fetch-file.ts";
import { tryLock } from "./file-lock.ts";
import type { ManifestEntry } from "./manifest-entry.ts";
import { damagedFiles, readRecord, sizeOf } from "./model-record.ts";
import { pullModel } from "./pull-model.ts";
import type { ProgressListener, PullProgress } from "./pull-progress.ts";
import { SharedPull } from "./shared-pull.ts";
import type { Sources } from "./source.ts";
import { StoreFolders } from "./store-folders.ts";
import { listModels, removeFiles, type StoredModel, verifyFiles } from "./stored-models.ts";
import { fromHub, fromManifest, type WantedModel } from "./wanted-model.ts";

export type { PullProgress } from "./pull-progress.ts";
export type { StoredModel } from "./stored-models.ts";

export interface ModelStoreOptions {
  /** Made when the first model is pulled. */
  directory: string;
  manifest: readonly ManifestEntry[];
  sources: Sources;
  logger: Logger;
}

export interface PullOptions {
  signal: AbortSignal;
  onProgress?: ProgressListener;
}

export class ModelStore {
  readonly manifest: readonly ManifestEntry[];
  readonly #folders: StoreFolders;
  readonly #sources: Sources;
  readonly #logger: Logger;
  /** Those that more callers may join. */
  readonly #pulls = new Map<string, SharedPull<ModelFiles>>();
  /** Those, and the ones that were given up and are not over yet. */
  readonly #underway = new Set<SharedPull<ModelFiles>>();
  readonly #observers = new Set<ProgressListener>();

  constructor({ directory, manifest, sources, logger }: ModelStoreOptions) {
    this.manifest = manifest;
    this.#folders = new StoreFolders(resolve(directory));
    this.#sources = sources;
    this.#logger = logger;
  }

  /**
   * Resolves at once when the files are there; else fetches them, verified. Callers and processes that pull the same
   * model share one download. Throws a Fault when the model is unknown, no source gives it, or the disk is full;
   * the signal's reason when it aborts.
   */
  async pull(reference: ModelReference, { signal, onProgress }: PullOptions): Promise<ModelFiles> {
    signal.throwIfAborted();
    if ("file" in reference) return ownFile(reference.file);
    const wanted = this.#wanted(reference);
    const stored = await this.#stored(wanted);
    return stored ?? this.#sharedPull(wanted).join(signal, onProgress);
  }

  /** Whether `pull` would resolve without fetching anything. */
  async isPulled(reference: ModelReference): Promise<boolean> {
    if ("file" in reference) return (await sizeOf(reference.file)) !== undefined;
    return (await this.#stored(this.#wanted(reference))) !== undefined;
  }

  /** Calls the listener for every pull of this process until the returned function is called. */
  observe(listener: ProgressListener): () => void {
    const own: ProgressListener = (progress) => listener(progress);
    this.#observers.add(own);
    return () => void this.#observers.delete(own);
  }

  /** The latest of each pull that is running in this process. */
  running(): PullProgress[] {
    return [...this.#pulls.values()].flatMap(({ latest }) => latest ?? []);
  }

  /** Resolves once no pull of this process is running or cleaning up after it was given up: wait for it before exiting. */
  async settled(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all([...this.#underway].map((pull) => pull.ended()));
  }

  /** What was pulled, in the manifest's order, the user's own choices after it. */
  list(): Promise<StoredModel[]> {
    return listModels(this.#folders, this.manifest);
  }

  /** Reads every file of a pulled model again. Resolves with a sentence for each that is not as it was pulled. */
  async verify(id: string, signal: AbortSignal): Promise<string[]> {
    return verifyFiles(this.#folders.modelFolder(this.#wantedById(id)), id, signal);
  }

  /** Throws a Fault when it is not there, or is being pulled. */
  async remove(id: string): Promise<void> {
    const wanted = this.#wantedById(id);
    const folder = this.#folders.modelFolder(wanted);
    if ((await readRecord(folder)) === undefined) throw new Fault("not-found", `${id} is not in the model store.`);
    const held = tryLock(await this.#folders.lockPath(wanted));
    if (held === undefined) throw new Fault("conflict", `${id} is being pulled: try again when that has ended.`);
    try {
      await removeFiles(this.#folders, folder);
      await rm(this.#folders.temporary(wanted), { recursive: true, force: true });
    } finally {
      held.release();
    }
  }

  #wanted(reference: Exclude<ModelReference, { file: string }>): WantedModel {
    return "hf" in reference ? fromHub(reference.hf) : fromManifest(reference.model, this.manifest);
  }

  #wantedById(id: string): WantedModel {
    return id.startsWith("hf:") ? fromHub(id.slice("hf:".length)) : fromManifest(id, this.manifest);
  }

  /** The size is looked at each time; the hash was when the files were pulled. */
  async #stored(wanted: WantedModel): Promise<ModelFiles | undefined> {
    const folder = this.#folders.modelFolder(wanted);
    const record = await readRecord(folder);
    if (record === undefined) return undefined;
    for (const { name, sha256 } of wanted.files) {
      const recorded = record.files.find((each) => each.name === name);
      if (recorded === undefined || (sha256 ?? recorded.sha256) !== recorded.sha256) return undefined;
    }
    if ((await damagedFiles(folder, record)).length > 0) return undefined;
    return filesOf(folder, wanted);
  }

  #sharedPull(wanted: WantedModel): SharedPull<ModelFiles> {
    const running = this.#pulls.get(wanted.id);
    if (running !== undefined) return running;
    const forget = () => {
      if (this.#pulls.get(wanted.id) === pull) this.#pulls.delete(wanted.id);
    };
    const pull = new SharedPull<ModelFiles>(async (signal, report) => {
      try {
        await mkdir(this.#folders.modelFolder(wanted), { recursive: true });
        await pullModel({
          wanted,
          folders: this.#folders,
          fetcher: new FileFetcher(this.#sources, this.#logger),
          logger: this.#logger,
          isStored: async () => (await this.#stored(wanted)) !== undefined,
          signal,
          onProgress: (progress) => {
            report(progress);
            for (const observer of this.#observers) observer(progress);
          },
        });
        return filesOf(this.#folders.modelFolder(wanted), wanted);
      } finally {
        forget();
        this.#underway.delete(pull);
      }
    }, forget);
    this.#pulls.set(wanted.id, pull);
    this.#underway.add(pull);
    return pull;
  }
}

function filesOf(folder: string, { files }: WantedModel): ModelFiles {
  const entries = files.map(({ name }) => [name, join(folder, name)] as const);
  return { paths: Object.fromEntries(entries), path: entries[0]?.[1] ?? folder };
}

/** A file of the user's own is used where it is. */
async function ownFile(file: string): Promise<ModelFiles> {
  const path = resolve(file);
  if (!((await sizeOf(path)) ?? 0))
    throw invalidRequest(`file: ${path} is not a file that can be read, or is empty.`, "file");
  return { paths: { [path]: path }, path };
}
