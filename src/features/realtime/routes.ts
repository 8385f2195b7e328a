import websocket, { type WebSocket } from "@fastify/websocket";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { KEY_PROTOCOL, reauthenticate, sentKey } from "../../http/authenticate.ts";
import { rawOperation } from "../../http/operation.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import { parse } from "../../wire/openai/validate.ts";
import { toErrorEvent, toMessage } from "../../wire/realtime/server-event.ts";
import { RealtimeQuery, startOf } from "../../wire/realtime/session-query.ts";
import type { Accounts } from "../accounts/index.ts";
import { type ClientSecrets, isClientSecret } from "./client-secrets.ts";
import type { RealtimeSession } from "./realtime-session.ts";
import type { RealtimeSessions } from "./realtime-sessions.ts";
import { RealtimeSocket } from "./realtime-socket.ts";
import type { RealtimeServices } from "./session-context.ts";

export interface RealtimeParts {
  accounts: Accounts;
  secrets: ClientSecrets;
  services: RealtimeServices;
  sessions: RealtimeSessions;
  /** Largest message of a client. */
  maxMessageBytes: number;
  maxSessionSeconds: number;
  /** Seconds without a message of the client after which its session ends. */
  idleTimeoutSeconds: number;
  /** Origins of web pages that may connect; `*`: every page. */
  origins: readonly string[];
}

/** GET /v1/realtime: a WebSocket */
export function realtime(parts: RealtimeParts): FastifyPluginAsync {
  return async (app) => {
    await app.register(websocket, {
      options: { maxPayload: parts.maxMessageBytes, handleProtocols: chooseProtocol },
      // The session ends with its socket's `close`; what a client did to cause an error is in its close code.
      errorHandler: (error, socket, request) => {
        if (!isSocketError(error)) request.reportFailure(error);
        socket.terminate();
      },
    });
    rawOperation(
      "GET /realtime",
      {
        summary: "Opens a session of the Realtime API: speech and events over a WebSocket.",
        tag: "Realtime",
        permission: "project",
        query: RealtimeQuery,
        route: {
          onRequest: (request, _reply, done) => done(refusedOrigin(request, parts.origins)),
          wsHandler: (socket, request) => serve(socket, request, parts),
        },
      },
      () => {
        throw invalidRequest("This path takes a WebSocket: send `Connection: Upgrade` and `Upgrade: websocket`.");
      },
    )(app);
  };
}

async function serve(socket: WebSocket, request: FastifyRequest, parts: RealtimeParts): Promise<void> {
  request.record.isUpgraded = true;
  const { accounts, secrets, services, sessions } = parts;
  const { caller, id: requestId } = request;
  let session: RealtimeSession | undefined;
  let leave = () => {};
  let expiry: NodeJS.Timeout | undefined;
  let idleCheck: Poll | undefined;
  const connection = new RealtimeSocket({
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
      callerHeaders: withoutHandshake(request.headers),
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

/** Removes headers of the WebSocket handshake, one of which may contain the key. */
function withoutHandshake(headers: FastifyRequest["headers"]): FastifyRequest["headers"] {
  const forwardedHeaders = Object.entries(headers).filter(
    ([name]) => !/^(sec-websocket-|upgrade$|connection$)/.test(name),
  );
  return Object.fromEntries(forwardedHeaders);
}

function isSocketError(error: Error): boolean {
  return typeof (error as NodeJS.ErrnoException).code === "string";
}

function expired(seconds: number): Fault {
  const message = `The session has reached its maximum length of ${seconds} seconds. Connect again.`;
  return invalidRequest(message, undefined, "session_expired");
}

function idle(seconds: number): Fault {
  return invalidRequest(`The session was idle for ${seconds} seconds. Connect again.`, undefined, "session_idle");
}
