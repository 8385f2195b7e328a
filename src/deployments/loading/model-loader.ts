/** Loads a deployment's model and unloads it: at the start or for the first request, when idle or when memory is short. */

import type { Model } from "../../contracts/engine.ts";
import { untilAborted } from "../../kernel/async/until-aborted.ts";
import { unavailable } from "../../kernel/faults.ts";
import { LoadFailure } from "./load-failure.ts";
import type { MemoryUser } from "./memory-budget.ts";
import type { ModelLoaderOptions } from "./model-loader-options.ts";
import { gpuBytesOf, ModelMemory } from "./model-memory.ts";

/** Measuring reads a file of each model's process. */
const TRIM_INTERVAL_MS = 5000;

export type LoaderState =
  | { state: "loading" | "unloaded" }
  | { state: "failed"; reason: string }
  | { state: "open"; model: Model };

export class ModelLoader implements MemoryUser {
  readonly name: string;
  readonly #options: ModelLoaderOptions;
  readonly #closing = new AbortController();
  #model: Model | undefined;
  #lastModel: Model | undefined;
  /** What it takes of the budget of the GPUs' memory. */
  readonly #onGpu: MemoryUser;
  readonly #memory = new ModelMemory();
  readonly #failure = new LoadFailure();
  #retry: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #preparing: Promise<void> | undefined;
  #loading: Promise<void> | undefined;
  #unloading: Promise<void> | undefined;
  #holds = 0;
  /** Each hold is this object, which is disposed of once per hold. */
  readonly #hold: Disposable = {
    [Symbol.dispose]: () => {
      this.#holds -= 1;
      this.#lastHeldAt = performance.now();
      if (this.#holds > 0) return;
      this.#whenReleased?.();
      this.#trimAfterGrowth();
    },
  };
  #whenReleased: (() => void) | undefined;
  #lastHeldAt = performance.now();
  #trimmedAt = Number.NEGATIVE_INFINITY;
  /** Seconds that the last load took. */
  #loadSeconds: number | undefined;
  /** End of the last load, epoch milliseconds. */
  #loadedAt: number | undefined;

