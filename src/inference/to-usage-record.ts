import { costInNanoDollars } from "../ledger/cost.ts";
import type { UsageRecord } from "../ledger/ledger.ts";
import type { Settlement } from "./settlement.ts";

/** `at` in epoch milliseconds. Undefined when no deployment began to answer, so that no work was done. */
export function toUsageRecord(settlement: Settlement, at: number): UsageRecord | undefined {
  const { caller, operation, model, deployment, price, used, outcome } = settlement;
  if (model === undefined || deployment === undefined) return undefined;
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, characters } = used;
  const audioMilliseconds = Math.round(used.audioSeconds * 1000);
  const amounts = { promptTokens, cachedTokens, completionTokens, characters, audioMilliseconds };
  return {
    at,
    organizationId: caller.organizationId,
    projectId: caller.projectId ?? "",
    keyId: caller.keyId,
    model,
    deployment,
    operation,
    ...amounts,
    reasoningTokens,
    durationMilliseconds: Math.round(settlement.durationSeconds * 1000),
    costNanoDollars: costInNanoDollars(price, { operation, ...amounts }),
    outcome,
  };
}
