/** One engine with its settings: loads and unloads its model, and assigns its slots to requests. */

import type { Model } from "../contracts/engine.ts";
import type { ModelDescription } from "../contracts/model-description.ts";
import type { Task } from "../contracts/task.ts";
import { describeModel } from "../engines/shared/describe-model.ts";
import { Fault, unavailable } from "../kernel/faults.ts";
import { Circuits } from "./circuits.ts";
import type { DeploymentOptions, DeploymentState } from "./deployment-options.ts";
import { LatencyEwma } from "./latency-ewma.ts";
import { LoadPoller, type PolledLoad } from "./load-poller.ts";
import { ModelLoader } from "./loading/model-loader.ts";
import type { ModelSize } from "./loading/model-memory.ts";
import type { RoutingOptions } from "./routing-options.ts";
import { type Deferral, type Slot, Slots } from "./slots/slots.ts";

export class Deployment {
  readonly name: string;
  readonly pool: string | undefined;
  readonly engine: string;
  readonly isUpstream: boolean;
  readonly host: string | undefined;
  readonly task: Task;
  readonly latency = new LatencyEwma();
  readonly #options: DeploymentOptions;
  readonly #loader: ModelLoader;
  #routingOptions: RoutingOptions;
  #slots: Slots;
  #circuits: Circuits;
  /** Left out where the model has no metrics of its own. */
  #loadPoller: LoadPoller | undefined;
  /** Requests that wait for the model to be loaded. */
  #waitingForLoad = 0;
  #description: ModelDescription | undefined;

  constructor(options: DeploymentOptions) {
    this.name = options.name;
    this.pool = options.pool;
    this.engine = options.engine;
    this.isUpstream = options.isUpstream;
    this.host = options.host;
    this.task = options.task;
    this.#options = options;
    this.#description = options.remembered;
    this.#routingOptions = options.routingOptions;
    this.#slots = new Slots(undefined, options.routingOptions.maxQueue);
    this.#circuits = this.#newCircuits(options.routingOptions);
    this.#loader = new ModelLoader({
      name: options.name,
      policy: () => this.#routingOptions,
      open: options.open,
      prepare: options.prepare && ((signal) => this.#prepare(signal)),
      memory: options.memory,
      gpuMemory: options.gpuMemory,
      usesGpu: options.usesGpu,
      activity: () => ({
        requests: this.#slots.inUse + this.#slots.waiting,
        lastEndedAt: this.#slots.lastReleasedAt,
      }),
      onOpened: (model) => {
        const { slots, slotsPerProject, loadReport } = model;
        this.#description = describeModel(model);
        options.onDescribed?.(this.#description);
        // Requests may wait for the slots of a model that was unloaded and is loaded again.
        if (this.#slots.count !== (slots ?? Number.POSITIVE_INFINITY)) {
          this.#slots = new Slots(slots, this.#routingOptions.maxQueue, slotsPerProject);
        }
        this.#loadPoller?.stop();
        this.#loadPoller = loadReport && new LoadPoller(loadReport, () => this.#slots.inUse + this.#slots.waiting);
      },
      onFailure: options.onOpenFailure,
    });
  }

  /** Name in answers and usage records. That of a pool's deployment contains an address, which clients must not see. */
  get entry(): string {
    return this.pool ?? this.name;
  }

  get routingOptions(): RoutingOptions {
    return this.#routingOptions;
  }

  /** Applies new options at once and keeps the health statistics, unless the circuit's settings change. */
  set routingOptions(routingOptions: RoutingOptions) {
    this.#slots.maxQueue = routingOptions.maxQueue;
    if (JSON.stringify(routingOptions.circuit) !== JSON.stringify(this.#routingOptions.circuit)) {
      this.#circuits.stop();
      this.#circuits = this.#newCircuits(routingOptions);
    }
    this.#routingOptions = routingOptions;
    this.#loader.policyChanged();
  }

  get circuits(): Circuits {
    return this.#circuits;
  }

  get slots(): Slots {
    return this.#slots;
  }

  /** What the engine reports about the requests of all its clients; undefined: nothing, or nothing recent. */
  get engineLoad(): PolledLoad | undefined {
    return this.#loadPoller?.latest;
  }

  /** Loads the model in the background, or fetches its files where it is loaded on demand; `state` reports progress. */
  start(): void {
    this.#loader.start();
  }

  get state(): DeploymentState {
    const loader = this.#loader.state;
    if (loader.state !== "open")
      return { state: loader.state, reason: loader.state === "failed" ? loader.reason : undefined } as DeploymentState;
    const health = loader.model.health();
    if (health.state === "up") {
      return { state: "up", device: loader.model.device, restartedAt: health.restartedAt };
    }
    return { state: health.state, reason: health.reason };
  }

  /** Model as last loaded; undefined before the first load and after a failed one. */
  get lastModel(): Model | undefined {
    const { state } = this.state;
    return state === "up" || state === "unloaded" || state === "loading" ? this.#loader.lastModel : undefined;
  }

  /** What is known of the model, loaded or not; undefined for an upstream that has not been opened. */
  get description(): ModelDescription | undefined {
    return this.#description;
  }

  /** Describes the model once its files are there. A failure is that of the load, which reports it. */
  async #prepare(signal: AbortSignal): Promise<ModelSize> {
    const { prepare, describe } = this.#options;
    const size = (await prepare?.(signal)) ?? { fileBytes: 0, contextBytes: 0 };
    this.#description ??= await describe?.(signal).catch(() => undefined);
    return size;
  }

