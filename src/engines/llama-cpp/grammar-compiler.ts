/** Makes grammars in a thread of its own: a large schema takes so long that other requests' tokens would wait. */

import { Worker } from "node:worker_threads";
import { invalidRequest, unavailable } from "../../faults.ts";
import { decodeFailure, type EncodedFailure } from "../host/messages.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { WantedGrammar } from "./grammar-text.ts";

const MOST_MS = 10_000;
const MOST_MEGABYTES = 512;

export type ToCompiler = { id: number; wanted: WantedGrammar };
export type FromCompiler = { id: number; text: string } | { id: number; failure: EncodedFailure };

interface Waiting {
  resolve: (text: string) => void;
  reject: (failure: Error) => void;
}

export class GrammarCompiler {
  readonly #waiting: Map<number, Waiting> = new Map();
  #worker: Worker | undefined;
  #calls = 0;

  /** Throws a Fault: what cannot be enforced, or that it takes too long. */
  async compile(wanted: WantedGrammar): Promise<string> {
    const worker = this.#started();
    const id = this.#calls++;
    const text = new Promise<string>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    const timer = setTimeout(() => this.#giveUp(worker), MOST_MS);
    worker.postMessage({ id, wanted } satisfies ToCompiler);
    try {
      return await text;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(siblingModule(import.meta.url, "./grammar-worker"), {
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
    });
    worker.unref();
    worker.on("message", (message: FromCompiler) => {
      const waiting = this.#waiting.get(message.id);
      if ("text" in message) waiting?.resolve(message.text);
      else waiting?.reject(decodeFailure(message.failure));
    });
    worker.on("error", (error) => this.#end(worker, interrupted(error)));
    this.#worker = worker;
    return worker;
  }

  #giveUp(worker: Worker): void {
    void worker.terminate();
    // Made one after another, so it is the first that takes so long.
    const [slowest] = this.#waiting.values();
    const message = `The schema takes more than ${MOST_MS / 1000} seconds to be made into a grammar.`;
    slowest?.reject(invalidRequest(message, "response_format", "invalid_value"));
    this.#end(worker, interrupted());
  }

  #end(worker: Worker, failure: Error): void {
    if (this.#worker === worker) this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(failure);
  }
}

function interrupted(cause?: unknown): Error {
  return unavailable("Making a grammar was interrupted.", "engine_failed", 1, cause);
}
