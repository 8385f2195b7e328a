/**
 * Runs the lines of batches through the routes of the API, without a socket and a key: a line has the validation,
 * limits, moderation, storage and log line of the same request over HTTP.
 */

import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyRequest, InjectOptions } from "fastify";
import type { InternalCall } from "../../http/authenticate.ts";
import type { Caller } from "../accounts/caller.ts";
import type { BatchRunOptions } from "./batch-run.ts";

/** Names a line to the hook that gives its request its caller. A client cannot guess the value, which works once. */
const HEADER = "x-parlance-batch-line";

type RunLine = BatchRunOptions["runLine"];

interface ServiceRequest {
  caller: Caller;
  path: string;
  /** Undefined: the request has the method GET. */
  body: Uint8Array | undefined;
  /** Default: JSON. */
  contentType?: string | undefined;
}

/** An answer, with what the request cost; null: the model has no price. */
type CostedAnswer = Awaited<ReturnType<RunLine>> & { costNanoDollars: number | null };

interface Line extends InternalCall {
  request?: FastifyRequest;
}

/** Makes the request at once, rather than when its promise is awaited. */
async function inject(app: FastifyInstance, options: InjectOptions) {
  return await app.inject(options);
}

export class LineRequests {
  readonly #header: string;
  readonly #lines = new Map<string, Line>();
  #app: FastifyInstance | undefined;

  /** `header`: its name; each instance of a server needs another one. */
  constructor(header = HEADER) {
    this.#header = header;
  }

  addHooks(app: FastifyInstance): void {
    this.#app = app;
    app.addHook("onRequest", (request, _reply, done) => {
      const id = request.headers[this.#header];
      if (typeof id === "string") {
        const line = this.#lines.get(id);
        request.internalCall = line;
        if (line !== undefined) line.request = request;
        this.#lines.delete(id);
        delete request.headers[this.#header];
      }
      done();
    });
  }

  /** Resolves with the answer. Rejects with the signal's reason when that aborts first, which ends the request. */
  readonly run = async (
    { caller, path, body, contentType = "application/json" }: ServiceRequest,
    signal: AbortSignal,
  ): Promise<CostedAnswer> => {
    signal.throwIfAborted();
    if (this.#app === undefined) throw new Error("the server has no hook for the lines of batches");
    const aborted = Promise.withResolvers<never>();
    // A signal for this line only: listeners on that of the batch would keep every request until its end.
    const stopping = new AbortController();
    const abort = () => {
      stopping.abort(signal.reason);
      aborted.reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    const id = randomUUID();
    const line: Line = { caller, signal: stopping.signal };
    this.#lines.set(id, line);
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
      return {
        status: statusCode,
        requestId: String(sent["x-request-id"]),
        body: answer,
        retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
        shouldRetry: sent["x-should-retry"] !== "false",
        costNanoDollars: line.request?.record.settlement?.()?.costNanoDollars ?? null,
      };
    } finally {
      this.#lines.delete(id);
      signal.removeEventListener("abort", abort);
    }
  };
}
