/**
 * Requests that the service makes itself, such as the lines of batches: through its routes, without a socket and a key.
 * They have the validation, limits, moderation, storage and log line of the same request over HTTP.
 */

import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyRequest, InjectOptions } from "fastify";
import type { Caller } from "../contracts/caller.ts";
import type { Usage } from "../kernel/usage.ts";
import type { InternalCall } from "./authenticate.ts";

export interface InternalRequest {
  caller: Caller;
  path: string;
  /** Undefined: the request has the method GET. */
  body: Uint8Array | undefined;
  /** Default: JSON. */
  contentType?: string | undefined;
}

export interface InternalAnswer {
  status: number;
  requestId: string;
  body: string;
  retryAfterSeconds: number | undefined;
  shouldRetry: boolean;
  /** What the request cost; null: the model has no price. */
  costNanoDollars: number | null;
  /** Undefined: nothing was run. */
  usage: Usage | undefined;
}

interface Call extends InternalCall {
  request?: FastifyRequest;
}

/** Makes the request at once, rather than when its promise is awaited. */
async function inject(app: FastifyInstance, options: InjectOptions) {
  return await app.inject(options);
}

export class InternalRequests {
  readonly #header: string;
  readonly #calls = new Map<string, Call>();
  #app: FastifyInstance | undefined;

  /**
   * `header`: names a request to the hook that gives it its caller; each instance of a server needs another name. A client
   * cannot guess the value, which works once.
   */
  constructor(header: string) {
    this.#header = header;
  }

  addHooks(app: FastifyInstance): void {
    this.#app = app;
    app.addHook("onRequest", (request, _reply, done) => {
      const id = request.headers[this.#header];
      if (typeof id === "string") {
        const call = this.#calls.get(id);
        request.internalCall = call;
        if (call !== undefined) call.request = request;
        this.#calls.delete(id);
        delete request.headers[this.#header];
      }
      done();
    });
  }

  /** Resolves with the answer. Rejects with the signal's reason when that aborts first, which ends the request. */
  readonly run = async (
    { caller, path, body, contentType = "application/json" }: InternalRequest,
    signal: AbortSignal,
  ): Promise<InternalAnswer> => {
    signal.throwIfAborted();
    if (this.#app === undefined) throw new Error("the server has no hook for internal requests");
    const aborted = Promise.withResolvers<never>();
    // A signal for this request only: listeners on that of a batch would keep every request until its end.
    const stopping = new AbortController();
    const abort = () => {
      stopping.abort(signal.reason);
      aborted.reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    const id = randomUUID();
    const call: Call = { caller, signal: stopping.signal };
    this.#calls.set(id, call);
    const answering = inject(this.#app, {
      url: path,
      ...(body === undefined
        ? { method: "GET", headers: { [this.#header]: id } }
        : {
            method: "POST",
            headers: { "content-type": contentType, [this.#header]: id },
            payload: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
          }),
    });
    // A request that has ended fails again.
    answering.catch(() => {});
    try {
      const { statusCode, headers: sent, body: answer } = await Promise.race([answering, aborted.promise]);
      const retryAfter = Number(sent["retry-after"] ?? Number.NaN);
      const settlement = call.request?.record.settlement?.();
      return {
        status: statusCode,
        requestId: String(sent["x-request-id"]),
        body: answer,
        retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
        shouldRetry: sent["x-should-retry"] !== "false",
        costNanoDollars: settlement?.costNanoDollars ?? null,
        usage: settlement?.used,
      };
    } finally {
      this.#calls.delete(id);
      signal.removeEventListener("abort", abort);
    }
  };
}
