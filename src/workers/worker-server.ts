/** Server of a worker: requests that it can answer alone; the owner answers all others. */

import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Callers, MAX_KEY_LENGTH } from "../features/accounts/callers.ts";
import { hashApiKey } from "../features/accounts/keys/api-key.ts";
import { chatCompletions } from "../features/chat/routes.ts";
import { completions } from "../features/completions/routes.ts";
import { embeddings } from "../features/embeddings/routes.ts";
import { needsResolver } from "../features/files/content-resolver.ts";
import { messages } from "../features/messages/routes.ts";
import { moderations } from "../features/moderations/routes.ts";
import { rerank } from "../features/rerank/routes.ts";
import { type BareServerOptions, bareServer, connectionTimeoutMs } from "../http/bare-server.ts";
import { BodyMemory, boundBodyMemory } from "../http/body-memory.ts";
import { cutSlowReaders } from "../http/connections.ts";
import { allowOrigins } from "../http/cors.ts";
import { keepJsonBodies } from "../http/json-body.ts";
import type { LabelReader } from "../http/label-requests.ts";
import { labelRequests } from "../http/label-requests.ts";
import { sentKey } from "../http/sent-key.ts";
import type { ServerSettings } from "../http/settings.ts";
import type { Inference } from "../inference/inference.ts";
import { Fault, unavailable } from "../kernel/faults.ts";
import type { Server } from "../serving/server.ts";
import { isServerTool } from "../wire/anthropic/messages-server-tools.ts";
import { findReferences } from "../wire/content-references.ts";
import { hasImages, hasMedia } from "../wire/media-parts.ts";
import type { ForwardToOwner } from "./forward-to-owner.ts";

export interface WorkerServerOptions extends Omit<BareServerOptions, "intercept"> {
  inference: Inference;
  callers: Callers;
  owner: ForwardToOwner;
  settings: ServerSettings;
  /** Bytes of large bodies that this worker may hold at once. */
  maxBodiesBytes: number;
  /** Whether this worker can answer for the model, in place of the owner. */
  servesModel: (id: string) => boolean;
  /** Undefined: no labels are recorded. */
  readLabels: LabelReader | undefined;
}

/** Operations whose models may all be upstreams'. */
const PATHS: ReadonlySet<string> = new Set([
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/messages",
  "/v1/embeddings",
  "/v1/moderations",
  "/v1/rerank",
]);

export function buildWorkerServer(options: WorkerServerOptions): Server {
  const { inference, owner, settings } = options;
  const { unknownFields } = settings;
  const { app, records } = bareServer({
    ...options,
    intercept: (request, reply) => {
      const isServed = request.method === "POST" && PATHS.has(request.url);
      if (!isServed) passOn(request, reply, owner);
      return !isServed;
    },
  });
  app.server.on("upgrade", (request, socket, head) => owner.upgrade(request, socket as Socket, head));
  allowOrigins(app, settings.corsOrigins);
  let isDraining = false;
  app.addHook("onRequest", (_request, reply, done) => {
    if (!isDraining) return done();
    reply.header("connection", "close");
    done(unavailable("The service is stopping. Try again in a moment.", "server_is_overloaded", 5));
  });
  app.register(
    async (scope) => {
      cutSlowReaders(scope, connectionTimeoutMs(settings) / 1000);
      keepJsonBodies(scope);
      authenticate(scope, options);
      boundBodyMemory(scope, new BodyMemory(options.maxBodiesBytes));
      passOnOtherModels(scope, options);
      labelRequests(scope, options.readLabels, options.callers);
      scope.register(chatCompletions(inference, unknownFields));
      scope.register(completions(inference, unknownFields));
      scope.register(messages(inference, unknownFields));
      scope.register(embeddings(inference, unknownFields));
      scope.register(moderations(inference, settings.maxModerationInputs, unknownFields));
      scope.register(rerank(inference, unknownFields, { returnsDocuments: true }));
    },
    { prefix: "/v1" },
  );
  return {
    app,
    drain: () => {
      isDraining = true;
      app.server.close();
      app.server.closeIdleConnections();
    },
    openRequests: () => records.open + owner.open,
  };
}

