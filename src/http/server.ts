/** Builds the server with its scopes and routes, without listening. */

import type { FastifyInstance } from "fastify";
import type { Accounts } from "../accounts/accounts.ts";
import type { Batches } from "../batches/batches.ts";
import { unavailable } from "../faults.ts";
import type { Inference } from "../inference/inference.ts";
import type { Logger } from "../observability/logger.ts";
import { defaultMemoryBudget } from "../process/available-memory.ts";
import { RealtimeSessions } from "../realtime/realtime-sessions.ts";
import type { RealtimeServices } from "../realtime/session-context.ts";
import type { ResponseStorage } from "../responses/response-storage.ts";
import type { Secret } from "../secret.ts";
import type { UnknownFieldsPolicy } from "../wire/openai/unknown-fields.ts";
import { withAnonymous } from "./anonymous.ts";
import { authenticateScope, type CountWrongKey, isAdministrator, requireKey } from "./authenticate.ts";
import { type BareServerOptions, bareServer, connectionTimeoutMs } from "./bare-server.ts";
import { BodyMemory, boundBodyMemory } from "./body-memory.ts";
import { withClientSecrets } from "./client-secret-authenticator.ts";
import { cutSlowReaders } from "./connections.ts";
import { consolePages } from "./console/console-pages.ts";
import { consoleSession } from "./console/console-session.ts";
import { allowOrigins } from "./cors.ts";
import { ollama } from "./ollama/ollama.ts";
import { answerAsOllama } from "./ollama/running-notice.ts";
import { openApi } from "./openapi.ts";
import { type Operations, operations } from "./ops/operations.ts";
import { type OrganizationParts, organization } from "./organization/organization.ts";
import { audioSpeech } from "./v1/audio-speech.ts";
import { audioTranscriptions, type TranscriptionParts } from "./v1/audio-transcriptions.ts";
import { audioVoices } from "./v1/audio-voices.ts";
import { batches } from "./v1/batches.ts";
import { chatCompletions } from "./v1/chat-completions.ts";
import { completions } from "./v1/completions.ts";
import { conversations } from "./v1/conversations.ts";
import { embeddings } from "./v1/embeddings.ts";
import { type FileParts, files } from "./v1/files.ts";
import { messages } from "./v1/messages.ts";
import { models } from "./v1/models.ts";
import { moderations } from "./v1/moderations.ts";
import { realtime } from "./v1/realtime.ts";
import { realtimeClientSecrets } from "./v1/realtime-client-secrets.ts";
import { rerank } from "./v1/rerank.ts";
import { responses } from "./v1/responses.ts";
import { storedResponses } from "./v1/stored-responses.ts";

export interface ServerOptions extends BareServerOptions {
  inference: Inference;
  accounts: Accounts;
  /** Storage of the Responses API; undefined: nothing is stored. */
  responseStorage: ResponseStorage | undefined;
  files: FileParts;
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
  countWrongKey: CountWrongKey;
}

interface RealtimeOptions extends Omit<RealtimeServices, "inference"> {
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

/** Share of the memory budget of local models that bodies may occupy, and how many of the largest always fit. */
const BODY_SHARE = 1 / 16;
const MIN_BODIES = 8;

/** Builds the API's server, with the routes for which `options` has the parts. */
export function buildServer(options: ServerOptions): Server {
  const { app, records } = bareServer(options);
  allowOrigins(app, options.corsOrigins);
  let isDraining = false;
  const stopping = new AbortController();
  const services = { ...options.realtime, inference: options.inference };
  const sessions = new RealtimeSessions(options.realtime.maxSessionsPerProject);
  const bodyMemory = new BodyMemory(Math.max(MIN_BODIES * options.maxBodyBytes, defaultMemoryBudget() * BODY_SHARE));
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
        },
      }),
    );
  }
  app.register(openApi());
  if (options.consoleFolder !== undefined) {
    app.register(consolePages(options.consoleFolder));
    app.register(consoleSession(options.accounts, options.countWrongKey));
  }
  app.register(
    async (scope) => {
      cutSlowReaders(scope, connectionTimeoutMs(options) / 1000);
      authenticateScope(scope, options.accounts, "project", options);
      boundBodyMemory(scope, bodyMemory);
      scope.register(chatCompletions(options.inference, options.unknownFields));
      scope.register(completions(options.inference, options.unknownFields));
      scope.register(messages(options.inference, options.unknownFields));
      scope.register(
        responses(options.inference, options.unknownFields, {
          storage: options.responseStorage,
          toBackground: (caller) => options.accounts.callers.withPriority(caller, "background"),
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
      scope.register(moderations(options.inference, options.maxModerationInputs, options.unknownFields));
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
  app.register(operations(served, { mayReadDetails: async () => true, checkMetrics: async () => {} }));
  return app;
}
