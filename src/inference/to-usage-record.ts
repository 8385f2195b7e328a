import type { UsageLabel } from "../features/usage/usage-batch.ts";
import type { UsageRecord } from "../features/usage/usage-recorder.ts";
import type { Settlement } from "./settlement.ts";

/** Converts a settlement; undefined if no deployment began to answer. `now` is in epoch milliseconds. */
export function toUsageRecord(settlement: Settlement, now: number): UsageRecord | undefined {
  const { caller, operation, model, deploymentEntry: deployment, costNanoDollars, used } = settlement;
  if (model === undefined || deployment === undefined) return undefined;
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, characters, details } = used;
  const audioMilliseconds = Math.round(used.audioSeconds * 1000);
  const record: UsageRecord = {
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
  if (caller.priority === "batch") record.isBatch = 1;
  if (details === undefined) return record;
  const { cacheWriteTokens, inputAudioTokens, outputAudioTokens, toolCalls = {}, serviceTier = null } = details;
  const { reportedCostNanoDollars = null } = details;
  return {
    ...record,
    cacheWriteTokens: cacheWriteTokens ?? 0,
    inputAudioTokens: inputAudioTokens ?? 0,
    outputAudioTokens: outputAudioTokens ?? 0,
    toolCalls: Object.values(toolCalls).reduce((sum, count) => sum + count, 0),
    serviceTier,
    reportedCostNanoDollars,
    comparedCostNanoDollars: reportedCostNanoDollars === null ? null : settlement.comparedCostNanoDollars,
  };
}

/** Returns what a request's usage is summed by in addition to its key and model; undefined without any. */
export function toLabels({ caller, used }: Settlement, withTools: boolean): UsageLabel[] | undefined {
  const { endUser, tags = [] } = caller.labels ?? {};
  const { toolCalls, functionCalls } = withTools ? (used.details ?? {}) : {};
  const labels: UsageLabel[] = [
    ...(endUser === undefined ? [] : [{ kind: "end_user", value: endUser } as const]),
    ...tags.map((value) => ({ kind: "tag", value }) as const),
    ...Object.keys({ ...toolCalls, ...functionCalls }).map((value) => ({ kind: "tool", value }) as const),
  ];
  return labels.length === 0 ? undefined : labels;
}

/** Returns the last millisecond of the UTC month: spend limits count a request in the month in which it started. */
function endOfMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - 1;
}
