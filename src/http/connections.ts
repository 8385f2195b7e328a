/** Limits connections before and after their requests: open descriptors and slow readers. */

import { close, open } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { devNull } from "node:os";
import type { FastifyInstance } from "fastify";
import { ActiveSet } from "../kernel/async/active-set.ts";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import { Poll } from "../kernel/jobs/poll.ts";
import type { Logger } from "../kernel/logger.ts";

export interface ConnectionOptions {
  /** Maximum connections of one remote address; undefined: limited only by the descriptors. */
  maxPerAddress: number | undefined;
  /** Default: counts the connections of this process. */
  counter?: ConnectionCounter | undefined;
  logger: Logger;
  /** Answers a request that no route sees. */
  refuse: (response: ServerResponse, failure: Fault) => void;
}

/** Counts open connections by address. */
export interface ConnectionCounter {
  /** Counts a connection; false, or a promise of it, when the address has too many. */
  open(address: string): boolean | Promise<boolean>;
  close(address: string): void;
}

const DESCRIPTOR_CHECK_MS = 1000;

/** Limits connections by address, logs exhausted descriptors and answers invalid Expect headers. */
export function guardConnections(server: Server, { maxPerAddress, counter, logger, refuse }: ConnectionOptions): void {
  logExhaustedDescriptors(server, logger);
  // Node would answer with an empty 417.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const expectation = JSON.stringify(request.headers.expect?.slice(0, 100));
    response.setHeader("connection", "close");
    refuse(response, new Fault("expectation-failed", `The Expect header must be 100-continue, not ${expectation}.`));
  });
  if (maxPerAddress !== undefined) capPerAddress(server, counter ?? new AddressCounts(maxPerAddress));
}

/**
 * Logs one line when the process runs out of descriptors and one when it recovers. libuv then accepts and closes
 * connections without reporting an error, so a periodic attempt to open a file detects the state.
 */
function logExhaustedDescriptors(server: Server, logger: Logger): void {
  let areExhausted = false;
  const check = () =>
    open(devNull, "r", (error, descriptor) => {
      if (error === null) close(descriptor, () => {});
      const isRefused = error?.code === "EMFILE" || error?.code === "ENFILE";
      if (isRefused === areExhausted) return;
      areExhausted = isRefused;
      const advice =
        "Raise the limit on open files (ulimit -n, LimitNOFILE) or set server.max_connections_per_address.";
      if (isRefused) {
        logger.error({ code: error.code }, `No file descriptors are left: new connections are closed. ${advice}`);
      } else logger.info("File descriptors are available again: connections are accepted.");
    });
  const poll = new Poll(check, { everyMs: DESCRIPTOR_CHECK_MS });
  server.once("close", () => poll.stop());
}

function capPerAddress(server: Server, counter: ConnectionCounter): void {
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined) return;
    const admit = (isAdmitted: boolean) => {
      if (!isAdmitted) socket.resetAndDestroy();
      else if (socket.destroyed) counter.close(address);
      else socket.once("close", () => counter.close(address));
    };
    const opened = counter.open(address);
    if (typeof opened === "boolean") admit(opened);
    else opened.then(admit, () => socket.destroy());
  });
}

/** Connections that are open now, by address. */
export class AddressCounts implements ConnectionCounter {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  open(address: string): boolean {
    const count = this.#counts.get(address) ?? 0;
    if (count >= this.#max) return false;
    this.#counts.set(address, count + 1);
    return true;
  }

  close(address: string): void {
    const remaining = (this.#counts.get(address) ?? 1) - 1;
    if (remaining > 0) this.#counts.set(address, remaining);
    else this.#counts.delete(address);
  }
}

/** Refuses a request without a Host header (RFC 9112, section 3.2). Node would answer without a body. */
export function requireHost(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (request.raw.headers.host !== undefined || request.raw.httpVersion === "1.0") return done();
    reply.header("connection", "close");
    done(invalidRequest("The Host header is missing; HTTP/1.1 requires it."));
  });
}

/** Disconnects clients that read slowly: those whose answer is not sent within `seconds` of the request's arrival. */
export function cutSlowReaders(scope: FastifyInstance, seconds: number): void {
  const unfinished = new ActiveSet<{ response: ServerResponse; arrivedAt: number }>();
  scope.addHook("onRequest", (_request, { raw }, done) => {
    const entry = unfinished.add({ response: raw, arrivedAt: performance.now() });
    raw.on("close", () => unfinished.delete(entry));
    done();
  });
  const cut = () => {
    const latest = performance.now() - seconds * 1000;
    for (const { response, arrivedAt } of unfinished) if (arrivedAt < latest) response.destroy();
  };
  const poll = new Poll(cut, { everyMs: 1000 * Math.min(1, seconds / 20) });
  scope.addHook("onClose", (_instance, done) => {
    poll.stop();
    done();
  });
}
