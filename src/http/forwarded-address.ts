/** Address of the client of a request that a worker passed on. */

import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";

/** Holds the secret of the service's workers and the client's address. Never leaves the machine. */
export const FORWARDED_HEADER = "x-parlance-worker-client";

/** Gives requests of workers, and no others, the address of their client in place of the socket's. */
export function trustWorkers(server: Server, secret: string): void {
  const expected = Buffer.from(secret);
  const restore = (request: IncomingMessage) => {
    const [proof = "", address] = String(request.headers[FORWARDED_HEADER] ?? "").split(" ", 2);
    delete request.headers[FORWARDED_HEADER];
    const proofBytes = Buffer.from(proof);
    if (proofBytes.length !== expected.length || !timingSafeEqual(proofBytes, expected)) return;
    // A connection carries one request at a time, each maybe of another client.
    Object.defineProperty(request.socket, "remoteAddress", { value: address || undefined, configurable: true });
  };
  server.prependListener("request", restore);
  server.prependListener("upgrade", restore);
}