/** Admits the keys of projects. The owner answers every other request, and counts wrong keys. */
function authenticate(scope: FastifyInstance, { callers, owner }: WorkerServerOptions): void {
  scope.decorate("authenticates", "project");
  const prove = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const admit = (caller: typeof request.caller | undefined) => {
      if (caller?.kind !== "project") return passOn(request, reply, owner);
      request.caller = caller;
      callers.noteClient(caller, { address: request.ip, client: request.headers["user-agent"] });
      reply.header("openai-organization", caller.organizationId);
      done();
    };
    const key = keyOf(request);
    if (key === undefined) return void passOn(request, reply, owner);
    const cachedCaller = callers.findKnown(key);
    if (cachedCaller !== undefined) return void admit(cachedCaller);
    callers.find(hashApiKey(key)).then(admit, () => passOn(request, reply, owner));
  };
  scope.addHook("onRequest", prove);
  // As in the owner: a client can take minutes to send the body, in which its key may end.
  scope.addHook("preValidation", prove);
}

/** Undefined where the owner has to look at more than the key. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  if (headers["openai-organization"] || headers["openai-project"]) return undefined;
  try {
    const key = sentKey(headers);
    return key !== undefined && key.length <= MAX_KEY_LENGTH ? key : undefined;
  } catch (failure) {
    if (failure instanceof Fault) return undefined;
    throw failure;
  }
}

/** Passes on requests for local models and unknown ones, those that a local model moderates, and those that are recorded. */
function passOnOtherModels(scope: FastifyInstance, options: WorkerServerOptions): void {
  const { inference, owner, servesModel, settings } = options;
  scope.addHook("preHandler", (request, reply, done) => {
    const {
      model,
      moderation,
      messages,
      input,
      prompt,
      store,
      tools,
      mcp_servers: servers,
      web_search_options: search,
    } = (request.body ?? {}) as Record<string, unknown>;
    // The owner has the database.
    const isRecorded = store === true || inference.isRecorded(request.caller);
    const isModerated =
      moderation !== undefined || (typeof model === "string" && inference.isGuarded(request.caller, model));
    // The owner reads files and fetches what addresses refer to.
    // Inputs of embeddings refer to nothing, and may be 300,000 numbers.
    const inputs = request.url === "/v1/moderations" ? input : undefined;
    const references = [...findReferences(messages, "messages"), ...findReferences(inputs, "input")];
    // The owner reads stored prompts. Those of text completions are texts or lists.
    const isReference = typeof prompt === "object" && prompt !== null && !Array.isArray(prompt);
    const isComplete = !needsResolver(settings.upstreamUrls, references);
    // The owner reads documents, recordings and images for models that take only texts.
    const isReadable =
      (!hasMedia(messages) || (typeof model === "string" && inference.models.mayForwardMedia(request.caller, model))) &&
      !(hasImages(messages) && typeof model === "string" && inference.models.isBlind(request.caller, model));
    // The owner knows which tools a request would use.
    const isLimited = options.callers.policyOf(request.caller, "disabledTools").length > 0;
    // The owner has connections to MCP servers, the search engine and containers.
    const hasTools = servers !== undefined || search !== undefined || hasServerTool(tools);
    const isHere = !isLimited && !hasTools && isComplete && isReadable && !isReference && !isModerated && !isRecorded;
    const isServed = typeof model === "string" && servesModel(model) && isHere;
    if (isServed) done();
    else passOn(request, reply, owner);
  });
}

/** Whether tools of Messages contain one that the service may run. */
function hasServerTool(tools: unknown): boolean {
  return Array.isArray(tools) && tools.some((tool: { type?: unknown } | null) => isServerTool(tool ?? {}));
}

function passOn(request: FastifyRequest, reply: FastifyReply, owner: ForwardToOwner): void {
  // The owner logs the request and counts it.
  if (request.record !== undefined) request.record.isPassedOn = true;
  reply.hijack();
  owner.forward(request.raw, reply.raw, request.rawBody);
}
