/** Stores and ends keys within a transaction. */

import type { RolePermission } from "../../../contracts/permissions.ts";
import { newId } from "../../../kernel/id.ts";
import type { Secret } from "../../../kernel/secret.ts";
import type { Executor } from "../../../storage/database.ts";
import type { ApiKeyRow, ProjectRow } from "../account-rows.ts";
import type { AccountTransaction } from "../account-transaction.ts";
import { checkName } from "../name.ts";
import { findActiveProject } from "../projects/projects.ts";
import { hashApiKey, redactApiKey } from "./api-key.ts";
import { type ApiKeyScope, insertApiKey, revokeApiKey, unrevokeApiKey } from "./api-key-queries.ts";

export type ApiKey = Omit<ApiKeyRow, "keyHash" | "revokedAt">;

export interface NewApiKey {
  scope: ApiKeyScope;
  name: string;
  /** Undefined: it does not expire. */
  expiresInSeconds: number | undefined;
  /** Permissions of a restricted admin key. */
  permissions?: readonly RolePermission[] | undefined;
  /** Key that it replaces. */
  replaces?: Pick<ApiKeyRow, "id" | "rootKeyId"> | undefined;
}

export interface CreatedApiKey {
  key: ApiKey;
  /** Shown once; only its hash is stored. */
  secret: Secret;
}

/**
 * Stores a key and audits its creation. `isFixed`: the operator set it in the environment. Throws a Fault for an
 * invalid name or project.
 */
export async function addApiKey(
  transaction: AccountTransaction,
  wanted: NewApiKey,
  secret: Secret,
  isFixed = false,
): Promise<CreatedApiKey> {
  const stored = { keyHash: hashApiKey(secret.reveal()), redactedValue: redactApiKey(secret.reveal()) };
  return { key: await storeApiKey(transaction, wanted, stored, isFixed), secret };
}

/** Stores and audits a key of which only these parts are known. Throws a Fault for an invalid name or project. */
export async function storeApiKey(
  { executor, now, audit }: AccountTransaction,
  wanted: NewApiKey,
  stored: Pick<ApiKeyRow, "keyHash" | "redactedValue">,
  isFixed = false,
): Promise<ApiKey> {
  const { organizationId, projectId, serviceAccountId, userId, kind } = wanted.scope;
  const row: ApiKeyRow = {
    id: newId("key_"),
    organizationId,
    projectId: projectId ?? null,
    serviceAccountId: serviceAccountId ?? null,
    kind,
    name: checkName(wanted.name),
    ...stored,
    isFixed: isFixed ? 1 : 0,
    createdAt: now,
    expiresAt: wanted.expiresInSeconds === undefined ? null : now + wanted.expiresInSeconds * 1000,
    revokedAt: null,
    lastUsedAt: null,
    lastUsedAddress: null,
    lastUsedClient: null,
    userId: userId ?? null,
    permissions: wanted.permissions === undefined ? null : JSON.stringify(wanted.permissions),
    rootKeyId: wanted.replaces === undefined ? null : (wanted.replaces.rootKeyId ?? wanted.replaces.id),
  };
  const project = await projectOf(executor, row);
  await insertApiKey(executor, row);
  const { permissions } = wanted;
  const details = { name: row.name, kind, expiresAt: row.expiresAt, ...(permissions && { permissions }) };
  await audit({ type: "api_key.created", organizationId, project, resourceId: row.id, details });
  return row;
}

/** Revokes a key and audits it. */
export async function endApiKey({ executor, now, audit }: AccountTransaction, key: ApiKeyRow): Promise<void> {
  const { id, organizationId } = key;
  const project = await projectOf(executor, key);
  await revokeApiKey(executor, id, now);
  await audit({ type: "api_key.deleted", organizationId, project, resourceId: id, details: {} });
}

/** Lets a revoked key work again and audits it; does nothing for one that is not revoked. */
export async function restoreApiKey({ executor, audit }: AccountTransaction, key: ApiKeyRow): Promise<void> {
  if (key.revokedAt === null) return;
  const { id, organizationId } = key;
  const project = await projectOf(executor, key);
  await unrevokeApiKey(executor, id);
  await audit({ type: "api_key.updated", organizationId, project, resourceId: id, details: { restored: true } });
}

/** Undefined: an admin key. */
export async function projectOf(
  executor: Executor,
  { organizationId, projectId }: Pick<ApiKeyRow, "organizationId" | "projectId">,
): Promise<ProjectRow | undefined> {
  return projectId === null ? undefined : findActiveProject(executor, { organizationId, id: projectId });
}
