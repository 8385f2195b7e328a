/** The scope of routes that take WebSockets. */

import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { KEY_PROTOCOL } from "../sent-key.ts";
import { SOCKET_PATHS } from "./socket-paths.ts";

export interface SocketScopeOptions {
  /** Largest message of a client. */
  maxMessageBytes: number;
  /** Origins of web pages that may connect; `*`: every page. */
  origins: readonly string[];
}

/** Prepares a scope for routes with a `wsHandler`. A server has one such scope: each would take all handshakes. */
export async function acceptSockets(scope: FastifyInstance, options: SocketScopeOptions): Promise<void> {
  scope.addHook("onRoute", ({ url, wsHandler }) => {
    // The server would answer handshakes of other paths as plain requests.
    if (wsHandler !== undefined && !SOCKET_PATHS.has(url)) throw new Error(`${url} is not in SOCKET_PATHS`);
  });
  scope.addHook("onRequest", (request, _reply, done) => done(refusedOrigin(request, options.origins)));
  await scope.register(websocket, {
    options: { maxPayload: options.maxMessageBytes, handleProtocols: chooseProtocol },
    // A connection ends with its socket's `close`; what a client did to cause an error is in its close code.
    errorHandler: (error, socket, request) => {
      if (!isSocketError(error)) request.reportFailure(error);
      socket.terminate();
    },
  });
}

/** Handler of a plain request to a path that takes WebSockets. */
export function refusePlainRequest(): never {
  throw invalidRequest("This path takes a WebSocket: send `Connection: Upgrade` and `Upgrade: websocket`.");
}

/** Protocol of the answer to a handshake: the browser's key must not come back. */
function chooseProtocol(protocols: Set<string>): string | false {
  return [...protocols].find((each) => !each.startsWith(KEY_PROTOCOL)) ?? false;
}

/** Returns the Fault of a web page that may not connect; browsers do not apply CORS to WebSockets. */
function refusedOrigin(request: FastifyRequest, origins: readonly string[]): Fault | undefined {
  const { origin } = request.headers;
  if (origin === undefined || origins.includes("*") || origins.includes(origin)) return undefined;
  if (URL.parse(origin)?.host === request.host) return undefined;
  const message = `Pages of ${JSON.stringify(origin.slice(0, 200))} may not connect; server.cors_origins lists the origins that may.`;
  return new Fault("forbidden", message, { code: "origin_not_allowed" });
}

function isSocketError(error: Error): boolean {
  return typeof (error as NodeJS.ErrnoException).code === "string";
}
