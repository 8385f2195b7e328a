import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Piscina } from "piscina";
import { FairQueue } from "./fair-queue.ts";
import { SchemaError } from "./schema-error.ts";
import type { Refusal, SchemaResult, SchemaTask } from "./schema-worker.ts";

/** How long a refusal for exhausted memory holds, which also depends on the value. */
const EXHAUSTION_REFUSAL_MS = 60_000;
const REFUSALS = 1_000;
const ACCEPTED = 10_000;
const GRAMMAR_CHARACTERS = 16_000_000;
/** Idle threads end: each occupies some 10 MB. */
const IDLE_MS = 60_000;

/** The work that one request may cause, and who causes it. */
export interface SchemaRequest {
  /** Tenants take turns. */
  tenant: string;
  budget: TimeBudget;
  signal: AbortSignal;
}

/** CPU time that all schema work of one request shares. Time in the queue does not count. */
export class TimeBudget {
  readonly totalMs: number;
  #remainingMs: number;

  constructor(totalMs: number) {
    this.totalMs = totalMs;
    this.#remainingMs = totalMs;
  }

  get remainingMs(): number {
    return this.#remainingMs;
  }

  spend(milliseconds: number): void {
    this.#remainingMs = Math.max(0, this.#remainingMs - milliseconds);
  }
}

export interface CompiledRules {
  rules: string;
  /** Paths of keywords that the rules do not enforce: values have to be validated. */
  unenforced: readonly string[];
}

export interface SchemaPoolOptions {
  /** With two or more, one tenant never occupies all of them. */
  threads?: number;
  maxMegabytesPerThread?: number;
}

interface Threads {
  pool: Piscina<SchemaTask, SchemaResult>;
  /** Aborts with the reason when a thread has failed without a task: one that waits for it would wait for good. */
  lost: AbortController;
}

