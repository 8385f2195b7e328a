import type { WebSocket } from "@fastify/websocket";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { reauthenticate, sentKey } from "../../http/authenticate.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { refusePlainRequest } from "../../http/sockets/accept-sockets.ts";
import { ClientSocket } from "../../http/sockets/client-socket.ts";
import { headersOfMessages } from "../../http/sockets/handshake-headers.ts";
import type { OpenSockets } from "../../http/sockets/open-sockets.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import { parse } from "../../wire/openai/validate.ts";
import { toErrorEvent, toMessage } from "../../wire/realtime/server-event.ts";
import { RealtimeQuery, startOf } from "../../wire/realtime/session-query.ts";
import type { Accounts } from "../accounts/index.ts";
import { type ClientSecrets, isClientSecret } from "./client-secrets.ts";
import type { RealtimeSession } from "./realtime-session.ts";
import type { RealtimeServices } from "./session-context.ts";

export interface RealtimeParts {
  accounts: Accounts;
  secrets: ClientSecrets;
  services: RealtimeServices;
  sessions: OpenSockets;
  maxSessionSeconds: number;
  /** Seconds without a message of the client after which its session ends. */
  idleTimeoutSeconds: number;
}

/** GET /v1/realtime: a WebSocket */
export function realtime(parts: RealtimeParts): FastifyPluginAsync {
  return routes(
    rawOperation(
      "GET /realtime",
      {
        summary: "Opens a session of the Realtime API: speech and events over a WebSocket.",
        tag: "Realtime",
        permission: "project",
        query: RealtimeQuery,
        route: { wsHandler: (socket, request) => serve(socket, request, parts) },
      },
      refusePlainRequest,
    ),
  );
}

async function serve(socket: WebSocket, request: FastifyRequest, parts: RealtimeParts): Promise<void> {
  request.record.isUpgraded = true;
  const { accounts, secrets, services, sessions } = parts;
  const { caller, id: requestId } = request;
  let session: RealtimeSession | undefined;
  let leave = () => {};
  let expiry: NodeJS.Timeout | undefined;
  let idleCheck: Poll | undefined;
  const connection = new ClientSocket({
    socket,
    onMessage: async (message, isBinary) => {
      await started;
      await session?.receive(message, isBinary);
    },
    onClose: () => {
      clearTimeout(expiry);
      idleCheck?.stop();
      session?.end();
      leave();
    },
  });
  const fail = (failure: unknown) => {
    const fault = failure instanceof Fault ? failure : new Fault("unavailable", "The session has failed.");
    if (failure !== fault) request.reportFailure(failure);
    request.record.failure ??= failure;
    connection.send(toMessage(toErrorEvent(failure, requestId, undefined)));
    connection.close(fault);
    session?.end();
  };
  const start = async () => {
    const key = sentKey(request.headers);
    const secret = isClientSecret(key) ? await secrets.open(key) : undefined;
    const { settings, fixed } = startOf(parse(RealtimeQuery, request.query), secret?.session, (id) =>
      services.inference.models.taskOf(caller, id),
    );
    request.record.model = settings.model ?? settings.transcription?.model;
    const { maxSessionSeconds, idleTimeoutSeconds } = parts;
    // Its resampler takes 20 MB, which most installations never need.
    const { RealtimeSession } = await import("./realtime-session.ts");
    // `onClose` has passed: timers and the place among the sessions would stay.
    if (socket.readyState !== socket.OPEN) return;
    session = new RealtimeSession({
      services,
      settings,
      fixed,
      requestId,
      callerHeaders: headersOfMessages(request.headers),
      authenticate: secret?.authenticate ?? (() => reauthenticate(request, accounts)),
      expiresAt: Date.now() + maxSessionSeconds * 1000,
      send: (event) => connection.send(toMessage(event)),
      flushed: () => connection.flushed(),
      reportBug: (failure) => request.reportFailure(failure),
      close: (failure) => {
        request.record.failure ??= failure;
        connection.close(failure);
        session?.end();
      },
    });
    leave = sessions.add({
      project: caller.projectId ?? caller.organizationId,
      isBusy: () => session?.isBusy === true,
      close: fail,
    });
    expiry = setTimeout(() => fail(expired(maxSessionSeconds)), maxSessionSeconds * 1000).unref();
    const endIfIdle = () => {
      const isIdle = performance.now() - connection.lastMessageAt > idleTimeoutSeconds * 1000;
      if (isIdle && session?.isBusy === false) fail(idle(idleTimeoutSeconds));
    };
    idleCheck = new Poll(endIfIdle, { everyMs: Math.min(1000, idleTimeoutSeconds * 100) });
    await session.start();
  };
  const started = start().catch(fail);
  await started;
}

function expired(seconds: number): Fault {
  const message = `The session has reached its maximum length of ${seconds} seconds. Connect again.`;
  return invalidRequest(message, undefined, "session_expired");
}

function idle(seconds: number): Fault {
  return invalidRequest(`The session was idle for ${seconds} seconds. Connect again.`, undefined, "session_idle");
}
