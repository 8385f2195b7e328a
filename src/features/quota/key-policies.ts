/** Rate and spend limits as policies of keys. */

import { findKeyRulesOf, type KeyPolicy, projectKeyPolicy, type StoredKeyRules } from "../accounts/index.ts";
import { findRateLimitsOf } from "./rate-limit-queries.ts";
import type { ModelRateLimit } from "./rate-limit-service.ts";
import { findSpendLimitsOf, putSpendLimit } from "./spend-limit-queries.ts";
import type { SpendLimit } from "./spend-limit-service.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Rate limits of the project, by model. */
    rateLimits: readonly ModelRateLimit[];
    /** Spend limits of the organization, the project and the key. */
    spendLimits: readonly SpendLimit[];
  }
}

export const rateLimitPolicy = projectKeyPolicy<ModelRateLimit & { projectId: string }, readonly ModelRateLimit[]>(
  [],
  findRateLimitsOf,
  (limits) => limits,
);

export const spendLimitPolicy: KeyPolicy<readonly SpendLimit[]> = {
  none: [],
  load: async (executor, keys) => {
    const scopes = keys.flatMap(({ id, organizationId, projectId }) => [id, organizationId, projectId ?? id]);
    const limits = await findSpendLimitsOf(executor, [...new Set(scopes)]);
    const ofUsers = keys.flatMap(({ userId, projectId }) => (userId === null ? [] : (projectId ?? [])));
    const rules = await findKeyRulesOf(executor, [...new Set(ofUsers)]);
    return (key) => [
      ...limits.filter(({ scopeId }) => [key.id, key.organizationId, key.projectId].includes(scopeId)),
      ...(key.userId === null ? [] : spendLimitsByRules(rules.get(key.projectId ?? ""), key)),
    ];
  },
  copy: async (executor, from, to) => {
    const [limit] = await findSpendLimitsOf(executor, [from]);
    if (limit !== undefined) await putSpendLimit(executor, { ...limit, scopeId: to });
  },
};

/** Spend limit that the rules set for a user's key, in addition to its own. */
function spendLimitsByRules(
  rules: StoredKeyRules | undefined,
  { id, organizationId }: { id: string; organizationId: string },
): SpendLimit[] {
  if (rules?.spendLimitCents == null) return [];
  const { spendLimitCents: thresholdCents, begunAt } = rules;
  return [{ scopeId: id, organizationId, thresholdCents, isEnforcing: 1, begunAt, updatedAt: begunAt }];
}
