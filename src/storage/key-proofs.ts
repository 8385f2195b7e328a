/** What a request's key proves, read for many keys at once. */

import type { Executor } from "./database.ts";
import type { ApiKeyRow } from "./schema.ts";

export interface KeyProofRow {
  id: string;
  keyHash: string;
  kind: ApiKeyRow["kind"];
  organizationId: string;
  projectId: string | null;
  expiresAt: number | null;
}

/** Of the keys with these hashes, those that work: not revoked, and nothing that they belong to archived or deleted. */
export async function findKeyProofs(executor: Executor, hashes: readonly string[]): Promise<KeyProofRow[]> {
  if (hashes.length === 0) return [];
  return executor
    .selectFrom("apiKeys as key")
    .innerJoin("organizations as organization", "organization.id", "key.organizationId")
    .leftJoin("projects as project", "project.id", "key.projectId")
    .leftJoin("serviceAccounts as account", "account.id", "key.serviceAccountId")
    .select(["key.id", "key.keyHash", "key.kind", "key.organizationId", "key.projectId", "key.expiresAt"])
    .where("key.keyHash", "in", hashes)
    .where("key.revokedAt", "is", null)
    .where("organization.archivedAt", "is", null)
    .where("project.archivedAt", "is", null)
    .where("account.deletedAt", "is", null)
    .execute();
}
