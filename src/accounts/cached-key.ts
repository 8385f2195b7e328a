import { findActiveApiKeys } from "../storage/active-api-keys.ts";
import { findGrantedApiKeys } from "../storage/console-grants.ts";
import type { Database } from "../storage/database.ts";
import { findModelPermissionsOf } from "../storage/model-permissions.ts";
import { findModerationPoliciesOf } from "../storage/moderation-policies.ts";
import { findRateLimitsOf } from "../storage/rate-limits.ts";
import type { ModelPermissionsRow } from "../storage/schema.ts";
import { findSpendLimitsOf } from "../storage/spend-limits.ts";
import type { Caller } from "./caller.ts";
import { type ModelAccess, type ModelPermissions, modelAccess } from "./model-access.ts";
import { type ProjectModeration, toProjectModeration } from "./moderation-policy-service.ts";
import type { ModelRateLimit } from "./rate-limit-service.ts";
import type { SpendLimit } from "./spend-limit-service.ts";

export interface CachedKey {
  caller: Caller;
  /** Epoch milliseconds. */
  expiresAt: number | undefined;
  /** Access by the organization's and the project's permissions. */
  mayUse: ModelAccess;
  /** Rate limits of the project, by model. */
  rateLimits: readonly ModelRateLimit[];
  /** Spend limits of the organization, the project and the key. */
  spendLimits: readonly SpendLimit[];
  /** Moderation policy of the project, if it has one. */
  moderation: ProjectModeration | undefined;
}

/** Loads keys by hash, and those of console sessions by the hash of their token; omits keys that do not work. */
export async function loadCachedKeys(
  database: Database,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, CachedKey>> {
  return database.run(async (executor) => {
    const sent = await findActiveApiKeys(executor, hashes);
    const found = new Set(sent.map(({ keyHash }) => keyHash));
    const others = hashes.filter((hash) => !found.has(hash));
    const keys = [...sent, ...(await findGrantedApiKeys(executor, others))];
    const scopeIds = new Set(keys.flatMap((key) => [key.organizationId, key.projectId ?? key.organizationId]));
    const permissions = await findModelPermissionsOf(executor, [...scopeIds]);
    const projectIds = new Set(keys.flatMap((key) => key.projectId ?? []));
    const rateLimits = await findRateLimitsOf(executor, [...projectIds]);
    const policies = await findModerationPoliciesOf(executor, [...projectIds]);
    const spendLimits = await findSpendLimitsOf(executor, [...scopeIds, ...keys.map(({ id }) => id)]);
    return new Map(
      keys.map((key) => [
        key.keyHash,
        {
          caller: {
            keyId: key.id,
            organizationId: key.organizationId,
            projectId: key.projectId ?? undefined,
            kind: key.kind,
          },
          expiresAt: key.expiresAt ?? undefined,
          mayUse: modelAccess(
            permissions
              .filter(({ scopeId }) => scopeId === key.organizationId || scopeId === key.projectId)
              .map(toModelPermissions),
          ),
          spendLimits: spendLimits.filter(({ scopeId }) =>
            [key.id, key.organizationId, key.projectId].includes(scopeId),
          ),
          rateLimits: rateLimits.filter(({ projectId }) => projectId === key.projectId),
          moderation: policies.filter(({ projectId }) => projectId === key.projectId).map(toProjectModeration)[0],
        },
      ]),
    );
  });
}

export function toModelPermissions(row: ModelPermissionsRow): ModelPermissions {
  return { mode: row.mode, modelIds: JSON.parse(row.modelIds) };
}
