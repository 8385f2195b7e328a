/** One run of a model's process, from its start to its exit. */

import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { AsyncQueue } from "../../kernel/async/async-queue.ts";
import { type Fault, unavailable } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import { Child } from "../../kernel/process/child.ts";
import { killIfRunning } from "../../kernel/process/parent-watchdog.ts";
import { childEnvironment } from "./child-environment.ts";
import { CrashOutput } from "./crash-output.ts";
import { decodeFailure, encodeFailure, type FromChild, type ModelFacts, type ToChild } from "./messages.ts";
import { OpenCrash } from "./open-crash.ts";
import { siblingModule } from "./sibling-module.ts";

export interface ModelProcessOptions {
  /** Name in logs and the process list. */
  name: string;
  /** A `HostedModule`. */
  module: URL;
  /** Passed to `open`. Must survive a structured clone. */
  settings: unknown;
  /** Environment variables in addition to those that every model's process gets. */
  environment: Readonly<Record<string, string>>;
  logger: Logger;
  /** Time in which the process has to end an aborted call; after that it counts as hung. */
  abortGraceSeconds: number;
}

export interface Exit {
  /** Readable description, such as `crashed (SIGSEGV)`. */
  how: string;
  /** Resolves with the first and last lines that the end wrote to standard output and error. For the log only. */
  lastOutput: Promise<readonly string[]>;
}

interface Call {
  buffer: AsyncQueue<unknown>;
  items: AsyncIterator<unknown> | undefined;
  grace: NodeJS.Timeout | undefined;
}

const CLOSE_GRACE_MS = 2000;
/** Output may arrive after the `exit` event. */
const OUTPUT_GRACE_MS = 200;

export class ModelProcess {
  readonly #options: ModelProcessOptions;
  readonly #child: Child;
  readonly #calls: Map<number, Call> = new Map();
  readonly #opened = Promise.withResolvers<ModelFacts>();
  readonly #exited = Promise.withResolvers<Exit>();
  readonly #childPids: Set<number> = new Set();
  readonly #output = new CrashOutput();
  readonly #outputEnded = Promise.withResolvers<readonly string[]>();
  #lastCallId = 0;
  #killedBecause: string | undefined;
  #failure: Fault | undefined;

