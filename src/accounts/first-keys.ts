/** What must be there before anybody can ask for anything: an organisation, a project and a key of each kind. */

import { Fault } from "../faults.ts";
import type { Secret } from "../secret.ts";
import { type ApiKeyScope, findApiKeyByHash, findUsableApiKeys, updateApiKey } from "../storage/api-keys.ts";
import { findDefaultOrganization, insertOrganization } from "../storage/organizations.ts";
import { findDefaultProject, insertProject } from "../storage/projects.ts";
import type { AccountChanges, Change } from "./account-changes.ts";
import { hashApiKey, makeApiKey } from "./api-key.ts";
import { addApiKey, endApiKey } from "./api-keys.ts";
import { OPERATOR } from "./audit.ts";
import { newId } from "./id.ts";

/** Keys that the operator fixes in the environment. */
export interface FixedKeys {
  apiKey: Secret | undefined;
  adminKey: Secret | undefined;
}

/** Keys that were made now, to be shown once; undefined where none was. */
export interface FirstKeys {
  apiKey: Secret | undefined;
  adminKey: Secret | undefined;
}

/** Safe at every start, and of several processes at once. Throws a Fault when a fixed key is in use for something else. */
export async function ensureFirstKeys(changes: AccountChanges, fixed: FixedKeys): Promise<FirstKeys> {
  return changes.make(OPERATOR, async (change) => {
    const { organizationId, projectId, isNew } = await ensureDefaults(change);
    const project: ApiKeyScope = { organizationId, projectId, kind: "project" };
    const admin: ApiKeyScope = { organizationId, kind: "admin" };
    return {
      apiKey: await ensureKey(change, project, fixed.apiKey, isNew),
      adminKey: await ensureKey(change, admin, fixed.adminKey, isNew),
    };
  });
}

async function ensureDefaults({ executor, now, audit }: Change) {
  const organization = await findDefaultOrganization(executor);
  if (organization !== undefined) {
    const project = await findDefaultProject(executor, organization.id);
    if (project === undefined) throw new Error(`the default organization ${organization.id} has no default project`);
    return { organizationId: organization.id, projectId: project.id, isNew: false };
  }
  const organizationId = newId("org");
  const projectId = newId("proj");
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

/** Returns a secret only when it was made now. */
async function ensureKey(
  change: Change,
  scope: ApiKeyScope,
  fixed: Secret | undefined,
  isNew: boolean,
): Promise<Secret | undefined> {
  const { executor, now } = change;
  const withdrawn = (await findUsableApiKeys(executor, scope, now)).filter(
    (key) => key.isFixed === 1 && key.keyHash !== hashOf(fixed),
  );
  for (const key of withdrawn) await endApiKey(change, key);
  if (fixed !== undefined) {
    await holdFixed(change, scope, fixed);
    return undefined;
  }
  const usable = await findUsableApiKeys(executor, scope, now);
  // A project's last key may have been revoked on purpose; without an admin key nobody could make another.
  const isLocked = usable.length === 0 && (withdrawn.length > 0 || scope.kind === "admin");
  if (!isNew && !isLocked) return undefined;
  const name = scope.kind === "admin" ? "First admin key" : "First API key";
  const { secret } = await addApiKey(change, { scope, name, expiresInSeconds: undefined }, makeApiKey(scope.kind));
  return secret;
}

async function holdFixed(change: Change, scope: ApiKeyScope, fixed: Secret): Promise<void> {
  const variable = scope.kind === "admin" ? "PARLANCE_ADMIN_KEY" : "PARLANCE_API_KEY";
  const existing = await findApiKeyByHash(change.executor, hashApiKey(fixed.reveal()));
  if (existing === undefined) {
    await addApiKey(change, { scope, name: variable, expiresInSeconds: undefined }, fixed, true);
    return;
  }
  const isSame = existing.kind === scope.kind && existing.projectId === (scope.projectId ?? null);
  if (!isSame || existing.organizationId !== scope.organizationId) {
    throw new Fault(
      "conflict",
      `The value of ${variable} is a key of another kind or project already; choose another.`,
    );
  }
  await updateApiKey(change.executor, existing.id, { isFixed: 1, revokedAt: null, expiresAt: null });
}

function hashOf(key: Secret | undefined): string | undefined {
  return key === undefined ? undefined : hashApiKey(key.reveal());
}
