/** The models on disk: pulls, verifies, lists and removes them. */

import { mkdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { ModelFiles, ModelReference } from "../contracts/engine.ts";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import { PIPER_PREFIX } from "../kernel/piper-name.ts";
import { tryLock } from "../kernel/process/file-lock.ts";
import { FileFetcher } from "./fetch-file.ts";
import type { ManifestEntry } from "./manifest/manifest-entry.ts";
import { exportModels, importModels } from "./model-archive.ts";
import { damagedFiles, readRecord, sizeOf } from "./model-record.ts";
import { fromPiper } from "./piper-reference.ts";
import { pullModel } from "./pull-model.ts";
import type { ProgressListener, PullProgress } from "./pull-progress.ts";
import { SharedPull } from "./shared-pull.ts";
import type { Sources } from "./sources/source.ts";
import { StoreFolders } from "./store-folders.ts";
import { listModels, removeFiles, type StoredModel, verifyFiles } from "./stored-models.ts";
import { changedFiles } from "./verified-files.ts";
import { fromHub, fromManifest, type WantedModel } from "./wanted-model.ts";

export type { PullProgress } from "./pull-progress.ts";
export type { StoredModel } from "./stored-models.ts";

export interface ModelStoreOptions {
  /** Created by the first pull. */
  directory: string;
  manifest: readonly ManifestEntry[];
  sources: Sources;
  logger: Logger;
}

export interface PullOptions {
  signal: AbortSignal;
  onProgress?: ProgressListener;
  /** Disk space that must stay free beside the files. Callers that join a running pull have no say in it. */
  spareDiskBytes?: number;
}

export class ModelStore {
  readonly manifest: readonly ManifestEntry[];
  readonly #folders: StoreFolders;
  readonly #sources: Sources;
  readonly #logger: Logger;
  /** Running pulls, which further callers join. */
  readonly #pulls = new Map<string, SharedPull<ModelFiles>>();
  /** Running pulls, and aborted ones that are still cleaning up. */
  readonly #underway = new Set<SharedPull<ModelFiles>>();
  readonly #observers = new Set<ProgressListener>();

  constructor({ directory, manifest, sources, logger }: ModelStoreOptions) {
    this.manifest = manifest;
    this.#folders = new StoreFolders(resolve(directory));
    this.#sources = sources;
    this.#logger = logger;
  }

  /**
   * Resolves at once when the files are stored, otherwise downloads and verifies them. Callers and processes that pull
   * the same model share one download. Throws a Fault when the model is unknown, all sources fail, or the disk is full,
   * and the signal's reason on abort.
   */
  async pull(reference: ModelReference, { signal, onProgress, spareDiskBytes = 0 }: PullOptions): Promise<ModelFiles> {
    signal.throwIfAborted();
    if ("file" in reference) return ownFile(reference.file);
    return this.#pullWanted(this.#wanted(reference), { signal, onProgress, spareDiskBytes });
  }

  async #pullWanted(wanted: WantedModel, { signal, onProgress, spareDiskBytes = 0 }: PullOptions): Promise<ModelFiles> {
    const base =
      wanted.base === undefined
        ? undefined
        : await this.#pullWanted(this.#wantedById(wanted.base), { signal, onProgress, spareDiskBytes });
    const files =
      (await this.#storedAlone(wanted, signal)) ??
      (await this.#sharedPull(wanted, spareDiskBytes).join(signal, onProgress));
    return withBase(files, base);
  }

  /** True if `pull` would resolve without a download. */
  async isPulled(reference: ModelReference): Promise<boolean> {
    if ("file" in reference) return (await sizeOf(reference.file)) !== undefined;
    return (await this.#stored(this.#wanted(reference), new AbortController().signal)) !== undefined;
  }

  /** Files of a model of the manifest; undefined when it is not stored or not in the manifest. */
  async findPulled(id: string): Promise<ModelFiles | undefined> {
    if (!this.manifest.some((entry) => entry.id === id)) return undefined;
    return this.#stored(this.#wantedById(id), new AbortController().signal);
  }

  /** Calls the listener with the progress of every pull of this process until the returned function is called. */
  observe(listener: ProgressListener): () => void {
    const onProgress: ProgressListener = (progress) => listener(progress);
    this.#observers.add(onProgress);
    return () => void this.#observers.delete(onProgress);
  }

  /** Latest progress of each pull that runs in this process. */
  running(): PullProgress[] {
    return [...this.#pulls.values()].flatMap(({ latest }) => latest ?? []);
  }

  /** Resolves once no pull of this process is running or cleaning up. Wait for it before exiting. */
  async settled(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all([...this.#underway].map((pull) => pull.ended()));
  }

  /** Lists pulled models in the manifest's order, followed by models outside the manifest. */
  list(): Promise<StoredModel[]> {
    return listModels(this.#folders, this.manifest);
  }

  /** Verifies every file of a pulled model. Resolves with a sentence for each file that has changed. */
  async verify(id: string, signal: AbortSignal): Promise<string[]> {
    return verifyFiles(this.#folders.modelFolder(this.#wantedById(id)), id, signal);
  }

  /** Writes stored models to one file. Throws a Fault for one that is not stored, or whose files have changed. */
  async export(ids: readonly string[], file: string, signal: AbortSignal): Promise<void> {
    const models = ids.map((id) => this.#wantedById(id));
    const bases = models.flatMap(({ base }) => (base === undefined ? [] : this.#wantedById(base)));
    const each = [...new Map([...models, ...bases].map((model) => [model.id, model])).values()];
    await exportModels(this.#folders, each, resolve(file), signal);
  }

  /** Brings in what `export` wrote, and resolves with the models' IDs. Throws a Fault for another file, or on a full disk. */
  async import(file: string, signal: AbortSignal): Promise<string[]> {
    return importModels(this.#folders, resolve(file), (id) => this.#wantedById(id), signal);
  }

  /** Returns the ID under which a model's files are stored. Throws a Fault for an unknown model. */
  idOf(id: string): string {
    return this.#wantedById(id).id;
  }

  /**
   * Whether a text of an engine's settings stands for files of the model with this stored ID: its ID, that of a model based
   * on it, its file on the hub, or a path of its folder.
   */
  isNamedBy(text: string, id: string): boolean {
    const folder = this.#folders.modelFolder(this.#wantedById(id));
    const isPath = /[\\/]/.test(text);
    if (isPath && [text, dirname(text)].some((path) => resolve(path) === folder)) return true;
    try {
      const named = this.#wanted(isPath ? { hf: text.replace(/^hf:/, "") } : { model: text });
      return named.id === id || named.base === id;
    } catch {
      // It names no model.
      return false;
    }
  }

  /** Throws a Fault when the model is not stored, or is being pulled. */
  async remove(id: string): Promise<void> {
    const request = this.#wantedById(id);
    const folder = this.#folders.modelFolder(request);
    // A GGUF in one file and a split one of the same name have the same folder.
    if ((await readRecord(folder))?.id !== request.id) {
      throw new Fault("not-found", `${id} is not in the model store.`);
    }
    const fileLock = tryLock(await this.#folders.lockPath(request));
    if (fileLock === undefined) throw new Fault("conflict", `${id} is being pulled. Retry when the pull has ended.`);
    try {
      await removeFiles(this.#folders, folder);
      await rm(this.#folders.temporary(request), { recursive: true, force: true });
    } finally {
      fileLock.release();
    }
  }

  #wanted(reference: Exclude<ModelReference, { file: string }>): WantedModel {
    return "hf" in reference ? fromHub(reference.hf) : this.#wantedById(reference.model);
  }

  #wantedById(id: string): WantedModel {
    if (id.startsWith(PIPER_PREFIX)) return fromPiper(id.slice(PIPER_PREFIX.length));
    return id.startsWith("hf:") ? fromHub(id.slice("hf:".length)) : fromManifest(id, this.manifest);
  }

  /** Undefined when a file of the model or its base is missing, or not the one that was pulled. */
  async #stored(wanted: WantedModel, signal: AbortSignal): Promise<ModelFiles | undefined> {
    const files = await this.#storedAlone(wanted, signal);
    if (files === undefined || wanted.base === undefined) return files;
    const base = await this.#stored(this.#wantedById(wanted.base), signal);
    return base && withBase(files, base);
  }

  async #storedAlone(wanted: WantedModel, signal: AbortSignal): Promise<ModelFiles | undefined> {
    const folder = this.#folders.modelFolder(wanted);
    const record = await readRecord(folder);
    if (record === undefined) return undefined;
    for (const { name, sha256 } of wanted.files) {
      const recorded = record.files.find((each) => each.name === name);
      if (recorded === undefined || (sha256 ?? recorded.sha256) !== recorded.sha256) return undefined;
    }
    if ((await damagedFiles(folder, record)).length > 0) return undefined;
    const changed = await changedFiles(folder, record, signal);
    if (changed.length > 0) {
      this.#logger.error({ model: wanted.id, files: changed }, "a stored model has changed; it is downloaded again");
      return undefined;
    }
    return filesOf(folder, wanted);
  }

  #sharedPull(wanted: WantedModel, spareDiskBytes: number): SharedPull<ModelFiles> {
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
          isStored: async () => (await this.#storedAlone(wanted, signal)) !== undefined,
          signal,
          spareDiskBytes,
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

/** A file of its own goes before one of the base. */
function withBase({ paths, path }: ModelFiles, base: ModelFiles | undefined): ModelFiles {
  return { paths: { ...base?.paths, ...paths }, path };
}

/** A local file is used in place. */
async function ownFile(file: string): Promise<ModelFiles> {
  const path = resolve(file);
  if (!((await sizeOf(path)) ?? 0)) throw invalidRequest(`file: ${path} is not a readable file, or is empty.`, "file");
  return { paths: { [path]: path }, path };
}
