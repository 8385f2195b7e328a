import type { Catalog } from "../../catalog/catalog.ts";
import { resolvePermissionEntry } from "../../catalog/resolve-permission-entry.ts";
import type { AuthenticateScope, CountWrongKey } from "../../http/authenticate.ts";
import { authenticateScope } from "../../http/authenticate.ts";
import type { BodyMemory } from "../../http/body-memory.ts";
import type { Feature } from "../../http/feature.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { Accounts, type AccountsOptions } from "./accounts.ts";
import { auditLogs } from "./audit/audit-log-routes.ts";
import { groups } from "./groups/group-routes.ts";
import { invites } from "./invites/invite-routes.ts";
import { adminApiKeys } from "./keys/admin-key-routes.ts";
import { keyRules } from "./keys/key-rule-policy.ts";
import { organizationApiKeys } from "./keys/organization-key-routes.ts";
import { projectApiKeys } from "./keys/project-key-routes.ts";
import { serviceAccountKeys } from "./keys/service-account-key-routes.ts";
import { organizations, ownOrganization } from "./organizations/organization-routes.ts";
import { dataRetention } from "./policies/data-retention-policy.ts";
import { modelPermissions } from "./projects/model-permission-routes.ts";
import { projectGroups, projectUsers } from "./projects/project-member-routes.ts";
import { projects } from "./projects/project-routes.ts";
import { organizationAssignments, projectAssignments } from "./roles/assignment-routes.ts";
import { organizationRoles, projectRoles } from "./roles/role-routes.ts";
import { serviceAccounts } from "./service-accounts/service-account-routes.ts";
import { userAccess } from "./users/user-access-routes.ts";
import { users } from "./users/user-routes.ts";

interface AccountsParts
  extends Pick<AccountsOptions, "database" | "logger" | "extensions" | "mail" | "onChanged">,
    Required<Pick<AccountsOptions, "countSelfService">> {
  config: Settings;
  lifetime: AsyncDisposableStack;
  countWrongKey: CountWrongKey;
  bodyMemory: BodyMemory;
}

/** Opens organizations, projects, service accounts and keys, and the authentication by them. */
export function openAccounts(parts: AccountsParts): { accounts: Accounts; authenticate: AuthenticateScope } {
  const { config, lifetime, countWrongKey, bodyMemory } = parts;
  const { databaseGraceSeconds, mismatchedIds } = config.server;
  const { userKeys } = config.limits;
  const accounts = new Accounts({ ...parts, databaseGraceSeconds, userKeys });
  lifetime.defer(() => accounts.close());
  const rules = { countWrongKey, ignoresMismatchedIds: mismatchedIds === "ignore", bodyMemory };
  return {
    accounts,
    authenticate: (scope, kind, authenticator = accounts) => authenticateScope(scope, authenticator, kind, rules),
  };
}

/** Administration of organizations, projects, service accounts and keys. */
export function accountsFeature({ accounts, catalog }: { accounts: Accounts; catalog: Catalog }): Feature {
  return {
    operator: [organizations(accounts)],
    admin: accountRoutes(accounts, (entry) => resolvePermissionEntry(catalog, entry)),
    adminOfProjects: projectAccountRoutes(accounts),
  };
}

/** `resolveModel` resolves entries of permission lists, which refuse unknown ones. */
export function accountRoutes(
  accounts: Accounts,
  resolveModel: Parameters<typeof modelPermissions>[1],
): NonNullable<Feature["admin"]> {
  return [
    ownOrganization(accounts),
    projects(accounts),
    serviceAccounts(accounts),
    serviceAccountKeys(accounts),
    projectApiKeys(accounts),
    organizationApiKeys(accounts),
    adminApiKeys(accounts),
    modelPermissions(accounts, resolveModel),
    keyRules(accounts, resolveModel),
    ...dataRetention(accounts),
    users(accounts),
    userAccess(accounts),
    invites(accounts),
    groups(accounts),
    organizationRoles(accounts),
    organizationAssignments(accounts),
    projectUsers(accounts),
    projectGroups(accounts),
    auditLogs(accounts),
  ];
}

/** Routes below /v1/projects. */
export function projectAccountRoutes(accounts: Accounts): NonNullable<Feature["adminOfProjects"]> {
  return [projectRoles(accounts), projectAssignments(accounts)];
}
