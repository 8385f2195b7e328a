import type { UsageRecord } from "../features/usage/usage-recorder.ts";
import type { Settlement } from "./settlement.ts";

/** Converts a settlement; undefined if no deployment began to answer. `now` is in epoch milliseconds. */
export function toUsageRecord(settlement: Settlement, now: number): UsageRecord | undefined {
  const { caller, operation, model, deploymentEntry: deployment, costNanoDollars, used } = settlement;
  if (model === undefined || deployment === undefined) return undefined;
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, characters } = used;
  const audioMilliseconds = Math.round(used.audioSeconds * 1000);
  return {
    at: Math.min(now, endOfMonth(settlement.startedAt)),
    organizationId: caller.organizationId,
    projectId: caller.projectId ?? "",
    keyId: caller.keyId,
    model,
    deployment,
    operation,
    promptTokens,
    cachedTokens,
    completionTokens,
    reasoningTokens,
    characters,
    audioMilliseconds,
    costNanoDollars,
  };
}

/** Returns the last millisecond of the UTC month: spend limits count a request in the month in which it started. */
function endOfMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - 1;
}
