/** Builds the server with its scopes and routes, without listening. */

import type { FastifyInstance } from "fastify";
import type { Accounts } from "./features/accounts/accounts.ts";
import { type OrganizationParts, organization } from "./features/accounts/organization-routes.ts";
import { audioSpeech } from "./features/audio/speech-routes.ts";
import { audioTranscriptions, type TranscriptionParts } from "./features/audio/transcription-routes.ts";
import { audioVoices } from "./features/audio/voice-routes.ts";
import type { Batches } from "./features/batches/batches.ts";
import { batches } from "./features/batches/routes.ts";
import { chatCompletions } from "./features/chat/routes.ts";
import { completions } from "./features/completions/routes.ts";
import { consolePages } from "./features/console/console-pages.ts";
import { consoleSession } from "./features/console/console-session.ts";
import { embeddings } from "./features/embeddings/routes.ts";
import type { BodyContent, ContentResolver } from "./features/files/content-resolver.ts";
import { type FileParts, files } from "./features/files/routes.ts";
import { messages } from "./features/messages/routes.ts";
import { models } from "./features/models/routes.ts";
import { moderations } from "./features/moderations/routes.ts";
import { withAnonymous } from "./features/ollama/anonymous.ts";
import { ollama } from "./features/ollama/ollama.ts";
import { requireLocalHost } from "./features/ollama/require-local-host.ts";
import { answerAsOllama } from "./features/ollama/running-notice.ts";
import { openApi } from "./features/openapi/routes.ts";
import { type Operations, operations } from "./features/operations/operations.ts";
import { withClientSecrets } from "./features/realtime/client-secret-authenticator.ts";
import { realtimeClientSecrets } from "./features/realtime/client-secret-routes.ts";
import { RealtimeSessions } from "./features/realtime/realtime-sessions.ts";
import { realtime } from "./features/realtime/routes.ts";
import type { RealtimeServices } from "./features/realtime/session-context.ts";
import { rerank } from "./features/rerank/routes.ts";
import { conversations } from "./features/responses/conversation-routes.ts";
import type { ResponseStorage } from "./features/responses/response-storage.ts";
import { responses } from "./features/responses/routes.ts";
import { storedResponses } from "./features/responses/stored-response-routes.ts";
import { authenticateScope, type CountWrongKey, isAdministrator, requireKey } from "./http/authenticate.ts";
import { type BareServerOptions, bareServer, connectionTimeoutMs } from "./http/bare-server.ts";
import { BodyMemory, boundBodyMemory } from "./http/body-memory.ts";
import { cutSlowReaders } from "./http/connections.ts";
import { allowOrigins } from "./http/cors.ts";
import type { Inference } from "./inference/inference.ts";
import { unavailable } from "./kernel/faults.ts";
import { defaultMemoryBudget } from "./kernel/process/available-memory.ts";
import type { Secret } from "./kernel/secret.ts";
import type { Logger } from "./observability/logger.ts";
import type { UnknownFieldsPolicy } from "./wire/openai/unknown-fields.ts";
import type { RegisteredOperation } from "./wire/openapi/operation.ts";

export interface ServerOptions extends BareServerOptions {
  inference: Inference;
  accounts: Accounts;
  /** Storage of the Responses API; undefined: nothing is stored. */
  responseStorage: ResponseStorage | undefined;
  files: FileParts;
  /** Reads what requests refer to. */
  content: ContentResolver;
  batches: Batches;
  administration: Omit<OrganizationParts, "accounts" | "stopping">;
  /** Health checks and metrics; undefined when a separate address serves them. */
  operations: Operations | undefined;
  /** Key that /metrics requires; undefined: no key. */
  metricsKey: Secret | undefined;
  transcription: Omit<TranscriptionParts, "unknownFields">;
  realtime: RealtimeOptions;
  maxModerationInputs: number;
  /** Origins of web pages that may call the API; `*`: every page. */
  corsOrigins: readonly string[];
  /** Whether headers that name another organization or project than the key's are ignored, rather than refused. */
  ignoresMismatchedIds: boolean;
  /** Folder of the built console; undefined: no console and no sessions. */
  consoleFolder: string | undefined;
  /** Treatment of unknown fields in a request body. */
  unknownFields: UnknownFieldsPolicy;
  /** Whether Ollama's API is served. */
  servesOllama: boolean;
  /** Host names under which Ollama's API answers requests without a key, beside local ones. */
  anonymousHosts: readonly string[];
  countWrongKey: CountWrongKey;
}

interface RealtimeOptions extends Omit<RealtimeServices, "inference" | "content"> {
  maxSessionsPerProject: number;
  maxSessionSeconds: number;
  idleTimeoutSeconds: number;
}

export interface Server {
  app: FastifyInstance;
  /** Refuses new connections and further requests on keep-alive connections. */
  drain(): void;
  /** Requests whose answers are not yet sent completely. */
  openRequests(): number;
  /** Sessions of the Realtime API. */
  realtimeSessions(): number;
}

interface DescribedServer extends Server {
  /** Operations of the routes, once `app` is ready. */
  operations: readonly RegisteredOperation[];
}

