/** Administration API: all routes below /v1/organization, for admin keys. */

import type { FastifyPluginAsync } from "fastify";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { ModelOperations } from "../../catalog/model-operations.ts";
import { invalidRequest } from "../../faults.ts";
import type { RequestHistory } from "../../usage/request-history.ts";
import type { UsageReports } from "../../usage/usage-report.ts";
import { adminApiKeys } from "./admin-api-keys.ts";
import { auditLogs } from "./audit-logs.ts";
import { configuration, type ReadConfiguration } from "./configuration.ts";
import { modelPermissions, type ResolveModel } from "./model-permissions.ts";
import { organizationModels } from "./models.ts";
import { type IsModerationModel, moderationPolicy } from "./moderation-policy.ts";
import { overview } from "./overview.ts";
import { projectApiKeys } from "./project-api-keys.ts";
import { projects } from "./projects.ts";
import { type LimitedModels, rateLimits } from "./rate-limits.ts";
import { requests } from "./requests.ts";
import { serviceAccountKeys } from "./service-account-keys.ts";
import { serviceAccounts } from "./service-accounts.ts";
import { spendLimits } from "./spend-limits.ts";
import { usage } from "./usage.ts";

export interface OrganizationParts {
  accounts: Accounts;
  /** Resolves entries of permission lists, which refuse unknown ones. */
  resolveModel: ResolveModel;
  isModerationModel: IsModerationModel;
  reports: UsageReports;
  models: ModelOperations;
  limited: LimitedModels;
  history: RequestHistory;
  catalog: Pick<Catalog, "models">;
  configuration: ReadConfiguration;
  /** Aborts when the service begins to stop, which ends streams without an end. */
  stopping: AbortSignal;
}

/** Creates the plugin; register it in a scope where `request.caller` has an admin key. */
export function organization({
  accounts,
  resolveModel,
  isModerationModel,
  reports,
  models,
  limited,
  history,
  catalog,
  configuration: readConfiguration,
  stopping,
}: OrganizationParts): FastifyPluginAsync {
  return async (app) => {
    // IDs, cursors and filters reach the database, and PostgreSQL refuses text with NUL (SQLSTATE 22021).
    app.addHook("onRequest", (request, _reply, done) => {
      done(request.url.includes("%00") ? invalidRequest("The URL must not contain a NUL character (%00).") : undefined);
    });
    app.register(projects(accounts));
    app.register(serviceAccounts(accounts));
    app.register(serviceAccountKeys(accounts));
    app.register(projectApiKeys(accounts));
    app.register(adminApiKeys(accounts));
    app.register(modelPermissions(accounts, resolveModel));
    app.register(moderationPolicy(accounts, isModerationModel));
    app.register(organizationModels(accounts, models));
    app.register(auditLogs(accounts));
    app.register(usage(reports));
    app.register(requests(history, accounts, stopping));
    app.register(overview({ accounts, history, reports, catalog }));
    app.register(configuration(accounts, readConfiguration));
    app.register(rateLimits(accounts, limited));
    app.register(spendLimits(accounts));
  };
}
