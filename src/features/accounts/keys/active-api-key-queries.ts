/** Reads the API keys that currently work, many hashes in one query. */

import type { Executor } from "../../../storage/database.ts";
import type { ApiKeyRow } from "../account-rows.ts";

export interface ActiveApiKeyRow {
  id: string;
  keyHash: string;
  kind: ApiKeyRow["kind"];
  organizationId: string;
  projectId: string | null;
  expiresAt: number | null;
  userId: string | null;
  /** JSON array of the permissions of a restricted admin key. */
  permissions?: string | null;
  /** First key of the line in which each replaced the one before; null: it replaced none. */
  rootKeyId?: string | null;
  /** Session of the console that acts with the key; undefined: none. */
  sessionId?: string;
  /** For sessions that a provider renews: from when on that is due, in epoch milliseconds. */
  renewAt?: number | undefined;
}

/** Selects the keys that are not revoked and whose organization, project, account and user are active. */
export function activeApiKeys(executor: Executor) {
  return executor
    .selectFrom("apiKeys as key")
    .innerJoin("organizations as organization", "organization.id", "key.organizationId")
    .leftJoin("projects as project", "project.id", "key.projectId")
    .leftJoin("serviceAccounts as account", "account.id", "key.serviceAccountId")
    .leftJoin("users as user", "user.id", "key.userId")
    .select(["key.id", "key.kind", "key.organizationId", "key.projectId", "key.expiresAt", "key.userId"])
    .select(["key.permissions", "key.rootKeyId"])
    .where("key.revokedAt", "is", null)
    .where("organization.archivedAt", "is", null)
    .where("project.archivedAt", "is", null)
    .where("account.deletedAt", "is", null)
    .where("user.disabledAt", "is", null)
    .where((where) => where.or([where("key.userId", "is", null), where("user.id", "is not", null)]));
}

/** Finds the active keys with these hashes. */
export async function findActiveApiKeys(executor: Executor, hashes: readonly string[]): Promise<ActiveApiKeyRow[]> {
  if (hashes.length === 0) return [];
  return activeApiKeys(executor).select("key.keyHash").where("key.keyHash", "in", hashes).execute();
}