  /** Seconds that the last load took; undefined before the first. */
  get loadSeconds(): number | undefined {
    return this.#loader.loadSeconds;
  }

  /** When the last load ended, epoch milliseconds; undefined before the first, and for an upstream. */
  get loadedAt(): number | undefined {
    return this.isUpstream ? undefined : this.#loader.loadedAt;
  }

  /** Resident memory of a loaded local model. */
  get memoryBytes(): number | undefined {
    const isCounted = this.#options.memory !== undefined && this.#loader.model !== undefined;
    return isCounted ? this.#loader.memoryBytes : undefined;
  }

  /** Memory of the GPU that a loaded local model has taken. */
  get gpuBytes(): number | undefined {
    return this.#loader.gpuBytes;
  }

  /** Whether a request has to wait for the model to be loaded, and may. */
  get awaitsLoad(): boolean {
    return this.#loader.isLoadable || (this.#loader.isLoading && this.#waitingForLoad > 0);
  }

  /** Keeps the model from being unloaded while a request is about to use it. */
  hold(): Disposable {
    return this.#loader.hold();
  }

  /**
   * Loads the model if it is unloaded. Throws a Fault when it cannot be loaded or when the queue for it is full, and
   * the signal's reason when that aborts first.
   */
  async load(signal: AbortSignal): Promise<void> {
    const { maxQueue } = this.#routingOptions;
    if (this.#waitingForLoad >= Math.max(1, maxQueue)) {
      const message = `This model is being loaded and ${this.#waitingForLoad} requests wait for it. Try again later.`;
      throw unavailable(message, "server_is_overloaded", 5);
    }
    this.#waitingForLoad += 1;
    try {
      await this.#loader.load(signal);
    } catch (failure) {
      if (signal.aborted || this.#loader.closing.aborted) throw failure;
      if (failure instanceof Fault && failure.code === "insufficient_memory") throw failure;
      throw this.#notStarted();
    } finally {
      this.#waitingForLoad -= 1;
    }
  }

  /**
   * Ends a local model's process; the next request loads it again. Throws a Fault while it is being loaded or requests
   * use it.
   */
  async unload(): Promise<void> {
    if (this.#loader.isLoading) {
      throw new Fault("conflict", `${this.name} is being loaded; it can be unloaded when that has ended.`);
    }
    if (this.#loader.model === undefined) return;
    if (!this.#loader.isIdle) {
      throw new Fault(
        "conflict",
        `${this.name} serves requests at the moment; it can be unloaded when they have ended.`,
      );
    }
    await this.#loader.unload();
  }

  /** Whether `state` is `up`. */
  get isUp(): boolean {
    return this.#loader.model?.health().state === "up";
  }

  /**
   * Acquires a slot, waiting if all are busy. Throws a Fault when the queue is full or the model cannot serve by then,
   * and the signal's reason when that aborts first.
   */
  acquireSlot(signal: AbortSignal, project: string, { priority, preempt }: Deferral = {}): Slot | Promise<Slot> {
    signal.throwIfAborted();
    // An upstream charges for a request that is ended, too.
    const deferral = { priority, preempt: this.isUpstream ? undefined : preempt };
    const slot = this.#slots.take(project, deferral);
    return slot === undefined ? this.#wait(signal, project, deferral) : this.#admit(slot);
  }

  async #wait(signal: AbortSignal, project: string, deferral: Deferral): Promise<Slot> {
    return this.#admit(await this.#slots.acquire(signal, project, deferral));
  }

  #admit(slot: Slot): Slot {
    try {
      this.model();
    } catch (failure) {
      slot.release();
      throw failure;
    }
    return slot;
  }

  /**
   * Waits for running and queued requests, then closes. Requests that wait for an endpoint of a pool go to another
   * one instead: it may be about to stop.
   */
  async retire(): Promise<void> {
    if (this.pool !== undefined) {
      const message = `An endpoint of \`${this.pool}\` is no longer available. Try again in a moment.`;
      this.#slots.refuseWaiting(unavailable(message, "no_endpoints", 1));
    }
    // A request that holds the model is about to take a slot: it waits for the load, or its schema is being compiled.
    await this.#loader.released();
    await this.#slots.idle();
    await this.close();
  }

  async close(): Promise<void> {
    this.#circuits.stop();
    this.#loadPoller?.stop();
    await this.#loader.close();
  }

  /** Returns the open model. Throws a Fault while it cannot serve. */
  model(): Model {
    const { model, state } = this.#loader;
    if (model === undefined) {
      if (state.state === "failed") throw this.#notStarted();
      throw unavailable("This model is still being loaded. Try again in a moment.", "model_loading", 5);
    }
    const health = model.health();
    if (health.state !== "up") {
      throw unavailable(
        "This model's engine failed and is being restarted. Try again in a moment.",
        "engine_failed",
        health.retryAfterSeconds,
      );
    }
    return model;
  }

  /** Waits for the model, loading it where it is unloaded. Throws a Fault when that fails. */
  async opened(signal: AbortSignal): Promise<Model> {
    await this.load(signal);
    return this.model();
  }

  /** Fault without the reason, which may name the operator's files and settings. */
  #notStarted(): Fault {
    const message = "This model could not be started. See the service log for the cause.";
    return unavailable(message, "engine_failed", Math.max(1, Math.ceil(this.#loader.backoffSeconds)));
  }

  #newCircuits({ circuit }: RoutingOptions): Circuits {
    return new Circuits(circuit, async () => this.#loader.model?.probe?.(new AbortController().signal));
  }
}
