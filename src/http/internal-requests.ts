/**
 * Requests that the service makes itself, such as the lines of batches: through its routes, without a socket and a key.
 * They have the validation, limits, moderation, storage and log line of the same request over HTTP.
 */

import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
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
  /** Further headers. */
  headers?: IncomingHttpHeaders | undefined;
  /** Address of the client for whom the request is made. Default: that of this machine. */
  address?: string | undefined;
}

/** An answer as it is sent. The body fails when the signal aborts; destroying it ends the request. */
export interface InternalStream {
  status: number;
  headers: OutgoingHttpHeaders;
  body: Readable;
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
    app.addHook("onRequest", (request, reply, done) => {
      const id = request.headers[this.#header];
      if (typeof id === "string") {
        const call = this.#calls.get(id);
        request.internalCall = call;
        if (call !== undefined) {
          call.request = request;
          ignoreLateErrors(reply.raw);
        }
        this.#calls.delete(id);
        delete request.headers[this.#header];
      }
      done();
    });
  }

  /** Resolves with the answer. Rejects with the signal's reason when that aborts first, which ends the request. */
  readonly run = async (request: InternalRequest, signal: AbortSignal): Promise<InternalAnswer> => {
    const { answering, call, end } = this.#begin(request, signal);
    try {
      const { statusCode, headers: sent, body: answer } = await answering;
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
      end();
    }
  };

  /** Resolves with the headers of the answer, whose body follows. Rejects like `run`. */
  readonly stream = async (request: InternalRequest, signal: AbortSignal): Promise<InternalStream> => {
    const { answering, stop, end } = this.#begin(request, signal, { payloadAsStream: true });
    try {
      const answer = await answering;
      const body = answer.stream();
      body.once("close", () => {
        if (!body.readableEnded) stop();
        end();
      });
      return { status: answer.statusCode, headers: answer.headers, body };
    } catch (failure) {
      end();
      throw failure;
    }
  };

  /** Throws the signal's reason when that has aborted. `end` has to be called once the answer has been read. */
  #begin(request: InternalRequest, signal: AbortSignal, options: InjectOptions = {}) {
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
    const call: Call = { caller: request.caller, signal: stopping.signal };
    this.#calls.set(id, call);
    const injected = inject(this.#app, { ...options, ...toInjection(request, { [this.#header]: id }) });
    const answering = Promise.race([injected, aborted.promise]);
    // A request that has ended fails again.
    injected.catch(() => {});
    answering.catch(() => {});
    return {
      answering,
      call,
      stop: () => stopping.abort(),
      end: () => {
        this.#calls.delete(id);
        signal.removeEventListener("abort", abort);
      },
    };
  }
}

/**
 * What is written to a streamed answer after its end is an error of its body, which would end the process where nobody
 * reads that: the request may have been aborted before its answer began.
 */
function ignoreLateErrors(response: ServerResponse & { _lightMyRequest?: { stream?: Readable } }): void {
  response._lightMyRequest?.stream?.on("error", () => {});
}

function toInjection(
  { path, body, contentType = "application/json", headers, address }: InternalRequest,
  proof: Record<string, string>,
): InjectOptions {
  const shared = { url: path, ...(address === undefined ? {} : { remoteAddress: address }) };
  if (body === undefined) return { ...shared, method: "GET", headers: { ...headers, ...proof } };
  return {
    ...shared,
    method: "POST",
    headers: { ...headers, "content-type": contentType, ...proof },
    payload: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
  };
}
