/** Rate limits in the unit of the chart's bars. */

import { useQuery } from "@tanstack/react-query";
import { useSession } from "../../api/session.ts";
import { formatNumber } from "../../components/format.ts";
import { type RateLimit, rateLimitsQuery, UNLIMITED } from "../projects/projects-api.ts";
import type { Interval, UsageRow, UsageSelection } from "./usage-query.ts";

export type Metric = "cost" | "tokens" | "requests" | "audioSeconds" | "characters";

/** Limit of what a bar shows. */
const FIELDS: Readonly<Partial<Record<`${Metric} ${Interval}`, keyof RateLimit>>> = {
  "requests 1m": "max_requests_per_1_minute",
  "requests 1d": "max_requests_per_1_day",
  "tokens 1m": "max_tokens_per_1_minute",
};

export interface UsageLimits {
  /** Value to draw; undefined without a limit of one model and project. */
  value: number | undefined;
  /** What the limit is, or how to see it; undefined when bars of this kind have none. */
  note: string | undefined;
}

export function useUsageLimits(metric: Metric, selection: UsageSelection, rows: readonly UsageRow[]): UsageLimits {
  const { project: own, is_admin: isAdmin } = useSession();
  const { interval, model } = selection;
  const field = FIELDS[`${metric} ${interval}`];
  const project = selection.project ?? own?.id ?? null;
  const isChosen = isAdmin && field !== undefined && project !== null && model !== null;
  const limits = useQuery({ ...rateLimitsQuery(project ?? ""), enabled: isChosen });
  // A project's own key may not read its rate limits.
  if (field === undefined || !isAdmin) return { value: undefined, note: undefined };
  if (!isChosen) return { value: undefined, note: "Rate limits are per project and model: choose both to see theirs." };
  const configured = limits.data?.find((limit) => limit.model === model)?.[field];
  if (typeof configured !== "number") return { value: undefined, note: undefined };
  const unit = interval === "1m" ? "minute" : "day";
  if (configured >= UNLIMITED) return { value: undefined, note: `No limit of ${metric} per ${unit}.` };
  const highest = highestBar(rows, metric);
  const share = configured === 0 ? 100 : (100 * highest) / configured;
  return {
    value: configured,
    note: `Limit: ${formatNumber(configured)} ${metric} per ${unit}. The highest ${unit} reached ${share.toFixed(share < 10 ? 1 : 0)} % of it.`,
  };
}

/** Highest sum of a bucket. */
export function highestBar(rows: readonly UsageRow[], metric: Metric): number {
  const sums = new Map<number, number>();
  for (const row of rows) sums.set(row.time, (sums.get(row.time) ?? 0) + row[metric]);
  return Math.max(0, ...sums.values());
}
