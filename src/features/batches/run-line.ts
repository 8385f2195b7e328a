/**
 * Runs the lines of batches through the routes of the API, without a socket and a key: a line has the validation,
 * limits, moderation, storage and log line of the same request over HTTP.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyInstance } from "fastify";
import type { Caller } from "../accounts/caller.ts";
import type { BatchRunOptions } from "./batch-run.ts";

/** Resolves with the answer. Rejects with the signal's reason when that aborts first, which ends the request. */
type RunLine = BatchRunOptions["runLine"];

interface RunningLine {
  caller: Caller;
  signal: AbortSignal;
}

/** Cannot be forged by a client, unlike a header. */
const runningLine = new AsyncLocalStorage<RunningLine>();

/** Returns the line that the current request belongs to; undefined for a request over HTTP. */
export function currentLine(): RunningLine | undefined {
  return runningLine.getStore();
}

/** `appOf` returns the API's server, which is built after what runs batches. */
export function lineRunner(appOf: () => FastifyInstance): RunLine {
  return async ({ caller, path, body }, signal) => {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    // A signal for this line only: listeners on that of the batch would keep every request until its end.
    const line = new AbortController();
    const abort = () => {
      line.abort(signal.reason);
      aborted.reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    const headers = { "content-type": "application/json" };
    const payload = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    // Awaited inside: the request is made when the promise is awaited.
    const answering = runningLine.run({ caller, signal: line.signal }, async () =>
      appOf().inject({ method: "POST", url: path, headers, payload }),
    );
    // A request that is ended fails once more.
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
      };
    } finally {
      signal.removeEventListener("abort", abort);
    }
  };
}
