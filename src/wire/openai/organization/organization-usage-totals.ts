/** Sums of usage over days, which are not in OpenAI's API. */

import { z } from "zod";
import { DAY_MS, DAY_SECONDS } from "../../../kernel/durations.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import type { RecordedUsage } from "../../../kernel/usage.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { UsageTotals } from "../../openapi/usage-answers.ts";
import { queryNumber } from "./organization-list.ts";

const MAX_DAYS = 31;
/** The year 9999. */
const LAST_SECOND = 253_402_300_799;

const unixSeconds = queryNumber(z.int().min(0).max(LAST_SECOND));

export const UsageTotalsQuery = lazy.strictObject(() => ({
  start_time: unixSeconds.describe("Unix seconds; rounded down to the start of its day in UTC."),
  end_time: unixSeconds.optional().describe("Exclusive; rounded up to the end of its day. Default: now."),
}));

/** Converts the query to whole days. Throws a Fault for more than 31. */
export function toDays({ start_time, end_time }: z.output<typeof UsageTotalsQuery>, now: number) {
  const from = Math.floor((start_time * 1000) / DAY_MS) * DAY_MS;
  const until = end_time === undefined ? Math.max(now, from + 1) : end_time * 1000;
  if (until <= start_time * 1000 && end_time !== undefined) {
    const message = `'end_time' must be after 'start_time' (${start_time}), not ${end_time}.`;
    throw invalidRequest(message, "end_time", "invalid_value");
  }
  const days = Math.ceil((until - from) / DAY_MS);
  if (days > MAX_DAYS) {
    const message = `The time from 'start_time' to 'end_time' has ${days} days; the maximum is ${MAX_DAYS}.`;
    throw invalidRequest(message, "end_time", "invalid_value");
  }
  const groupBy = ["projectId", "model", "operation"] as const;
  return { from, until, bucketSeconds: DAY_SECONDS, groupBy, maxBuckets: MAX_DAYS } as const;
}

interface UsageSum extends RecordedUsage {
  requests: number;
  projectId?: string;
  model?: string;
}

/** Renders one entry per project and model, sorted by both. */
export function toUsageTotals(sums: readonly UsageSum[]): AnswerOf<typeof UsageTotals> {
  const groups = Map.groupBy(sums, ({ projectId, model }) => `${projectId} ${model}`);
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { object: "list" as const, data: sorted.map(([, group]) => toTotal(group)) };
}

function toTotal(group: readonly UsageSum[]): AnswerOf<typeof UsageTotals>["data"][number] {
  const add = (of: (sum: UsageSum) => number) => group.reduce((all, sum) => all + of(sum), 0);
  const isPriced = group.some(({ costNanoDollars }) => costNanoDollars !== null);
  return {
    object: "organization.usage.total" as const,
    project_id: group[0]?.projectId ?? "",
    model: group[0]?.model ?? "",
    num_model_requests: add((sum) => sum.requests),
    input_tokens: add((sum) => sum.promptTokens),
    output_tokens: add((sum) => sum.completionTokens),
    characters: add((sum) => sum.characters),
    audio_seconds: add((sum) => sum.audioMilliseconds) / 1000,
    cost_nano_dollars: isPriced ? add((sum) => sum.costNanoDollars ?? 0) : null,
  };
}
