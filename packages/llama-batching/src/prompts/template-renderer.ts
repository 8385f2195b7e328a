/**
 * Renders long conversations in a worker thread: templates take seconds for tens of thousands of messages, which would
 * delay the tokens of other requests.
 */

import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { ModelError, RequestError } from "../errors.ts";
import type { ChatTemplate, RenderInput, TemplateVariables } from "./chat-template.ts";

// `.js` in a build.
const WORKER = new URL(`./template-worker${extname(import.meta.url)}`, import.meta.url);
/** Fewer messages take less than 20 ms. */
const LONG_CONVERSATION = 500;
/** An idle thread ends: it occupies some 10 MB. */
const IDLE_MS = 60_000;

export interface TemplateData {
  source: string;
  fixed: TemplateVariables;
  argumentsAsText: boolean;
}
export type ToRenderer = { id: number; input: RenderInput };
export type FromRenderer = { id: number; text: string } | { id: number; refusal: string };

interface Waiting {
  resolve: (text: string) => void;
  reject: (failure: Error) => void;
}

export class TemplateRenderer {
  readonly #template: ChatTemplate;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #calls = 0;

  constructor(template: ChatTemplate) {
    this.#template = template;
  }

  /** Throws a RequestError when the template refuses the input. */
  async render(input: RenderInput): Promise<string> {
    if (input.messages.length < LONG_CONVERSATION) return this.#template.render(input);
    clearTimeout(this.#idle);
    const worker = this.#startWorker();
    const id = this.#calls++;
    const text = new Promise<string>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    worker.postMessage({ id, input } satisfies ToRenderer);
    try {
      return await text;
    } finally {
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#idle = setTimeout(() => this.#stop(worker), IDLE_MS).unref();
    }
  }

  #startWorker(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const { source, fixed, argumentsAsText } = this.#template;
    const worker = new Worker(WORKER, { workerData: { source, fixed, argumentsAsText } satisfies TemplateData });
    worker.unref();
    worker.on("message", (message: FromRenderer) => {
      const waiting = this.#waiting.get(message.id);
      if ("text" in message) waiting?.resolve(message.text);
      else waiting?.reject(new RequestError(message.refusal, "messages"));
    });
    worker.on("error", (error) => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) {
        reject(new ModelError("Rendering a conversation was interrupted.", 1, error));
      }
    });
    this.#worker = worker;
    return worker;
  }

  #stop(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
    void worker.terminate();
  }
}