/** Share of the memory budget of local models that bodies may occupy, and how many of the largest always fit. */
const BODY_SHARE = 1 / 16;
const MIN_BODIES = 8;

/** Builds the API's server, with the routes for which `options` has the parts. */
export function buildServer(options: ServerOptions): DescribedServer {
  const { app, records, operations: described } = bareServer(options);
  allowOrigins(app, options.corsOrigins);
  let isDraining = false;
  const stopping = new AbortController();
  const services = { ...options.realtime, inference: options.inference, content: options.content };
  const sessions = new RealtimeSessions(options.realtime.maxSessionsPerProject);
  const bodyMemory = new BodyMemory(Math.max(MIN_BODIES * options.maxBodyBytes, defaultMemoryBudget() * BODY_SHARE));
  const content: BodyContent = (reply, body, fields, task) =>
    options.content.inBody(reply, body, fields, { task, memory: bodyMemory });
  app.addHook("onRequest", (_request, reply, done) => {
    if (!isDraining) return done();
    reply.header("connection", "close");
    done(unavailable("The service is stopping. Try again in a moment.", "server_is_overloaded", 5));
  });
  if (options.operations !== undefined) {
    const { accounts, countWrongKey, metricsKey } = options;
    app.register(
      operations(options.operations, {
        mayReadDetails: (request) => isAdministrator(request, accounts, countWrongKey),
        checkMetrics: async (request) => {
          if (metricsKey !== undefined) await requireKey(request, metricsKey, countWrongKey);
          return metricsKey !== undefined;
        },
      }),
    );
  }
  app.register(openApi(described));
  if (options.consoleFolder !== undefined) {
    app.register(consolePages(options.consoleFolder));
    app.register(consoleSession(options.accounts, options.countWrongKey));
  }
  app.register(
    async (scope) => {
      cutSlowReaders(scope, connectionTimeoutMs(options) / 1000);
      authenticateScope(scope, options.accounts, "project", options);
      boundBodyMemory(scope, bodyMemory);
      scope.register(chatCompletions(options.inference, options.unknownFields, content));
      scope.register(completions(options.inference, options.unknownFields));
      scope.register(messages(options.inference, options.unknownFields, content));
      scope.register(
        responses(options.inference, options.unknownFields, {
          storage: options.responseStorage,
          toBackground: (caller) => options.accounts.callers.withPriority(caller, "background"),
          content,
        }),
      );
      scope.register(storedResponses(options.responseStorage));
      scope.register(conversations(options.inference, options.responseStorage));
      scope.register(files(options.inference, options.files));
      scope.register(batches(options.inference, options.batches));
      scope.register(models(options.inference));
      scope.register(
        audioTranscriptions(options.inference, { ...options.transcription, unknownFields: options.unknownFields }),
      );
      scope.register(embeddings(options.inference, options.unknownFields));
      scope.register(rerank(options.inference, options.unknownFields, { returnsDocuments: true }));
      scope.register(moderations(options.inference, options.maxModerationInputs, options.unknownFields, content));
      scope.register(audioSpeech(options.inference, options.unknownFields));
      scope.register(audioVoices(options.inference));
      scope.register(realtimeClientSecrets(options.accounts, services));
    },
    { prefix: "/v1" },
  );
  app.register(
    async (scope) => {
      authenticateScope(scope, withClientSecrets(options.accounts), "project", options);
      const { accounts, maxBodyBytes: maxMessageBytes, corsOrigins: origins } = options;
      scope.register(realtime({ ...options.realtime, accounts, services, sessions, maxMessageBytes, origins }));
    },
    { prefix: "/v1" },
  );
  app.register(
    async (scope) => {
      authenticateScope(scope, options.accounts, "project", options);
      scope.register(rerank(options.inference, options.unknownFields, { returnsDocuments: false }));
    },
    { prefix: "/v2" },
  );
  if (options.servesOllama) {
    answerAsOllama(app);
    app.register(
      async (scope) => {
        cutSlowReaders(scope, connectionTimeoutMs(options) / 1000);
        requireLocalHost(scope, options.anonymousHosts);
        authenticateScope(scope, withAnonymous(options.accounts), "project", options);
        scope.register(ollama(options.inference, options.unknownFields));
      },
      { prefix: "/api" },
    );
  }
  app.register(
    async (scope) => {
      authenticateScope(scope, options.accounts, "admin", options);
      const { accounts, administration } = options;
      scope.register(organization({ accounts, stopping: stopping.signal, ...administration }));
    },
    { prefix: "/v1/organization" },
  );
  return {
    app,
    operations: described,
    drain: () => {
      isDraining = true;
      stopping.abort();
      sessions.drain();
      app.server.close();
      app.server.closeIdleConnections();
    },
    openRequests: () => records.open,
    realtimeSessions: () => sessions.size,
  };
}

/** Serves health and metrics on a separate address for the operator's network. */
export function buildOperationsServer(served: Operations, logger: Logger): FastifyInstance {
  const timeouts = { receiveTimeoutSeconds: 10, requestTimeoutSeconds: 10 };
  const { app } = bareServer({ ...timeouts, maxBodyBytes: 1024, logger, measure: () => {} });
  app.register(operations(served, { mayReadDetails: async () => true, checkMetrics: async () => true }));
  return app;
}
