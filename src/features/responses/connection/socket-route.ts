import type { WebSocket } from "@fastify/websocket";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { projectOf } from "../../../contracts/caller.ts";
import type { InternalRequests } from "../../../http/internal-requests.ts";
import { rawOperation, routes } from "../../../http/operation.ts";
import { refusePlainRequest } from "../../../http/sockets/accept-sockets.ts";
import { arrivingAt, ClientSocket } from "../../../http/sockets/client-socket.ts";
import { headersOfMessages } from "../../../http/sockets/handshake-headers.ts";
import type { OpenSockets } from "../../../http/sockets/open-sockets.ts";
import { checkStanding, reauthenticate } from "../../../http/standing.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { Poll } from "../../../kernel/jobs/poll.ts";
import { toFailureEvent } from "../../../wire/responses/socket-events.ts";
import type { Accounts } from "../../accounts/index.ts";
import { ResponseConnection } from "./response-connection.ts";
import type { UnstoredResponses } from "./unstored-responses.ts";

export interface ResponseSocketParts {
  accounts: Accounts;
  requests: InternalRequests;
  sockets: OpenSockets;
  unstored: UnstoredResponses;
  /** Whether the service stores responses. */
  isStoring: boolean;
  maxConnectionSeconds: number;
}

const EXPIRY_CHECK_MS = 200;

/** GET /v1/responses: a WebSocket */
export function responseSocket(parts: ResponseSocketParts): FastifyPluginAsync {
  return routes(
    rawOperation(
      "GET /responses",
      {
        summary: "Opens a WebSocket, on which `response.create` events create responses, whose events it sends.",
        tag: "Responses",
        permission: "project",
        route: { wsHandler: (socket, request) => serve(socket, request, parts) },
      },
      refusePlainRequest,
    ),
  );
}

function serve(socket: WebSocket, request: FastifyRequest, parts: ResponseSocketParts): void {
  request.record.isUpgraded = true;
  const { accounts, requests, sockets, unstored, isStoring, maxConnectionSeconds } = parts;
  const { caller, id: requestId } = request;
  let leave = () => {};
  let expiry: Poll | undefined;
  const authenticate = () => reauthenticate(request, accounts);
  const arriving = arrivingAt(request);
  const client = new ClientSocket({
    socket,
    arriving,
    onMessage: (message, isBinary) => connection.receive(message, isBinary),
    onClose: () => {
      expiry?.stop();
      connection.end();
      leave();
    },
  });
  const close = (failure: Fault) => {
    request.record.failure ??= failure;
    client.close(failure);
    connection.end();
  };
  const fail = (failure: Fault) => {
    client.send(JSON.stringify(toFailureEvent(failure, requestId)));
    close(failure);
  };
  const connection = new ResponseConnection({
    requests,
    unstored: unstored.open(),
    isStoring,
    requestId,
    headers: headersOfMessages(request.headers),
    address: request.ip,
    hold: arriving.hold,
    authenticate,
    send: (message) => client.send(message),
    flushed: () => client.flushed(),
    reportBug: (failure) => request.reportFailure(failure),
    close,
  });
  try {
    leave = sockets.add({
      project: projectOf(caller),
      checkStanding: () => checkStanding(request, accounts),
      isBusy: () => connection.isBusy,
      close: fail,
    });
  } catch (failure) {
    if (!(failure instanceof Fault)) throw failure;
    fail(failure);
    return;
  }
  const endsAt = performance.now() + maxConnectionSeconds * 1000;
  const endWhenIdle = () => {
    if (performance.now() < endsAt) return;
    connection.refuseFurther(expired(maxConnectionSeconds));
    if (!connection.isBusy) fail(expired(maxConnectionSeconds));
  };
  expiry = new Poll(endWhenIdle, { everyMs: EXPIRY_CHECK_MS, firstMs: maxConnectionSeconds * 1000 });
}

/** Codex reconnects for this code. */
function expired(seconds: number): Fault {
  const message = `The connection has reached its maximum length of ${seconds} seconds. Open another one.`;
  return invalidRequest(message, undefined, "websocket_connection_limit_reached");
}
