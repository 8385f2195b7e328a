/** One engine with its settings: opened in the background, kept open, with a queue for its slots. */

import { backoffDelay } from "../async/backoff.ts";
import type { Model, Task } from "../engines/engine.ts";
import { Fault, unavailable } from "../faults.ts";
import { Circuit } from "./circuit.ts";
import { LatencyEwma } from "./latency-ewma.ts";
import type { RoutingOptions } from "./routing-options.ts";
import { type Slot, Slots } from "./slots.ts";

export type DeploymentState =
  | { state: "loading"; reason: string | undefined }
  | { state: "up"; device: string }
  | { state: "restarting" | "failed"; reason: string };

export interface DeploymentOptions {
  /** For logs, metrics and the `x-parlance-deployment` header. */
  name: string;
  engine: string;
  /** Whether it is another service's, rather than run here. */
  isUpstream: boolean;
  task: Task;
  routingOptions: RoutingOptions;
  open: (signal: AbortSignal) => Promise<Model>;
  /** Told about each failed opening, before the next try. */
  onOpenFailure: (failure: unknown) => void;
}

/** Delay before a failed opening is retried. */
const REOPEN_SECONDS = { initial: 15, max: 600 };

export class Deployment {
  readonly name: string;
  readonly engine: string;
  readonly isUpstream: boolean;
  readonly task: Task;
  readonly latency = new LatencyEwma();
  readonly #options: DeploymentOptions;
  readonly #closing = new AbortController();
  #model: Model | undefined;
  #routingOptions: RoutingOptions;
  #slots: Slots;
  #circuit: Circuit;
  #failure: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  #opening: Promise<void> | undefined;

  constructor(options: DeploymentOptions) {
    this.name = options.name;
    this.engine = options.engine;
    this.isUpstream = options.isUpstream;
    this.task = options.task;
    this.#options = options;
    this.#routingOptions = options.routingOptions;
    this.#slots = new Slots(undefined, options.routingOptions.maxQueue);
    this.#circuit = this.#newCircuit(options.routingOptions);
  }

  get routingOptions(): RoutingOptions {
    return this.#routingOptions;
  }

  /** Takes effect at once and keeps the health statistics, unless the circuit's settings change. */
  set routingOptions(routingOptions: RoutingOptions) {
    this.#slots.maxQueue = routingOptions.maxQueue;
    if (JSON.stringify(routingOptions.circuit) !== JSON.stringify(this.#routingOptions.circuit)) {
      this.#circuit.close();
      this.#circuit = this.#newCircuit(routingOptions);
    }
    this.#routingOptions = routingOptions;
  }

  get circuit(): Circuit {
    return this.#circuit;
  }

  get slots(): Slots {
    return this.#slots;
  }

  /** Opens the model in the background; `state` reports progress. */
  start(): void {
    this.#opening ??= this.#open();
  }

  get state(): DeploymentState {
    if (this.#model === undefined) {
      if (this.#failure === undefined) return { state: "loading", reason: undefined };
      return { state: "failed", reason: this.#failure };
    }
    const health = this.#model.health();
    if (health.state === "up") return { state: "up", device: this.#model.device };
    return { state: health.state, reason: health.reason };
  }

  /** Whether `state` is `up`. */
  get isUp(): boolean {
    return this.#model?.health().state === "up";
  }

  /**
   * A slot, waited for where none is free. Throws a Fault when the queue is full or it cannot serve by then, and the
   * signal's reason when that aborts first.
   */
  acquireSlot(signal: AbortSignal, project: string): Slot | Promise<Slot> {
    signal.throwIfAborted();
    const slot = this.#slots.take(project);
    return slot === undefined ? this.#wait(signal, project) : this.#admit(slot);
  }

  async #wait(signal: AbortSignal, project: string): Promise<Slot> {
    return this.#admit(await this.#slots.acquire(signal, project));
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

  /** Lets requests that run or wait for a slot end, then closes. */
  async retire(): Promise<void> {
    await this.#slots.idle();
    await this.close();
  }

  async close(): Promise<void> {
    this.#closing.abort(unavailable("The service is stopping.", "engine_failed", 1));
    clearTimeout(this.#retry);
    this.#circuit.close();
    await this.#opening;
    await this.#model?.close();
  }

  /** Returns the open model. Throws a Fault while it cannot serve. */
  model(): Model {
    const model = this.#model;
    if (model === undefined) {
      if (this.#failure === undefined) {
        throw unavailable("This model is still being loaded. Try again in a moment.", "model_loading", 5);
      }
      throw unavailable(
        "This model could not be started; its operator finds the reason in the log.",
        "engine_failed",
        60,
      );
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

  /** Waits for the opening that runs. Throws a Fault when it failed, and the signal's reason when that aborts first. */
  async opened(signal: AbortSignal): Promise<Model> {
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    await Promise.race([this.#opening, aborted]);
    return this.model();
  }

  #newCircuit({ circuit }: RoutingOptions): Circuit {
    return new Circuit(circuit, async () => this.#model?.probe?.(this.#closing.signal));
  }

  async #open(failures = 0): Promise<void> {
    try {
      const model = await this.#options.open(this.#closing.signal);
      this.#slots = new Slots(model.slots, this.#routingOptions.maxQueue);
      this.#failure = undefined;
      this.#model = model;
    } catch (failure) {
      if (this.#closing.signal.aborted) return;
      this.#failure = failure instanceof Fault ? failure.message : String(failure);
      this.#options.onOpenFailure(failure);
      this.#retry = setTimeout(
        () => {
          this.#opening = this.#open(failures + 1);
        },
        backoffDelay(failures + 1, REOPEN_SECONDS) * 1000,
      );
      this.#retry.unref();
    }
  }
}
