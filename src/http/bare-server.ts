/** A server without routes: its timeouts, limits, error format and request log. */

import type { IncomingMessage } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Inference } from "../inference/inference.ts";
import { newOrderedId } from "../kernel/id.ts";
import type { Logger } from "../kernel/logger.ts";
import type { RequestMeasure } from "../observability/metrics.ts";
import type { Tracing } from "../observability/trace.ts";
import type { RegisteredOperation } from "../wire/openapi/operation.ts";
import { type ConnectionCounter, guardConnections, requireHost } from "./connections.ts";
import { decompressBodies } from "./decompress.ts";
import { answerBrokenHttp, answerUnroutable, answerWithoutRoute, useErrorFormat } from "./errors.ts";
import { useJsonBodies } from "./json-body.ts";
import { collectOperations } from "./operation.ts";
import type { RequestEntry } from "./request-entry.ts";
import { type EndedRequest, type OpenRequests, useRequestLog } from "./request-log.ts";
import type { ServerSettings } from "./settings.ts";
import { SOCKET_PATHS } from "./sockets/socket-paths.ts";
import { traceRequests } from "./trace-requests.ts";

type BareServerSettings = Pick<ServerSettings, "maxBodyBytes" | "receiveTimeoutSeconds" | "requestTimeoutSeconds"> &
  Partial<Pick<ServerSettings, "maxConnectionsPerAddress" | "trustedProxies">>;

export interface BareServerOptions {
  settings: BareServerSettings;
  logger: Logger;
  /** Address of the service in browsers. */
  publicUrl?: string | undefined;
  measure: (request: RequestMeasure) => void;
  /** Called with the metadata of each request of a project. */
  recordRequest?: (entry: RequestEntry) => void;
  /** Called with the content of each request that is recorded; undefined: nothing is. */
  recordContent?: ((request: EndedRequest) => void) | undefined;
  inference?: Inference;
  /** Undefined: requests are not traced. */
  tracing?: Tracing | undefined;
  /** Counts connections by address; default: in this process. */
  connectionCounter?: ConnectionCounter;
  /** Called with each request before anything else. Returns true if it answers the request itself. */
  intercept?: (request: FastifyRequest, reply: FastifyReply) => boolean;
}

interface BareServer {
  app: FastifyInstance;
  records: OpenRequests;
  /** Operations of the routes, once they are registered. */
  operations: readonly RegisteredOperation[];
}

/**
 * Time limit for headers: 16 KiB take less over a slow link, and a connection that trickles them holds a descriptor.
 */
const MAX_HEADERS_MS = 15_000;
/** Margin for sending the error of an answer that exceeds its time limit. */
const SPARE_MS = 2000;

/** Returns the idle timeout of a connection: a chat with moderated input may be silent for two deadlines. */
export function connectionTimeoutMs({
  receiveTimeoutSeconds,
  requestTimeoutSeconds,
}: Pick<ServerSettings, "receiveTimeoutSeconds" | "requestTimeoutSeconds">): number {
  return 1000 * (2 * requestTimeoutSeconds) + Math.max(1000 * receiveTimeoutSeconds, SPARE_MS);
}

/** Whether the request is the handshake of a WebSocket that a route takes. */
function isHandshake({ method, url = "", headers }: IncomingMessage): boolean {
  const [path = ""] = withoutTrailingSlash({ url }).split("?", 1);
  return method === "GET" && SOCKET_PATHS.has(path) && headers.upgrade?.toLowerCase() === "websocket";
}

/** Closes the sockets of refused handshakes: Node stops reading them, so that it would not notice their end. */
function closeRefusedUpgrades(app: FastifyInstance): void {
  const upgrades = new WeakSet<IncomingMessage>();
  app.server.on("upgrade", (request: IncomingMessage) => upgrades.add(request));
  app.addHook("onResponse", (request, _reply, done) => {
    if (upgrades.has(request.raw)) request.raw.socket.destroySoon();
    done();
  });
}

/** Without it, /v1/vector_stores/ is the store without a name. Pages outside the API have paths that end in a slash. */
function withoutTrailingSlash({ url = "/" }: { url?: string | undefined }): string {
  return url.startsWith("/v1/") ? url.replace(/^([^?]*[^?/])\/+(?=\?|$)/, "$1") : url;
}

/** Fastify would load Ajv and fast-json-stringify, 1.7 MB of heap, for JSON schemas that no route has. */
function refuseSchema(): never {
  throw new Error("Routes have no Fastify schema: pass operation({ … }), whose Zod schemas validate");
}

export function bareServer(options: BareServerOptions): BareServer {
  const { settings, inference, intercept, logger } = options;
  const receiveTimeout = settings.receiveTimeoutSeconds * 1000;
  const app = fastify({
    bodyLimit: settings.maxBodyBytes,
    trustProxy: [...(settings.trustedProxies ?? [])],
    requestTimeout: receiveTimeout,
    http: {
      // Interval at which Node checks for late requests; its default is 30 seconds.
      connectionsCheckingInterval: 1000,
      // A request with another `Upgrade`, such as h2c, is answered as if it had none.
      shouldUpgradeCallback: (request) => inference !== undefined && isHandshake(request),
      // A hook below answers in the wire format.
      requireHostHeader: false,
      requestTimeout: receiveTimeout,
      // Node detects no late request if this exceeds requestTimeout.
      headersTimeout: Math.min(receiveTimeout, MAX_HEADERS_MS),
    },
    // Idle timeout of a connection with an open request: a client that does not read would hold its answer
    // indefinitely.
    connectionTimeout: connectionTimeoutMs(settings),
    // Longer than the common idle timeout of proxies, so the proxy closes first and sees no reset.
    keepAliveTimeout: 75_000,
    genReqId: () => newOrderedId("req_"),
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: answerUnroutable,
    // A hook below answers requests during draining in the wire format.
    return503OnClosing: false,
    forceCloseConnections: true,
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    routerOptions: { maxParamLength: 500 },
    rewriteUrl: withoutTrailingSlash,
  });
  app.decorateRequest("internalCall");
  app.decorateRequest("authentication");
  app.decorate("publicUrl", options.publicUrl);
  app.addHook("onRequest", (_request, reply, done) => {
    // On the raw response, which streams write, too. A browser must not take JSON or a download for a page.
    reply.raw.setHeader("x-content-type-options", "nosniff");
    done();
  });
  // Without `done`, the hooks and the route of this request do not run.
  if (intercept !== undefined) {
    app.addHook("onRequest", (request, reply, done) => {
      if (!intercept(request, reply)) done();
    });
  }
  const records = useRequestLog(app, {
    logger,
    measure: options.measure,
    recordRequest: options.recordRequest ?? (() => {}),
    recordContent: options.recordContent,
    catalogIdOf: (id) => inference?.models.idOf(id),
  });
  const operations = collectOperations(app);
  traceRequests(app, options.tracing);
  useErrorFormat(app);
  requireHost(app);
  closeRefusedUpgrades(app);
  const maxPerAddress = settings.maxConnectionsPerAddress;
  const counter = options.connectionCounter;
  guardConnections(app.server, { maxPerAddress, counter, logger, refuse: answerWithoutRoute });
  useJsonBodies(app);
  decompressBodies(app, settings.maxBodyBytes);
  return { app, records, operations };
}