  constructor(options: ModelProcessOptions) {
    this.#options = options;
    this.#child = new Child({
      program: process.execPath,
      args: [fileURLToPath(siblingModule(import.meta.url, "./model-child")), String(process.pid)],
      environment: childEnvironment(options.environment),
      // The service decides when a model ends.
      hasOwnGroup: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const descriptor of [1, 2]) this.#follow(this.#child.output(descriptor));
    const child = this.#child.process;
    child.on("message", (batch) => {
      for (const message of batch as unknown as FromChild[]) this.#receive(message);
    });
    child.on("error", (error) => this.#end(`could not be started: ${error.message}`));
    child.on("exit", (code, signal) => this.#end(describeExit(code, signal, this.#killedBecause)));
    void this.#child.ended.then(() => this.#outputEnded.resolve(this.#output.excerpt));
    this.#send({ type: "open", module: options.module.href, name: options.name, settings: options.settings });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Resolves once the model is open. Throws a Fault when opening fails or the process ends first. */
  get opened(): Promise<ModelFacts> {
    return this.#opened.promise;
  }

  /** Resolves once the process has ended. */
  get exited(): Promise<Exit> {
    return this.#exited.promise;
  }

  /**
   * Yields the child's events at the reader's pace; the child never waits for the reader. Ends early, without
   * throwing, once `signal` aborts. Throws what the call throws there, and a Fault when the process ends first.
   */
  async *call(input: unknown, items: AsyncIterable<unknown> | undefined, signal: AbortSignal): AsyncGenerator<unknown> {
    if (signal.aborted) return;
    if (this.#failure !== undefined) throw this.#failure;
    const id = ++this.#lastCallId;
    const call: Call = { buffer: new AsyncQueue(), items: items?.[Symbol.asyncIterator](), grace: undefined };
    this.#calls.set(id, call);
    this.#send({ type: "call", id, input, hasItems: items !== undefined });
    const leave = () => {
      if (call.buffer.hasEnded) return;
      call.buffer.end();
      this.#abandon(id, call);
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      for await (const event of call.buffer.read()) {
        if (signal.aborted) return;
        yield event;
      }
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
  }

  /** Ends the process; its running calls end with a Fault. */
  async close(): Promise<void> {
    this.#killedBecause = "has been closed";
    this.#send({ type: "close" });
    const killTimer = setTimeout(() => this.#child.kill(), CLOSE_GRACE_MS);
    await this.exited;
    clearTimeout(killTimer);
  }

  /** Kills the process at once, because a hung process does not end by itself. */
  kill(because: string): void {
    this.#killedBecause ??= because;
    this.#child.kill();
  }

  #abandon(id: number, call: Call): void {
    this.#send({ type: "abort", id });
    void call.items?.return?.()?.catch(() => {});
    const seconds = this.#options.abortGraceSeconds;
    call.grace = setTimeout(() => this.kill(`did not end an abandoned call within ${seconds} seconds`), seconds * 1000);
    call.grace.unref();
  }

  #receive(message: FromChild): void {
    switch (message.type) {
      case "opened":
        this.#opened.resolve(message.facts);
        break;
      case "open-failed":
        this.#opened.reject(decodeFailure(message.failure));
        break;
      case "warning":
        this.#options.logger.warn(message.message);
        break;
      case "child-pid":
        this.#childPids.add(message.pid);
        break;
      case "event":
        this.#calls.get(message.id)?.buffer.push(message.event);
        break;
      case "end":
        this.#finish(message.id);
        break;
      case "failed":
        this.#finish(message.id, decodeFailure(message.failure));
        break;
      case "pull":
        void this.#sendItem(message.id);
    }
  }

  #finish(id: number, failure?: Error): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    clearTimeout(call.grace);
    call.buffer.end(failure);
    void call.items?.return?.()?.catch(() => {});
  }

  async #sendItem(id: number): Promise<void> {
    try {
      const next = await this.#calls.get(id)?.items?.next();
      if (next === undefined || next.done) this.#send({ type: "items-end", id, failure: undefined });
      else this.#send({ type: "item", id, item: next.value });
    } catch (failure) {
      this.#send({ type: "items-end", id, failure: encodeFailure(failure) });
    }
  }

  #send(message: ToChild): void {
    // The `exit` event of an ended child ends its calls.
    const { process: child } = this.#child;
    if (child.connected) child.send(message, () => {});
  }

  #follow(stream: Readable): void {
    createInterface({ input: stream }).on("line", (line) => {
      this.#output.push(line);
      this.#options.logger.debug({ output: line }, "model process");
    });
  }

  #end(how: string): void {
    const message = `The model's engine failed: its process ${how}. Try again in a moment.`;
    const failure = unavailable(message, "engine_failed", 2);
    this.#failure = failure;
    // They have ended already, unless the child was killed from outside.
    for (const pid of this.#childPids) killIfRunning(pid);
    this.#opened.promise.catch(() => {});
    const lastOutput = this.#outputEnded.promise;
    void lastOutput.then(() => this.#opened.reject(new OpenCrash(how, this.#output.reason)));
    for (const id of [...this.#calls.keys()]) this.#finish(id, failure);
    setTimeout(() => this.#outputEnded.resolve(this.#output.excerpt), OUTPUT_GRACE_MS);
    this.#exited.resolve({ how, lastOutput });
  }
}

function describeExit(code: number | null, signal: NodeJS.Signals | null, because: string | undefined): string {
  if (because !== undefined) return because;
  if (signal === "SIGKILL") return "was killed (SIGKILL), which often means that the system ran out of memory";
  if (signal !== null) return `crashed (${signal})`;
  return `ended by itself (exit code ${code})`;
}
