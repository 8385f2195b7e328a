/** Administration API: all routes below /v1/organization, for admin keys. */

import type { FastifyPluginAsync } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { configuration, type ReadConfiguration } from "../configuration/routes.ts";
import { signInCodes } from "../console/sign-in-code-routes.ts";
import type { ModelOperations } from "../models/model-operations.ts";
import { organizationModels } from "../models/organization-model-routes.ts";
import { type IsModerationModel, moderationPolicy } from "../moderations/policy-routes.ts";
import { type LimitedModels, rateLimits } from "../quota/rate-limit-routes.ts";
import { spendLimits } from "../quota/spend-limit-routes.ts";
import { overview } from "../usage/overview-routes.ts";
import type { RequestHistory } from "../usage/request-history.ts";
import { requests } from "../usage/request-routes.ts";
import type { UsageReports } from "../usage/usage-report.ts";
import { usage } from "../usage/usage-routes.ts";
import type { Accounts } from "./accounts.ts";
import { auditLogs } from "./audit/audit-log-routes.ts";
import { adminApiKeys } from "./keys/admin-key-routes.ts";
import { projectApiKeys } from "./keys/project-key-routes.ts";
import { serviceAccountKeys } from "./keys/service-account-key-routes.ts";
import { modelPermissions, type ResolveModel } from "./projects/model-permission-routes.ts";
import { projects } from "./projects/project-routes.ts";
import { serviceAccounts } from "./service-accounts/service-account-routes.ts";

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
    app.register(signInCodes(accounts));
    app.register(rateLimits(accounts, limited));
    app.register(spendLimits(accounts));
  };
}
