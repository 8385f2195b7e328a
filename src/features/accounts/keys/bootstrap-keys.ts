/** Creates the organization, the project and the keys that the first request needs. */

import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import type { Secret } from "../../../kernel/secret.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import { OPERATOR } from "../audit/audit.ts";
import { findDefaultOrganization, insertOrganization } from "../organizations/organization-queries.ts";
import { findDefaultProject, insertProject } from "../projects/project-queries.ts";
import { resolveName } from "../resolved-names.ts";
import { hashApiKey, makeApiKey } from "./api-key.ts";
import {
  type ApiKeyScope,
  findApiKeyByHash,
  findFixedApiKeys,
  hasUsableApiKey,
  updateApiKey,
} from "./api-key-queries.ts";
import { addApiKey, endApiKey, projectOf, restoreApiKey, storeApiKey } from "./store-api-key.ts";

/** Keys that the operator sets in the environment. */
export interface FixedKeys {
  apiKey: Secret | undefined;
  adminKey: Secret | undefined;
  /** ID or name of the project of requests without a key; undefined: there are none. */
  anonymousProject?: string | undefined;
}

/** Keys created by this start, to be shown once; undefined where none was created. */
export interface BootstrapKeys {
  apiKey: Secret | undefined;
  adminKey: Secret | undefined;
  /** Hash of the key that stands for requests without one. */
  anonymousKeyHash: string | undefined;
}

/**
 * Creates missing keys; idempotent and safe when several processes start together. Throws a Fault when a fixed key is
 * in use elsewhere.
 */
export async function ensureBootstrapKeys(transactions: AccountTransactions, fixed: FixedKeys): Promise<BootstrapKeys> {
  return transactions.run(OPERATOR, async (transaction) => {
    const { organizationId, projectId, isNew } = await ensureDefaults(transaction);
    const project: ApiKeyScope = { organizationId, projectId, kind: "project" };
    const admin: ApiKeyScope = { organizationId, kind: "admin" };
    return {
      apiKey: await ensureKey(transaction, project, fixed.apiKey, isNew),
      adminKey: await ensureKey(transaction, admin, fixed.adminKey, isNew),
      anonymousKeyHash: await ensureAnonymousKey(transaction, organizationId, fixed.anonymousProject),
    };
  });
}

/** No key has this hash, so that only requests without a key find it. */
function anonymousHash(projectId: string): string {
  return `anonymous ${projectId}`;
}

/** Creates the key that stands for requests without one. Throws a Fault when the project does not exist. */
async function ensureAnonymousKey(
  transaction: AccountTransaction,
  organizationId: string,
  idOrName: string | undefined,
): Promise<string | undefined> {
  if (idOrName === undefined) return undefined;
  const { executor, now } = transaction;
  const reference = { organizationId, scopeId: organizationId, kind: "project", text: idOrName } as const;
  const project = await resolveName(executor, reference, now);
  if (project.problem !== undefined) {
    const message = `ollama.anonymous_project cannot be used in the default organization: ${project.problem}`;
    throw invalidRequest(message, "ollama.anonymous_project");
  }
  const keyHash = anonymousHash(project.id);
  const existing = await findApiKeyByHash(executor, keyHash);
  if (existing !== undefined) await restoreApiKey(transaction, existing);
  if (existing === undefined) {
    const scope: ApiKeyScope = { organizationId, projectId: project.id, kind: "project" };
    const stored = { keyHash, redactedValue: "no key" };
    await storeApiKey(transaction, { scope, name: "Requests without a key", expiresInSeconds: undefined }, stored);
  }
  return keyHash;
}

async function ensureDefaults({ executor, now, audit }: AccountTransaction) {
  const organization = await findDefaultOrganization(executor);
  if (organization !== undefined) {
    const project = await findDefaultProject(executor, organization.id);
    if (project === undefined) throw new Error(`the default organization ${organization.id} has no default project`);
    return { organizationId: organization.id, projectId: project.id, isNew: false };
  }
  const organizationId = newId("org_");
  const projectId = newId("proj_");
  const common = { isDefault: 1, createdAt: now, archivedAt: null };
  await insertOrganization(executor, { id: organizationId, name: "Default organization", ...common });
  await insertProject(executor, { id: projectId, organizationId, name: "Default project", ...common });
  const project = { id: projectId, name: "Default project" };
  const details = { name: "Default organization" };
  await audit({ type: "organization.created", organizationId, resourceId: organizationId, details });
  await audit({
    type: "project.created",
    organizationId,
    project,
    resourceId: projectId,
    details: { name: project.name },
  });
  return { organizationId, projectId, isNew: true };
}

/** Returns the secret only when this call created it. */
async function ensureKey(
  transaction: AccountTransaction,
  scope: ApiKeyScope,
  fixed: Secret | undefined,
  isNew: boolean,
): Promise<Secret | undefined> {
  const { executor, now } = transaction;
  // A project may have a hundred thousand keys, so only those that matter are read.
  const withdrawn = (await findFixedApiKeys(executor, scope, now)).filter(({ keyHash }) => keyHash !== hashOf(fixed));
  for (const key of withdrawn) await endApiKey(transaction, key);
  if (fixed !== undefined) {
    await holdFixed(transaction, scope, fixed);
    return undefined;
  }
  // A project's last key may have been revoked on purpose; without an admin key, no key could be created again.
  const mayBeLocked = withdrawn.length > 0 || scope.kind === "admin";
  const isLocked = mayBeLocked && !(await hasUsableApiKey(executor, scope, now));
  if (!isNew && !isLocked) return undefined;
  const name = scope.kind === "admin" ? "First admin key" : "First API key";
  const { secret } = await addApiKey(transaction, { scope, name, expiresInSeconds: undefined }, makeApiKey(scope.kind));
  return secret;
}

async function holdFixed(transaction: AccountTransaction, scope: ApiKeyScope, fixed: Secret): Promise<void> {
  const variable = scope.kind === "admin" ? "PARLANCE_ADMIN_KEY" : "PARLANCE_API_KEY";
  const existing = await findApiKeyByHash(transaction.executor, hashApiKey(fixed.reveal()));
  if (existing === undefined) {
    await addApiKey(transaction, { scope, name: variable, expiresInSeconds: undefined }, fixed, true);
    return;
  }
  const isSame = existing.kind === scope.kind && existing.projectId === (scope.projectId ?? null);
  if (!isSame || existing.organizationId !== scope.organizationId) {
    throw new Fault(
      "conflict",
      `The value of ${variable} is already a key of another kind or project. Choose another value.`,
    );
  }
  await restoreApiKey(transaction, existing);
  if (existing.isFixed === 1 && existing.expiresAt === null) return;
  const { id, organizationId } = existing;
  await updateApiKey(transaction.executor, id, { isFixed: 1, expiresAt: null });
  const project = await projectOf(transaction.executor, existing);
  const details = { expiresAt: null, isFixed: true };
  await transaction.audit({ type: "api_key.updated", organizationId, project, resourceId: id, details });
}

function hashOf(key: Secret | undefined): string | undefined {
  return key === undefined ? undefined : hashApiKey(key.reveal());
}
