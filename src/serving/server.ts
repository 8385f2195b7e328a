/** Builds the server with the routes of its features, without listening. */

import type { FastifyInstance } from "fastify";
import { openApi } from "../features/openapi/routes.ts";
import { type Operations, operations } from "../features/operations/operations.ts";
import type { AuthenticateScope } from "../http/authenticate.ts";
import { type BareServerOptions, bareServer, connectionTimeoutMs } from "../http/bare-server.ts";
import { cutSlowReaders } from "../http/connections.ts";
import { allowOrigins } from "../http/cors.ts";
import { countRequests } from "../http/count-requests.ts";
import type { Feature, ProjectRoutes } from "../http/feature.ts";
import { refuseNul } from "../http/refuse-nul.ts";
import type { ServerSettings } from "../http/settings.ts";
import { acceptSockets } from "../http/sockets/accept-sockets.ts";
import type { Inference } from "../inference/inference.ts";
import { unavailable } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import type { RegisteredOperation } from "../wire/openapi/operation.ts";

export interface ServerOptions extends BareServerOptions {
  authenticate: AuthenticateScope;
  inference: Inference;
  settings: ServerSettings;
  features: readonly Feature[];
  /** Adds what requests belong to; undefined: nothing is recorded. */
  labelRequests?: (scope: FastifyInstance) => void;
}

export interface Server {
  app: FastifyInstance;
  /** Refuses new connections and further requests on keep-alive connections. */
  drain(): void;
  /** Requests whose answers are not yet sent completely, and those that run without a connection. */
  openRequests(): number;
}

interface DescribedServer extends Server {
  /** Operations of the routes, once `app` is ready. */
  operations: readonly RegisteredOperation[];
}

export function buildServer(options: ServerOptions): DescribedServer {
  const { settings, features, authenticate, inference } = options;
  const { app, records, operations: described } = bareServer(options);
  allowOrigins(app, settings.corsOrigins);
  let isDraining = false;
  app.addHook("onRequest", (_request, reply, done) => {
    if (!isDraining) return done();
    reply.header("connection", "close");
    done(unavailable("The service is stopping. Try again in a moment.", "server_is_overloaded", 5));
  });
  app.register(openApi(described));
  for (const feature of features) {
    feature.addHooks?.(app);
    for (const plugin of feature.public ?? []) app.register(plugin);
  }
  app.register(
    async (scope) => {
      await acceptSockets(scope, { maxMessageBytes: settings.maxBodyBytes, origins: settings.corsOrigins });
      options.labelRequests?.(scope);
      for (const plugin of features.flatMap((feature) => feature.sockets ?? [])) scope.register(plugin);
    },
    { prefix: "/v1" },
  );
  const featureRoutes: ProjectRoutes = { prefix: "/v1", routes: features.flatMap((feature) => feature.project ?? []) };
  const projectRoutes = [featureRoutes, ...features.flatMap((feature) => feature.projectAt ?? [])];
  for (const { prefix, routes, beforeKeys, authenticator } of projectRoutes) {
    app.register(
      async (scope) => {
        cutSlowReaders(scope, connectionTimeoutMs(settings) / 1000);
        beforeKeys?.(scope);
        authenticate(scope, "project", authenticator);
        countRequests(scope, (caller) => inference.admit(caller));
        options.labelRequests?.(scope);
        for (const plugin of routes) scope.register(plugin);
      },
      { prefix },
    );
  }
  for (const [prefix, routes] of [
    ["/v1/organization", features.flatMap((feature) => feature.admin ?? [])],
    ["/v1/projects", features.flatMap((feature) => feature.adminOfProjects ?? [])],
  ] as const) {
    app.register(
      async (scope) => {
        authenticate(scope, "admin");
        refuseNul(scope);
        for (const plugin of routes) scope.register(plugin);
      },
      { prefix },
    );
  }
  app.register(
    async (scope) => {
      authenticate(scope, "operator");
      refuseNul(scope);
      for (const plugin of features.flatMap((feature) => feature.operator ?? [])) scope.register(plugin);
    },
    { prefix: "/v1/organizations" },
  );
  return {
    app,
    operations: described,
    drain: () => {
      isDraining = true;
      for (const feature of features) feature.drain?.();
      app.server.close();
      app.server.closeIdleConnections();
    },
    openRequests: () => features.reduce((sum, feature) => sum + (feature.runningCount?.() ?? 0), records.open),
  };
}

/** Serves health and metrics on a separate address for the operator's network. */
export function buildOperationsServer(served: Operations, logger: Logger): FastifyInstance {
  const settings = { receiveTimeoutSeconds: 10, requestTimeoutSeconds: 10, maxBodyBytes: 1024 };
  const { app } = bareServer({ settings, logger, measure: () => {} });
  app.register(operations(served, { mayReadDetails: async () => true, checkMetrics: async () => true }));
  return app;
}
