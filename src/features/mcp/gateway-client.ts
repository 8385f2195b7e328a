/** The client of one request to /mcp, in either era of the protocol: what it can do, and what reaches it meanwhile. */

import { randomUUID } from "node:crypto";
import type { LoggingLevel, McpRequestContext, Server, ServerContext } from "@modelcontextprotocol/server";
import type { LRUCache } from "lru-cache";
import { untilAborted } from "../../kernel/async/until-aborted.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import type { ClientMessages } from "./client-messages.ts";
import { type ClientSession, readSession, SESSION_HEADER } from "./client-session.ts";
import type { GatewayRequest } from "./gateway-request.ts";
import { type Answer, type Peer, QUESTIONS } from "./peer.ts";

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
const LEVELS: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];
/** Level for clients of 2025 that have named none, or named it to another replica. */
const DEFAULT_LEVEL: LoggingLevel = "info";
const MAX_LOG_MESSAGES = 1000;
/** Progress of one call that its client gets; later ones would only fill its stream. */
const MAX_PROGRESS = 10_000;
const MAX_WAITING_PROGRESS = 100;
const MAX_PROGRESS_TEXT = 2_000;

/** Levels that clients of 2025 have named, by session. */
export type SessionLevels = LRUCache<string, LoggingLevel>;

export function newSessionLevels(): SessionLevels {
  return growingCache(10_000);
}

export interface GatewayClient {
  peer: Peer;
  /** Resolves once all that was sent meanwhile is on its way. */
  sent(): Promise<void>;
}

export interface GatewayClientOptions {
  server: Server;
  era: McpRequestContext["era"];
  request: GatewayRequest;
  session: ClientSession | undefined;
  messages: ClientMessages;
  levels: SessionLevels;
}

export function sessionOf({ requestInfo }: McpRequestContext): ClientSession | undefined {
  return readSession(requestInfo?.headers.get(SESSION_HEADER) ?? null);
}

export function questionKey(projectId: string | undefined, id: string): string {
  return `question ${projectId ?? ""} ${id}`;
}

export function cancellationKey(keyId: string, session: ClientSession, id: unknown): string {
  return `cancellation ${keyId} ${session.id} ${JSON.stringify(id)}`;
}

/** `context`: that of the handler which answers the request. */
export function gatewayClient(options: GatewayClientOptions, { mcpReq }: ServerContext): GatewayClient {
  const { era, session, levels } = options;
  const sending = new Set<Promise<unknown>>();
  const notify = (method: string, params: object) => {
    // The client may have left.
    const sent = mcpReq
      .notify({ method, params } as never)
      .catch(() => {})
      .finally(() => sending.delete(sent));
    sending.add(sent);
    return sent;
  };
  const envelope = (mcpReq.envelope ?? {}) as { [CAPABILITIES]?: Peer["capabilities"]; [LOG_LEVEL]?: LoggingLevel };
  const requested = era === "modern" ? envelope[LOG_LEVEL] : session && levels.get(session.id);
  const level = requested ?? (era === "legacy" ? DEFAULT_LEVEL : undefined);
  let messages = 0;
  const progressToken = mcpReq._meta?.progressToken;
  const requestState = mcpReq.requestState<string>();
  return {
    peer: {
      capabilities: (era === "modern" ? envelope[CAPABILITIES] : session?.capabilities) ?? {},
      logLevel: level,
      hasChosenLevel: requested !== undefined,
      ...(level !== undefined && {
        onLog: (message) => {
          messages += 1;
          const isLogged = LEVELS.indexOf(message.level) >= LEVELS.indexOf(level);
          if (isLogged && messages <= MAX_LOG_MESSAGES) notify("notifications/message", message);
        },
      }),
      onProgress:
        progressToken === undefined
          ? undefined
          : sendInTurn({ max: MAX_PROGRESS, maxWaiting: MAX_WAITING_PROGRESS }, ({ message, ...progress }) =>
              notify("notifications/progress", {
                ...progress,
                ...(message !== undefined && { message: message.slice(0, MAX_PROGRESS_TEXT) }),
                progressToken,
              }),
            ),
      ask: era === "legacy" && session !== undefined ? asker({ ...options, session }, mcpReq) : undefined,
      inputResponses: mcpReq.inputResponses,
      requestState,
    },
    sent: async () => {
      while (sending.size > 0) await Promise.all(sending);
    },
  };
}

/** Sends one value after the other, at most `max`. Of those that wait beyond `maxWaiting`, only the last is sent. */
export function sendInTurn<Value>(
  { max, maxWaiting }: { max: number; maxWaiting: number },
  send: (value: Value) => Promise<unknown>,
): (value: Value) => void {
  const waiting: Value[] = [];
  let count = 0;
  let isSending = false;
  const sendNext = () => {
    if (isSending || waiting.length === 0 || count === max) return;
    count += 1;
    isSending = true;
    void send(waiting.shift() as Value).finally(() => {
      isSending = false;
      sendNext();
    });
  };
  return (value) => {
    if (waiting.length >= maxWaiting) waiting.pop();
    waiting.push(value);
    sendNext();
  };
}

/** Sends questions within the stream of the request; their answers are requests of the client. */
function asker(
  { server, request, session, messages }: GatewayClientOptions & { session: ClientSession },
  { id: relatedRequestId, signal: leaving }: ServerContext["mcpReq"],
): NonNullable<Peer["ask"]> {
  return async (method, params, signal) => {
    const capability = QUESTIONS[method];
    if (capability === undefined || session.capabilities[capability] === undefined) {
      throw new Error(`The client does not answer ${method.slice(0, 100)}.`);
    }
    const id = randomUUID();
    const answer = Promise.withResolvers<Answer>();
    using _waiting = messages.expect(questionKey(request.caller.projectId, id), answer.resolve);
    await server.transport?.send({ jsonrpc: "2.0", id, method, params }, { relatedRequestId });
    const { result, error } = await untilAborted(answer.promise, AbortSignal.any([signal, leaving]));
    if (typeof result === "object" && result !== null) return result as Answer;
    const { message } = (error ?? {}) as { message?: unknown };
    throw new Error(`The client did not answer. ${typeof message === "string" ? message.slice(0, 500) : ""}`);
  };
}