/** Compiles schemas and validates values in worker threads, which keeps hostile schemas off the caller's event loop. */
export class SchemaPool {
  readonly #maxThreads: number;
  #threads: Promise<Threads> | undefined;
  readonly #queue: FairQueue;
  readonly #maxMegabytes: number;
  readonly #refusals = new LRUCache<string, Refusal>({ max: REFUSALS });
  readonly #accepted = new LRUCache<string, true>({ max: ACCEPTED });
  readonly #rules = new LRUCache<string, CompiledRules>({
    maxSize: GRAMMAR_CHARACTERS,
    sizeCalculation: ({ rules, unenforced }) => rules.length + unenforced.join().length + 1,
  });

  constructor({ threads = 2, maxMegabytesPerThread = 512 }: SchemaPoolOptions = {}) {
    this.#maxThreads = threads;
    this.#queue = new FairQueue(threads);
    this.#maxMegabytes = maxMegabytesPerThread;
  }

  /** `compileRules` in a thread, which collects what it cannot enforce. Throws a SchemaError, or the signal's reason. */
  async compileRules(
    schema: unknown,
    path: string,
    request: SchemaRequest,
    { ruleName = "root", values = "any" }: { ruleName?: string; values?: "any" | "objects" } = {},
  ): Promise<CompiledRules> {
    const task = { type: "rules", schema: JSON.stringify(schema), path, ruleName, values } as const;
    const key = keyOf(task.type, ruleName, values, path, task.schema);
    const cached = this.#rules.get(key);
    if (cached !== undefined) return cached;
    const { value: rules = "", unenforced = [] } = await this.#run(task, key, request);
    this.#rules.set(key, { rules, unenforced });
    return { rules, unenforced };
  }

  /**
   * Compiles a validator of JSON texts, which resolves to the first violation or undefined. Both throw a SchemaError when the
   * schema cannot be used or the budget is spent.
   */
  async compileValidator(
    schema: unknown,
    path: string,
    request: SchemaRequest,
  ): Promise<(text: string) => Promise<string | undefined>> {
    const document = { schema: JSON.stringify(schema), path };
    const key = keyOf("validate", path, document.schema);
    this.#checkRefused(request.tenant, key);
    if (!this.#accepted.has(key)) await this.#run({ type: "check", ...document }, key, request);
    this.#accepted.set(key, true);
    return async (text) => (await this.#run({ type: "validate", text, ...document }, key, request)).value;
  }

  async close(): Promise<void> {
    await (await this.#threads)?.pool.destroy();
  }

  /** Piscina is loaded for the first schema. */
  async #open(): Promise<Threads> {
    const worker = import.meta.url.endsWith(".ts") ? "./schema-worker.ts" : "./schema-worker.js";
    const { Piscina } = await import("piscina");
    const pool = new Piscina<SchemaTask, SchemaResult>({
      filename: new URL(worker, import.meta.url).href,
      minThreads: 0,
      maxThreads: this.#maxThreads,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: this.#maxMegabytes },
    });
    const lost = new AbortController();
    // Without a listener, the error would end the application.
    pool.on("error", (error) => this.#lose(lost, error));
    return { pool, lost };
  }

  /** Ends the tasks of the threads. The next task starts others. */
  #lose(lost: AbortController, error: unknown): void {
    if (lost.signal.aborted) return;
    this.#threads = undefined;
    lost.abort(error);
  }

  async #run(task: Unlimited<SchemaTask>, key: string, request: SchemaRequest): Promise<SchemaResult> {
    const { tenant, signal, budget } = request;
    this.#checkRefused(tenant, key);
    const result = await this.#queue.run(tenant, signal, async () => {
      const timeoutMs = Math.ceil(budget.remainingMs);
      if (timeoutMs <= 0) throw new SchemaError("too_complex", tooSlow(task.path, budget), task.path);
      return await this.#inThread({ ...task, timeoutMs } as SchemaTask, signal);
    });
    const { refusal } = result;
    budget.spend(result.cpuMs);
    if (refusal === undefined) return result;
    // The next value, or another budget, may suffice.
    if (refusal.exhausted === "time") throw toSchemaError({ ...refusal, message: tooSlow(task.path, budget) });
    if (refusal.exhausted === undefined) this.#refusals.set(key, refusal);
    else this.#refusals.set(tenantKey(tenant, key), refusal, { ttl: EXHAUSTION_REFUSAL_MS });
    throw toSchemaError(refusal);
  }

  #checkRefused(tenant: string, key: string): void {
    const refusal = this.#refusals.get(key) ?? this.#refusals.get(tenantKey(tenant, key));
    if (refusal !== undefined) throw toSchemaError(refusal);
  }

  async #inThread(task: SchemaTask, signal: AbortSignal): Promise<SchemaResult> {
    this.#threads ??= this.#open().catch((error: unknown) => {
      this.#threads = undefined;
      throw error;
    });
    const { pool, lost } = await this.#threads;
    const ending = new AbortController();
    const end = () => ending.abort();
    for (const each of [signal, lost.signal]) each.addEventListener("abort", end, { once: true });
    try {
      signal.throwIfAborted();
      return await pool.run(task, { signal: ending.signal });
    } catch (error) {
      signal.throwIfAborted();
      lost.signal.throwIfAborted();
      const { code } = error as NodeJS.ErrnoException;
      // The task is still in the pool's queue, and its failure there would be nobody's.
      if (code === "ERR_WORKER_INIT_FAILED") this.#lose(lost, error);
      if (code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
      const { path } = task;
      const message = `The schema exceeded the memory limit of ${this.#maxMegabytes} MB. Simplify it: ${path}.`;
      return { refusal: { code: "too_complex", message, path, exhausted: "memory" }, cpuMs: task.timeoutMs };
    } finally {
      for (const each of [signal, lost.signal]) each.removeEventListener("abort", end);
    }
  }
}

type Unlimited<T> = T extends unknown ? Omit<T, "timeoutMs"> : never;

const keyOf = (...parts: string[]) => hash("sha256", parts.join("\n"), "base64");

/** Exhaustion also depends on values, which one tenant must not use to get another tenant's schema refused. */
const tenantKey = (tenant: string, key: string) => `${tenant} ${key}`;

const toSchemaError = ({ code, message, path }: Refusal) => new SchemaError(code, message, path);

const tooSlow = (path: string, { totalMs }: TimeBudget) =>
  `The schema took more than ${totalMs} ms to compile and validate. Simplify its patterns and references: ${path}.`;
