/** Compiles grammars in a worker thread: a large schema would delay the tokens of other requests. */

import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { ModelError, RequestError, type RequestErrorCode } from "../errors.ts";
import type { GrammarRequest } from "./grammar-text.ts";

// `.js` in a build.
const WORKER = new URL(`./grammar-worker${extname(import.meta.url)}`, import.meta.url);
const MAX_MS = 10_000;
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
  resolve: (text: string) => void;
  reject: (failure: Error) => void;
}

export class GrammarCompiler {
  readonly #waiting: Map<number, Waiting> = new Map();
  #worker: Worker | undefined;
  #calls = 0;

  /** Throws a RequestError that names what cannot be enforced, or when the schema takes too long. */
  async compile(request: GrammarRequest): Promise<string> {
    const worker = this.#startWorker();
    const id = this.#calls++;
    const text = new Promise<string>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    const timer = setTimeout(() => this.#onTimeout(worker), MAX_MS);
    worker.postMessage({ id, request } satisfies ToCompiler);
    try {
      return await text;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  #startWorker(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(WORKER, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    });
    worker.unref();
    worker.on("message", (message: FromCompiler) => {
      const waiting = this.#waiting.get(message.id);
      if ("text" in message) waiting?.resolve(message.text);
      else waiting?.reject(toError(message.failure));
    });
    worker.on("error", (error) => this.#end(worker, interrupted(error)));
    this.#worker = worker;
    return worker;
  }

  #onTimeout(worker: Worker): void {
    void worker.terminate();
    // Compiled one after another, so the first is the slow one.
    const [slowest] = this.#waiting.values();
    const message = `The schema takes more than ${MAX_MS / 1000} s to compile. Simplify it.`;
    slowest?.reject(new RequestError(message, "response_format", "invalid_value"));
    this.#end(worker, interrupted());
  }

  #end(worker: Worker, failure: Error): void {
    if (this.#worker === worker) this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(failure);
  }
}

function interrupted(cause?: unknown): Error {
  return new ModelError("Compiling a grammar was interrupted.", 1, cause);
}

function toError({ message, param, code }: CompileFailure): Error {
  return param === undefined ? new Error(message) : new RequestError(message, param, code);
}
