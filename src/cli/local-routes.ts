import { PERSONAL_DATA } from "../app/personal-data.ts";
import { accountExtensions } from "../serving/account-extensions.ts";
/** Routes of the administration API in the process of a command, whose caller is the operator. */

import { join } from "node:path";
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { Catalog } from "../catalog/catalog.ts";
import { buildModelSpecs } from "../catalog/model-specs.ts";
import { requireUnshared } from "../catalog/require-unshared.ts";
import type { Config } from "../config/config.ts";
import type { Caller } from "../contracts/caller.ts";
import { Accounts } from "../features/accounts/accounts.ts";
import { accountsFeature } from "../features/accounts/feature.ts";
import { budgetFeature } from "../features/budgets/feature.ts";
import { openFileStore } from "../features/files/feature.ts";
import { openGuardrailServices } from "../features/guardrails/open-guardrail-services.ts";
import { linkMailOf, mailIn } from "../features/mail/feature.ts";
import { ModelOperations } from "../features/models/model-operations.ts";
import { organizationModels } from "../features/models/organization-model-routes.ts";
import { privacyFeature } from "../features/privacy/feature.ts";
import { quotaFeature } from "../features/quota/feature.ts";
import { openRecordedContent, recordedContentFeature } from "../features/recorded-content/feature.ts";
import { RequestHistory } from "../features/usage/request-history.ts";
import { requests } from "../features/usage/request-routes.ts";
import { UsageRecorder } from "../features/usage/usage-recorder.ts";
import { UsageReports } from "../features/usage/usage-report.ts";
import { usage } from "../features/usage/usage-routes.ts";
import { WebhookOutbox } from "../features/webhooks/webhook-outbox.ts";
import { bareServer } from "../http/bare-server.ts";
import type { Logger } from "../kernel/logger.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import { openLog } from "../observability/open-log.ts";
import { openConfiguredDatabase } from "../storage/configured-database.ts";

/** Opens the routes on accounts, limits and usage over the configured database. */
export async function openAccountRoutes(config: Config, lifetime: AsyncDisposableStack): Promise<FastifyInstance> {
  const logger = openLog("warn");
  const database = openConfiguredDatabase(config, logger);
  lifetime.defer(() => database.close());
  const accounts = new Accounts({
    database,
    logger,
    extensions: accountExtensions(new WebhookOutbox(config.webhooks)),
    // The service sends them.
    mail: linkMailOf(mailIn(config)),
  });
  lifetime.defer(() => accounts.close());
  const catalog = await listedModels(config, logger);
  const usageReports = new UsageReports(database);
  const features = [
    accountsFeature({ accounts, catalog }),
    quotaFeature({ config, accounts, catalog }),
    budgetFeature({
      ...{ config, accounts },
      usage: { reports: usageReports, spentIn: (scope, window) => usageReports.spentIn(scope, window) },
    }),
  ];
  const operator = await accounts.operator();
  const app = openServer(config, logger, lifetime);
  addScope(
    app,
    "operator",
    "/v1/organizations",
    async () => operator,
    features.flatMap((feature) => feature.operator ?? []),
  );
  const callerIn = (organization: string | undefined) =>
    accounts.applyScopeHeaders(operator, { organization, project: undefined });
  const history = new RequestHistory({ database, logger, days: config.usage.requestDays });
  lifetime.defer(() => history.close());
  const stopping = new AbortController();
  lifetime.defer(() => stopping.abort());
  const recorder = new UsageRecorder({
    database,
    directory: join(config.dataDirectory, "usage"),
    logger,
    onLost: () => {},
  });
  lifetime.defer(() => recorder.close());
  const services = openGuardrailServices(config.guardrailServices, logger, lifetime);
  const recorded = openRecordedContent({
    ...{ config, database, logger, lifetime, accounts, guardrailServices: services },
  });
  features.push(recordedContentFeature({ accounts, config, database, lifetime, logger, recorded, usage: { history } }));
  const files = { files: openFileStore(config, database) };
  const { admin: people = [] } = privacyFeature({
    accounts,
    config,
    database,
    logger,
    files,
    personalData: PERSONAL_DATA,
    usage: { recorder, history },
    recorded,
  });
  const reports = [usage(usageReports), requests(history, accounts, stopping.signal)];
  const admin = features.flatMap((feature) => feature.admin ?? []);
  addScope(app, "admin", "/v1/organization", callerIn, [...admin, ...people, ...reports]);
  addScope(
    app,
    "admin",
    "/v1/projects",
    callerIn,
    features.flatMap((feature) => feature.adminOfProjects ?? []),
  );
  return app;
}

/** Opens the routes that pull and remove models, which need no database. */
export function openModelRoutes(config: Config, store: ModelStore, lifetime: AsyncDisposableStack): FastifyInstance {
  const models = new ModelOperations({
    catalog: new Catalog(),
    store,
    refresh: async () => {},
    requireUnshared: (id) => requireUnshared(id, config, store),
    machine: () => Promise.reject(new Error("only a service lists the model library")),
  });
  const app = openServer(config, openLog("warn"), lifetime);
  const operator: Caller = {
    keyId: "operator",
    organizationId: "",
    projectId: undefined,
    kind: "admin",
    isOperator: true,
  };
  const accounts = {
    authenticate: async () => operator,
    authenticateSession: async () => operator,
    organizations: { isDefault: async () => true },
    auditTrail: { record: async () => {} },
    transactions: { checkAuthor: async () => {} },
  };
  addScope(app, "admin", "/v1/organization", async () => operator, [organizationModels(accounts, models)]);
  return app;
}

function openServer({ server: settings }: Config, logger: Logger, lifetime: AsyncDisposableStack): FastifyInstance {
  const { app } = bareServer({ settings, logger, measure: () => {} });
  lifetime.defer(() => app.close());
  return app;
}

const NEVER_ABORTED = new AbortController().signal;

function addScope(
  app: FastifyInstance,
  kind: "admin" | "operator",
  prefix: string,
  callerIn: (organization: string | undefined) => Promise<Caller>,
  routes: readonly FastifyPluginAsync[],
): void {
  app.register(
    async (scope) => {
      scope.decorate("authenticates", kind);
      scope.addHook("onRequest", async (request) => {
        const organization = request.headers["openai-organization"];
        request.caller = await callerIn(typeof organization === "string" ? organization : undefined);
        // There is no key that could end before the command.
        request.internalCall = { caller: request.caller, signal: NEVER_ABORTED };
      });
      for (const plugin of routes) scope.register(plugin);
    },
    { prefix },
  );
}

/** Configured and built-in models, without deployments: what limits and permissions may name. */
async function listedModels(config: Config, logger: Logger): Promise<Catalog> {
  const catalog = new Catalog();
  const specs = await buildModelSpecs(config, createModelStore(config, logger));
  catalog.replace(specs.map((spec) => ({ ...spec, cache: undefined, createdAt: 0, deployments: [], pools: [] })));
  return catalog;
}
