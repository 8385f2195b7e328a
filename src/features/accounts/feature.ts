import type { Catalog } from "../../catalog/catalog.ts";
import { resolvePermissionEntry } from "../../catalog/resolve-permission-entry.ts";
import { authenticateScope, type CountWrongKey } from "../../http/authenticate.ts";
import type { Feature, FeatureParts, RouteParts } from "../feature.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";
import { Accounts } from "./accounts.ts";
import { auditLogs } from "./audit/audit-log-routes.ts";
import { adminApiKeys } from "./keys/admin-key-routes.ts";
import { projectApiKeys } from "./keys/project-key-routes.ts";
import { serviceAccountKeys } from "./keys/service-account-key-routes.ts";
import { modelPermissions } from "./projects/model-permission-routes.ts";
import { projects } from "./projects/project-routes.ts";
import { serviceAccounts } from "./service-accounts/service-account-routes.ts";

export interface AccountsFeature extends Feature, Pick<RouteParts, "authenticate"> {
  accounts: Accounts;
}

interface AccountsParts extends FeatureParts {
  catalog: Catalog;
  outbox: WebhookOutbox;
  countWrongKey: CountWrongKey;
  onChanged: () => Promise<void>;
}

/** Organizations, projects, service accounts and keys. */
export function openAccounts(parts: AccountsParts): AccountsFeature {
  const { config, database, logger, lifetime, catalog, outbox, countWrongKey, onChanged } = parts;
  const { databaseGraceSeconds, mismatchedIds } = config.server;
  const accounts = new Accounts({ database, logger, outbox, databaseGraceSeconds, onChanged });
  lifetime.defer(() => accounts.close());
  const rules = { countWrongKey, ignoresMismatchedIds: mismatchedIds === "ignore" };
  return {
    accounts,
    authenticate: (scope, kind, authenticator = accounts) => authenticateScope(scope, authenticator, kind, rules),
    admin: accountRoutes(accounts, (entry) => resolvePermissionEntry(catalog, entry)),
  };
}

/** `resolveModel` resolves entries of permission lists, which refuse unknown ones. */
export function accountRoutes(
  accounts: Accounts,
  resolveModel: Parameters<typeof modelPermissions>[1],
): NonNullable<Feature["admin"]> {
  return [
    projects(accounts),
    serviceAccounts(accounts),
    serviceAccountKeys(accounts),
    projectApiKeys(accounts),
    adminApiKeys(accounts),
    modelPermissions(accounts, resolveModel),
    auditLogs(accounts),
  ];
}
