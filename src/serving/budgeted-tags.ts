import type { Caller } from "../contracts/caller.ts";
import type { Callers } from "../features/accounts/callers.ts";
import { isBudgeted } from "../features/budgets/spend-bounds.ts";

/** Returns whether a budget names a tag of the caller's requests. */
export function budgetedTags(callers: Callers): (caller: Caller, tag: string) => boolean {
  return (caller, value) => isBudgeted(callers.policyOf(caller, "budgets"), { kind: "tag", value });
}
