import type { Caller } from "../../contracts/caller.ts";
import type { Settlement } from "../../inference/settlement.ts";
import type { ToolSettlement } from "../../inference/tool-run.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import type { UsageLabel } from "./usage-batch.ts";
import type { UsageRecord } from "./usage-recorder.ts";

/** Converts a settlement; undefined if no deployment began to answer. `now` is in epoch milliseconds. */
export function toUsageRecord(settlement: Settlement, now: number): UsageRecord | undefined {
  const { caller, operation, model, deploymentEntry: deployment, costNanoDollars, used } = settlement;
  if (model === undefined || deployment === undefined) return undefined;
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, characters, details } = used;
  const audioMilliseconds = Math.round(used.audioSeconds * 1000);
  const record: UsageRecord = {
    at: Math.min(now, endOfDay(settlement.startedAt)),
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
  const { reportedCostNanoDollars = null, images, imageKind } = details;
  return {
    ...record,
    cacheWriteTokens: cacheWriteTokens ?? 0,
    inputAudioTokens: inputAudioTokens ?? 0,
    outputAudioTokens: outputAudioTokens ?? 0,
    toolCalls: Object.values(toolCalls).reduce((sum, count) => sum + count, 0),
    images: images ?? 0,
    ...(imageKind !== undefined && { imageSource: imageKind.source, imageSize: imageKind.size }),
    serviceTier,
    reportedCostNanoDollars,
    comparedCostNanoDollars: reportedCostNanoDollars === null ? null : settlement.comparedCostNanoDollars,
  };
}

/** Converts a call of a tool; its deployment is the tool itself. */
export function toToolRecord({ caller, tool, costNanoDollars, startedAt }: ToolSettlement, now: number): UsageRecord {
  const { audioSeconds: _audio, estimated: _estimated, ...amounts } = NO_USAGE;
  return {
    ...amounts,
    at: Math.min(now, endOfDay(startedAt)),
    organizationId: caller.organizationId,
    projectId: caller.projectId ?? "",
    keyId: caller.keyId,
    model: tool.name,
    deployment: tool.name,
    operation: "tool",
    audioMilliseconds: 0,
    costNanoDollars,
    toolCalls: 1,
    ...(caller.priority === "batch" ? { isBatch: 1 } : {}),
  };
}

export function toToolLabels({ caller, tool }: ToolSettlement, withTools: boolean): UsageLabel[] | undefined {
  return labelsOf(caller, withTools ? [tool.label] : []);
}

/** Returns what a request's usage is summed by in addition to its key and model; undefined without any. */
export function toLabels({ caller, used }: Settlement, withTools: boolean): UsageLabel[] | undefined {
  const { toolCalls, functionCalls } = withTools ? (used.details ?? {}) : {};
  return labelsOf(caller, Object.keys({ ...toolCalls, ...functionCalls }));
}

function labelsOf(caller: Caller, tools: readonly string[]): UsageLabel[] | undefined {
  const { endUser, tags = [], prompt } = caller.labels ?? {};
  const labels: UsageLabel[] = [
    ...(endUser === undefined ? [] : [{ kind: "end_user", value: endUser } as const]),
    ...tags.map((value) => ({ kind: "tag", value }) as const),
    ...(prompt === undefined ? [] : [{ kind: "prompt", value: prompt } as const]),
    ...tools.map((value) => ({ kind: "tool", value }) as const),
  ];
  return labels.length === 0 ? undefined : labels;
}

/** Returns the last millisecond of the UTC day: budgets count a request in the day in which it started. */
function endOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS + DAY_MS - 1;
}
