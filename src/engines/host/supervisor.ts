/** Keeps a model's process running: restarts it after a crash, with exponential backoff. */

import { once } from "node:events";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { unavailable } from "../../kernel/faults.ts";
import { RestartBackoff, type RestartBackoffOptions } from "../../kernel/process/restart-backoff.ts";
import type { ModelFacts } from "./messages.ts";
import { type Exit, ModelProcess, type ModelProcessOptions } from "./model-process.ts";

export interface SupervisorOptions extends ModelProcessOptions {
  backoff: RestartBackoffOptions;
  /** Consecutive crashes after which the model counts as failed. Restarts go on at the longest backoff. */
  failedAfter: number;
}

/** Defaults for a model's process. */
export const SUPERVISION = {
  backoff: { firstSeconds: 0.5, lastSeconds: 60, stableSeconds: 60 },
  failedAfter: 5,
  abortGraceSeconds: 30,
} as const;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #backoff: RestartBackoff;
  #process: ModelProcess | undefined;
  #facts: ModelFacts | undefined;
  /** Undefined while the process serves. */
  #trouble: { reason: string; nextStartAt: number } | undefined;
  #retry: NodeJS.Timeout | undefined;
  #openSeconds = 1;
  #restartedAt: number | undefined;
  #isClosed = false;
  #isLazy = false;
  /** First start of a lazy process: settles, without throwing, when it has succeeded or failed. */
  #firstStart: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#backoff = new RestartBackoff(options.backoff);
  }

  /** Starts the process. Throws a Fault when the model cannot be opened, after the process has ended. */
  async open(signal: AbortSignal): Promise<ModelFacts> {
    signal.throwIfAborted();
    const stop = () => {
      this.#isClosed = true;
      this.#process?.kill("was stopped");
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await this.#start();
    } catch (failure) {
      this.#isClosed = true;
      throw failure;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Starts nothing until the first call. `facts` describe the model until its process does. */
  openLazily(facts: ModelFacts): ModelFacts {
    this.#isLazy = true;
    this.#facts = facts;
    return facts;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Facts of the model from the process that opened it last; undefined before the first. */
  get facts(): ModelFacts | undefined {
    return this.#facts;
  }

  health(): ModelHealth {
    if (this.#isClosed) return { state: "failed", reason: "it has been closed", retryAfterSeconds: 1 };
    if (this.#trouble === undefined) return { state: "up", restartedAt: this.#restartedAt };
    const { reason, nextStartAt } = this.#trouble;
    const waitSeconds = Math.max(0, (nextStartAt - Date.now()) / 1000) + this.#openSeconds;
    const state = this.#backoff.failures >= this.#options.failedAfter ? "failed" : "restarting";
    return { state, reason, retryAfterSeconds: Math.ceil(waitSeconds) };
  }

  /** Like `ModelProcess.call`. Throws a Fault while the process is not up. */
  async *call(input: unknown, items: AsyncIterable<unknown> | undefined, signal: AbortSignal): AsyncGenerator<unknown> {
    if (signal.aborted) return;
    if (this.#isLazy) await this.#startOnce(signal);
    if (signal.aborted) return;
    this.throwUnlessUp();
    yield* (this.#process as ModelProcess).call(input, items, signal);
  }

  /** Throws a Fault while the process is not up. */
  throwUnlessUp(): void {
    const health = this.health();
    if (health.state === "up" && this.#process !== undefined) return;
    const seconds = health.state === "up" ? 1 : health.retryAfterSeconds;
    throw unavailable("The model's engine is being restarted. Try again in a moment.", "engine_failed", seconds);
  }

  /** Resolves once the running process has ended, with the reason. */
  get exited(): Promise<Exit> | undefined {
    return this.#process?.exited;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#process?.close();
  }

  async #startOnce(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return;
    this.#firstStart ??= this.#start().then(
      () => {},
      (failure: Error) => this.#recover(failure.message, undefined, 0),
    );
    const waiting = new AbortController();
    await Promise.race([this.#firstStart, once(signal, "abort", { signal: waiting.signal }).catch(() => {})]);
    waiting.abort();
  }

  async #start(): Promise<ModelFacts> {
    const startedAt = Date.now();
    const process = new ModelProcess(this.#options);
    this.#process = process;
    try {
      const facts = await process.opened;
      this.#facts = facts;
      const openedAt = Date.now();
      this.#openSeconds = (openedAt - startedAt) / 1000;
      this.#trouble = undefined;
      void process.exited.then((exit) => this.#recover(exit.how, exit, (Date.now() - openedAt) / 1000));
      return facts;
    } catch (failure) {
      process.kill("could not open its model");
      const exit = await process.exited;
      if (!this.#isClosed) await this.#log({ reason: (failure as Error).message }, exit);
      throw failure;
    }
  }

  async #log(fields: { reason: string; restartInSeconds?: number }, exit: Exit | undefined): Promise<void> {
    const lastOutput = await exit?.lastOutput;
    this.#options.logger.error({ ...fields, lastOutput }, "model process ended");
  }

  #recover(reason: string, exit: Exit | undefined, upSeconds: number): void {
    if (this.#isClosed) return;
    const delaySeconds = this.#backoff.next(upSeconds);
    this.#trouble = { reason, nextStartAt: Date.now() + delaySeconds * 1000 };
    const restartInSeconds = Math.round(delaySeconds * 10) / 10;
    void this.#log({ reason, restartInSeconds }, exit);
    this.#retry = setTimeout(() => void this.#restart(), delaySeconds * 1000);
    this.#retry.unref();
  }

  async #restart(): Promise<void> {
    try {
      await this.#start();
      this.#restartedAt = Date.now();
      this.#options.logger.info("model process is up again");
    } catch (failure) {
      this.#recover((failure as Error).message, undefined, 0);
    }
  }
}
