/** The administration API: everything below /v1/organization, for admin keys. */

import type { FastifyPluginAsync } from "fastify";
import type { Accounts } from "../../accounts/accounts.ts";
import { adminApiKeys } from "./admin-api-keys.ts";
import { auditLogs } from "./audit-logs.ts";
import { type IsKnownModel, modelPermissions } from "./model-permissions.ts";
import { projectApiKeys } from "./project-api-keys.ts";
import { projects } from "./projects.ts";
import { serviceAccountKeys } from "./service-account-keys.ts";
import { serviceAccounts } from "./service-accounts.ts";

/** To be registered where `request.caller` is an admin key's. */
export function organization(accounts: Accounts, isKnownModel: IsKnownModel): FastifyPluginAsync {
  return async (app) => {
    app.register(projects(accounts));
    app.register(serviceAccounts(accounts));
    app.register(serviceAccountKeys(accounts));
    app.register(projectApiKeys(accounts));
    app.register(adminApiKeys(accounts));
    app.register(modelPermissions(accounts, isKnownModel));
    app.register(auditLogs(accounts));
  };
}
