/** One engine with its settings: opened in the background, kept open, its slots shared out. */

import type { Model, Task } from "../engines/engine.ts";
import { Fault, unavailable } from "../faults.ts";
import { Slots } from "./slots.ts";

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
  /** Requests that may wait for a slot. */
  maxQueue: number;
  open: (signal: AbortSignal) => Promise<Model>;
  /** Told about each failed opening, before the next try. */
  onOpenFailure: (failure: unknown) => void;
}

/** An opening that failed is tried again, at first soon, then ever more seldom. */
const FIRST_RETRY_SECONDS = 15;
const LAST_RETRY_SECONDS = 600;

export class Deployment {
  readonly name: string;
  readonly engine: string;
  readonly isUpstream: boolean;
  readonly task: Task;
  readonly #options: DeploymentOptions;
  readonly #closing = new AbortController();
  #model: Model | undefined;
  #slots: Slots;
  #failure: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  #opening: Promise<void> | undefined;
  #inFlight = 0;
  #idle: (() => void) | undefined;

  constructor(options: DeploymentOptions) {
    this.name = options.name;
    this.engine = options.engine;
    this.isUpstream = options.isUpstream;
    this.task = options.task;
    this.#options = options;
    this.#slots = new Slots(undefined, options.maxQueue);
  }

  get slots(): Slots {
    return this.#slots;
  }

  /** Opens the model in the background; `state` tells how it goes. */
  start(): void {
    this.#opening ??= this.#open(FIRST_RETRY_SECONDS);
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

  /**
   * Waits for a slot and gives the function that ends its use.
   * Throws a Fault when the queue is full or it cannot serve by then, and the signal's reason when that aborts first.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    const release = await this.#slots.acquire(signal);
    try {
      this.model();
      this.#inFlight += 1;
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        release();
        this.#inFlight -= 1;
        if (this.#inFlight === 0) this.#idle?.();
      };
    } catch (failure) {
      release();
      throw failure;
    }
  }

  /** Lets running requests end, then closes. */
  async retire(): Promise<void> {
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    await this.close();
  }

  async close(): Promise<void> {
    this.#closing.abort(unavailable("The service is stopping.", "engine_failed", 1));
    clearTimeout(this.#retry);
    await this.#opening;
    await this.#model?.close();
  }

  /** The open model. Throws a Fault while there is none that can serve. */
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

  async #open(retrySeconds: number): Promise<void> {
    try {
      const model = await this.#options.open(this.#closing.signal);
      this.#slots = new Slots(model.slots, this.#options.maxQueue);
      this.#failure = undefined;
      this.#model = model;
    } catch (failure) {
      if (this.#closing.signal.aborted) return;
      this.#failure = failure instanceof Fault ? failure.message : String(failure);
      this.#options.onOpenFailure(failure);
      this.#retry = setTimeout(() => {
        this.#opening = this.#open(Math.min(LAST_RETRY_SECONDS, retrySeconds * 2));
      }, retrySeconds * 1000);
      this.#retry.unref();
    }
  }
}
