import type { KeyPolicy } from "../accounts/index.ts";
import { type ApplicableBudget, budgetsOfKey } from "./applicable-budget.ts";
import { findBudgetsOf } from "./budget-queries.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Budgets that may apply to requests with the key. */
    budgets: readonly ApplicableBudget[];
  }
}

export const budgetPolicy: KeyPolicy<readonly ApplicableBudget[]> = {
  none: [],
  load: async (executor, keys) => {
    const budgets = await findBudgetsOf(executor, [...new Set(keys.map(({ organizationId }) => organizationId))]);
    return (key) => budgetsOfKey(budgets, key);
  },
};