  constructor(options: ModelLoaderOptions) {
    this.#options = options;
    this.name = options.name;
    const loader = this;
    this.#onGpu = {
      name: options.name,
      get memoryBytes() {
        return loader.#memory.gpuBytes(loader.#model, options.gpuMemory?.limitBytes);
      },
      get lastUsedAt() {
        return loader.lastUsedAt;
      },
      get isIdle() {
        return loader.isIdle;
      },
      unload: () => this.unload(),
    };
  }

  get state(): LoaderState {
    if (this.#model !== undefined) return { state: "open", model: this.#model };
    if (this.#loading !== undefined) return { state: "loading" };
    const { fault } = this.#failure;
    if (fault !== undefined) return { state: "failed", reason: fault.message };
    // One that is loaded at the start can be unloaded afterwards, too: when idle, or when memory is short.
    const isUnloaded = this.#preparing === undefined && (this.#isOnDemand || this.#lastModel !== undefined);
    return { state: isUnloaded ? "unloaded" : "loading" };
  }

  /** Whether `load` would begin to load the model: it is unloaded, or its last load failed long enough ago. */
  get isLoadable(): boolean {
    const { state } = this.state;
    return (
      state === "unloaded" || (state === "failed" && this.#failure.backoffMs === 0 && this.#preparing === undefined)
    );
  }

  /** Aborts when the loader is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get isLoading(): boolean {
    return this.#loading !== undefined;
  }

  /** Seconds for which a model that has failed to load is not loaded again. */
  get backoffSeconds(): number {
    return this.#failure.backoffMs / 1000;
  }

  get model(): Model | undefined {
    return this.#model;
  }

  /** Model as last loaded, whose facts remain valid while it is unloaded. */
  get lastModel(): Model | undefined {
    return this.#model ?? this.#lastModel;
  }

  get loadSeconds(): number | undefined {
    return this.#loadSeconds;
  }

  get loadedAt(): number | undefined {
    return this.#loadedAt;
  }

  get memoryBytes(): number {
    return this.#memory.bytes(this.#model);
  }

  /** Memory of the GPU that the open model has taken; undefined: none, or unknown. */
  get gpuBytes(): number | undefined {
    return this.#model === undefined ? undefined : gpuBytesOf(this.#model);
  }

  get lastUsedAt(): number {
    return Math.max(this.#lastHeldAt, this.#options.activity().lastEndedAt);
  }

  get isIdle(): boolean {
    return this.#model !== undefined && this.#holds === 0 && this.#options.activity().requests === 0;
  }

  /** Loads the model in the background, or prepares it to be loaded on demand. One that was unloaded stays so. */
  start(): void {
    if (this.#model !== undefined || this.#loading !== undefined || this.#preparing !== undefined) return;
    if (!this.#isOnDemand && this.#lastModel === undefined) this.#loadInBackground();
    else if (this.#options.prepare !== undefined && this.#memory.fileBytes === 0) this.#prepareInBackground();
  }

  /**
   * Resolves once the model is open; requests for one unloaded model share its loading. Throws a Fault when it cannot
   * be loaded, and the signal's reason when that aborts first.
   */
  async load(signal: AbortSignal): Promise<void> {
    if (this.#model !== undefined) return;
    signal.throwIfAborted();
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    await untilAborted(this.#loading, signal);
  }

  /** Keeps the model from being unloaded until the hold is disposed of. */
  hold(): Disposable {
    this.#holds += 1;
    return this.#hold;
  }

  /** Resolves once nothing holds the model. */
  async released(): Promise<void> {
    if (this.#holds === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenReleased = resolve;
    });
  }

  /** Applies a changed policy to a loaded model. */
  policyChanged(): void {
    this.#unloadWhenIdle();
  }

  /** Ends the model's process. The caller ensures that the model is idle, or accepts that requests fail. */
  async unload(): Promise<void> {
    const model = this.#model;
    if (model === undefined) return this.#unloading;
    this.#memory.measure(model);
    clearTimeout(this.#idle);
    this.#model = undefined;
    this.#lastModel = model;
    this.#unloading = model.close().finally(() => {
      this.#options.memory?.release(this);
      this.#options.gpuMemory?.release(this.#onGpu);
      this.#unloading = undefined;
    });
    await this.#unloading;
  }

  async close(): Promise<void> {
    const message = "This model is being closed: its configuration has changed, or the service is stopping. Try again.";
    this.#closing.abort(unavailable(message, "engine_failed", 1));
    clearTimeout(this.#retry);
    clearTimeout(this.#idle);
    await this.#preparing;
    await this.#loading?.catch(() => {});
    await this.unload();
  }

  get #isOnDemand(): boolean {
    return this.#options.policy().load === "on_demand";
  }

  #loadInBackground(): void {
    void this.load(this.#closing.signal).catch(() => {
      if (!this.#closing.signal.aborted) this.#retryLater(() => this.#loadInBackground());
    });
  }

  #prepareInBackground(): void {
    this.#preparing = this.#prepare().finally(() => {
      this.#preparing = undefined;
    });
  }

  /** The memory estimate needs the size of the files, which also a model that is loaded at the start must have. */
  async #findSize(): Promise<void> {
    if (this.#memory.fileBytes === 0) Object.assign(this.#memory, await this.#options.prepare?.(this.#closing.signal));
  }

  async #prepare(): Promise<void> {
    try {
      await this.#findSize();
      this.#failure.clear();
    } catch (failure) {
      if (this.#closing.signal.aborted) return;
      this.#fail(failure);
      this.#retryLater(() => this.#prepareInBackground());
    }
  }

  async #load(): Promise<void> {
    await this.#preparing;
    await this.#unloading;
    this.#closing.signal.throwIfAborted();
    // A request must not repeat a load that has just failed; the background retry does.
    if (this.#failure.fault !== undefined && this.#failure.backoffMs > 0) throw this.#failure.fault;
    const { memory, gpuMemory, usesGpu, open, onOpened } = this.#options;
    const startedAt = performance.now();
    try {
      if (memory !== undefined) {
        await this.#findSize();
        this.#memory.expectsGpu = (await usesGpu?.()) ?? false;
        if (this.#memory.expectsGpu) await gpuMemory?.admit(this.#onGpu);
        await memory.admit(this);
      }
      const model = await open(this.#closing.signal);
      this.#loadSeconds = (performance.now() - startedAt) / 1000;
      this.#loadedAt = Date.now();
      this.#failure.clear();
      onOpened(model);
      this.#model = model;
      this.#lastHeldAt = performance.now();
      this.#unloadWhenIdle();
      void memory?.trim(this);
      void gpuMemory?.trim(this.#onGpu);
    } catch (failure) {
      memory?.release(this);
      gpuMemory?.release(this.#onGpu);
      if (!this.#closing.signal.aborted) this.#fail(failure);
      throw failure;
    }
  }

  #fail(failure: unknown): void {
    this.#failure.record(failure);
    this.#options.onFailure(failure);
  }

  #retryLater(retry: () => void): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(retry, this.#failure.pauseMs).unref();
  }

  /** A model that has grown with its requests can exceed the budget together with others. */
  #trimAfterGrowth(): void {
    if (performance.now() - this.#trimmedAt < TRIM_INTERVAL_MS) return;
    this.#trimmedAt = performance.now();
    void this.#options.memory?.trim(this);
  }

  #unloadWhenIdle(): void {
    clearTimeout(this.#idle);
    const { unloadAfterSeconds } = this.#options.policy();
    if (unloadAfterSeconds === undefined || this.#model === undefined) return;
    const idleMs = performance.now() - this.lastUsedAt;
    const leftMs = this.isIdle ? unloadAfterSeconds * 1000 - idleMs : unloadAfterSeconds * 1000;
    if (leftMs <= 0) void this.unload();
    else this.#idle = setTimeout(() => this.#unloadWhenIdle(), leftMs).unref();
  }
}
