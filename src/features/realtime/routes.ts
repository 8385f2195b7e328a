import type { WebSocket } from "@fastify/websocket";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { rawOperation, routes } from "../../http/operation.ts";
import { sentKey } from "../../http/sent-key.ts";
import { refusePlainRequest } from "../../http/sockets/accept-sockets.ts";
import { arrivingAt, ClientSocket } from "../../http/sockets/client-socket.ts";
import { headersOfMessages } from "../../http/sockets/handshake-headers.ts";
import type { OpenSockets } from "../../http/sockets/open-sockets.ts";
import { checkStanding, reauthenticate } from "../../http/standing.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import { parse } from "../../wire/openai/validate.ts";
import { toErrorEvent, toMessage } from "../../wire/realtime/server-event.ts";
import { RealtimeQuery, startOf, TranslationQuery } from "../../wire/realtime/session-query.ts";
import { toTranslationSettings, translationOf } from "../../wire/realtime/translation-session.ts";
import type { Accounts } from "../accounts/index.ts";
import { type ClientSecrets, isClientSecret, type OpenedClientSecret } from "./client-secrets.ts";
import type { RealtimeSession, RealtimeSessionOptions } from "./realtime-session.ts";
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

/** A session of either kind. */
type Session = Pick<RealtimeSession, "isBusy" | "start" | "receive" | "end">;

interface SessionStart {
  secret: OpenedClientSecret | undefined;
  connection: ClientSocket;
  options: Omit<RealtimeSessionOptions, "settings" | "fixed">;
}

/** Opens a session. Throws a Fault. */
type OpenSession = (request: FastifyRequest, start: SessionStart) => Promise<Session>;

/** GET /v1/realtime and /v1/realtime/translations: WebSockets */
export function realtime(parts: RealtimeParts): FastifyPluginAsync {
  const { inference } = parts.services;
  return routes(
    rawOperation(
      "GET /realtime",
      {
        summary: "Opens a session of the Realtime API: speech and events over a WebSocket.",
        tag: "Realtime",
        permission: "project",
        query: RealtimeQuery,
        route: { wsHandler: (socket, request) => serve(socket, request, parts, openVoice) },
      },
      refusePlainRequest,
    ),
    rawOperation(
      "GET /realtime/translations",
      {
        summary: "Opens a session that translates speech, over a WebSocket.",
        tag: "Realtime",
        permission: "project",
        query: TranslationQuery,
        route: { wsHandler: (socket, request) => serve(socket, request, parts, openTranslation) },
      },
      refusePlainRequest,
    ),
  );

  async function openVoice(request: FastifyRequest, { secret, options }: SessionStart): Promise<Session> {
    const { settings, fixed } = startOf(parse(RealtimeQuery, request.query), secret?.session, (id) =>
      inference.models.taskOf(request.caller, id),
    );
    request.record.model = settings.model ?? settings.transcription?.model;
    // Its resampler takes 20 MB, which most installations never need.
    const { RealtimeSession } = await import("./realtime-session.ts");
    return new RealtimeSession({ ...options, settings, fixed });
  }

  async function openTranslation(request: FastifyRequest, start: SessionStart): Promise<Session> {
    const { model } = parse(TranslationQuery, request.query);
    const { configuration, fixed } = translationOf(model, start.secret?.session);
    const translation = toTranslationSettings(configuration);
    request.record.model = translation.model;
    const { TranslationSession } = await import("./translation-session.ts");
    const finish = () => start.connection.end();
    return new TranslationSession({ ...start.options, translation, fixedTranslation: fixed, finish });
  }
}

async function serve(
  socket: WebSocket,
  request: FastifyRequest,
  parts: RealtimeParts,
  open: OpenSession,
): Promise<void> {
  request.record.isUpgraded = true;
  const { accounts, secrets, services, sessions } = parts;
  const { caller, id: requestId } = request;
  let session: Session | undefined;
  let leave = () => {};
  let expiry: NodeJS.Timeout | undefined;
  let idleCheck: Poll | undefined;
  const connection = new ClientSocket({
    socket,
    arriving: arrivingAt(request),
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
    const { maxSessionSeconds, idleTimeoutSeconds } = parts;
    const authenticate = secret?.authenticate ?? (() => reauthenticate(request, accounts));
    const opened = await open(request, {
      secret,
      connection,
      options: {
        services,
        requestId,
        callerHeaders: headersOfMessages(request.headers),
        authenticate,
        expiresAt: Date.now() + maxSessionSeconds * 1000,
        send: (event) => connection.send(toMessage(event)),
        flushed: () => connection.flushed(),
        reportBug: (failure) => request.reportFailure(failure),
        close: (failure) => {
          request.record.failure ??= failure;
          connection.close(failure);
          session?.end();
        },
      },
    });
    // `onClose` has passed: timers and the place among the sessions would stay.
    if (socket.readyState !== socket.OPEN) return opened.end();
    session = opened;
    leave = sessions.add({
      project: caller.projectId ?? caller.organizationId,
      checkStanding: secret?.checkStanding ?? (() => checkStanding(request, accounts)),
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
