/** The thread that searches vector stores: starts with the first command. */

import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { toStartFault } from "../../../kernel/process/start-fault.ts";
import type { IndexMatch, IndexQuery } from "./store-index.ts";
import type { IndexAnswer, IndexCommand } from "./vector-index-worker.ts";

interface PendingSearch {
  resolve: (answer: IndexAnswer) => void;
  reject: (error: Error) => void;
}

export interface IndexResult {
  matches: readonly IndexMatch[];
  memoryBytes: number;
  isSparse: boolean;
}

export class VectorIndex implements AsyncDisposable {
  readonly #onLost: () => void;
  #worker: Worker | undefined;
  readonly #pending = new Map<number, PendingSearch>();
  #lastId = 0;

  /** `onLost`: called when the thread has ended with what it had loaded; the next command starts another one. */
  constructor(onLost: () => void) {
    this.#onLost = onLost;
  }

  /** The bytes of an added segment are transferred. */
  send(command: Exclude<IndexCommand, { type: "search" }>): void {
    this.#start().postMessage(command, command.type === "add" ? [command.bytes.buffer as ArrayBuffer] : []);
  }

  /** Rejects when the store cannot be searched. */
  async search(store: string, query: IndexQuery): Promise<IndexResult> {
    const worker = this.#start();
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = await new Promise<IndexAnswer>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.postMessage({ type: "search", store, id, query } satisfies IndexCommand);
    });
    if (answer.matches === undefined) throw new Error(`vector store ${store} cannot be searched: ${answer.error}`);
    return { matches: answer.matches, memoryBytes: answer.memoryBytes, isSparse: answer.isSparse };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL(`./vector-index-worker${extname(import.meta.url)}`, import.meta.url));
    this.#worker = worker;
    // Searches keep the process alive by their connections.
    worker.unref();
    worker.on("message", (answer: IndexAnswer) => {
      this.#pending.get(answer.id)?.resolve(answer);
      this.#pending.delete(answer.id);
    });
    let failure: Error = new Error("the thread that searches vector stores has ended");
    worker.on("error", (error) => {
      const cause = toStartFault(error);
      failure = cause instanceof Error ? cause : new Error(String(cause));
    });
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#pending.values()) reject(failure);
      this.#pending.clear();
      this.#onLost();
    });
    return worker;
  }
}
