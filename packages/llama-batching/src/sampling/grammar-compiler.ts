/** Compiles grammars in a worker thread: a large schema would delay the tokens of other requests. */

import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { ModelError, RequestError, type RequestErrorCode } from "../errors.ts";
import type { GrammarRequest } from "./grammar-text.ts";

// `.js` in a build.
const WORKER = new URL(`./grammar-worker${extname(import.meta.url)}`, import.meta.url);
const MAX_CPU_MS = 10_000;
const CHECK_MS = 500;
const MAX_MEGABYTES = 512;

export type ToCompiler = { id: number; request: GrammarRequest };
export type FromCompiler = { id: number; text: string } | { id: number; failure: CompileFailure };
/** Structured clone drops the fields of errors. `param` undefined: not the request's fault. */
export interface CompileFailure {
  message: string;
  param?: string;
  code?: RequestErrorCode | undefined;
}

interface Waiting {
  request: GrammarRequest;
  resolve: (text: string | Promise<string>) => void;
  reject: (failure: Error) => void;
}

export class GrammarCompiler {
  readonly #maxCpuMs: number;
  /** In the order in which the worker compiles them: it works on the first. */
  readonly #waiting: Map<number, Waiting> = new Map();
  #worker: Worker | undefined;
  #checks: NodeJS.Timeout | undefined;
  #calls = 0;

  /** `maxCpuMs`: CPU time that one grammar may take, without that of the others. */
  constructor(maxCpuMs = MAX_CPU_MS) {
    this.#maxCpuMs = maxCpuMs;
  }

  /** Throws a RequestError that names what cannot be enforced, or when the schema takes too long. */
  async compile(request: GrammarRequest): Promise<string> {
    const id = this.#calls++;
    const text = new Promise<string>((resolve, reject) => this.#waiting.set(id, { request, resolve, reject }));
    try {
      this.#worker ??= this.#startWorker();
      this.#worker.postMessage({ id, request } satisfies ToCompiler);
      this.#checks ??= this.#checkTime();
      return await text;
    } finally {
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) {
        clearInterval(this.#checks);
        this.#checks = undefined;
      }
    }
  }

  #startWorker(): Worker {
    const worker = new Worker(WORKER, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    });
    worker.unref();
    worker.on("message", (message: FromCompiler) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if ("text" in message) waiting?.resolve(message.text);
      else waiting?.reject(toError(message.failure));
    });
    worker.on("error", (error) => {
      if (this.#worker === worker) this.#fail(new ModelError("Compiling a grammar was interrupted.", 1, error));
    });
    return worker;
  }

  #checkTime(): NodeJS.Timeout {
    let current: { id: number; startMs: number } | undefined;
    return setInterval(async () => {
      const worker = this.#worker;
      // Rejects while the thread starts, and once it has ended.
      const usage = await worker?.cpuUsage().catch(() => undefined);
      const [id] = this.#waiting.keys();
      if (usage === undefined || id === undefined || worker !== this.#worker) return;
      const cpuMs = (usage.user + usage.system) / 1000;
      if (current?.id !== id) current = { id, startMs: cpuMs };
      if (cpuMs - current.startMs < this.#maxCpuMs) return;
      void worker?.terminate();
      const message = `The schema takes more than ${this.#maxCpuMs / 1000} s to compile. Simplify it.`;
      this.#fail(new RequestError(message, "response_format", "invalid_value"));
    }, CHECK_MS);
  }

  /** Fails the grammar at which the worker ended; another one compiles those behind it. */
  #fail(failure: Error): void {
    const [first, ...others] = [...this.#waiting.values()];
    this.#worker = undefined;
    this.#waiting.clear();
    first?.reject(failure);
    for (const { request, resolve } of others) resolve(this.compile(request));
  }
}

function toError({ message, param, code }: CompileFailure): Error {
  return param === undefined ? new Error(message) : new RequestError(message, param, code);
}
