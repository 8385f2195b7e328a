/** Rate limits in the unit of the chart's bars. */

import { useQuery } from "@tanstack/react-query";
import { useSession } from "../../api/session.ts";
import { formatFixed } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import { rateLimitsQuery, UNLIMITED } from "../projects/projects-api.ts";
import type { Interval, UsageRow, UsageSelection } from "./usage-query.ts";

export type Metric = "cost" | "tokens" | "requests" | "audioSeconds" | "characters";

/** Limit of what a bar shows. */
const FIELDS: Readonly<Partial<Record<`${Metric} ${Interval}`, LimitField>>> = {
  "requests 1m": "max_requests_per_1_minute",
  "requests 1d": "max_requests_per_1_day",
  "tokens 1m": "max_tokens_per_1_minute",
};
type LimitField = "max_requests_per_1_minute" | "max_requests_per_1_day" | "max_tokens_per_1_minute";

interface LimitNotes {
  none: () => string;
  reached: (values: { limit: number; share: string }) => string;
}

const NOTES: Readonly<Record<LimitField, LimitNotes>> = {
  max_requests_per_1_minute: {
    none: () => t("No limit of requests per minute."),
    reached: (values) =>
      t("Limit: {{limit}} requests per minute. The highest minute reached {{share}} % of it.", values),
  },
  max_requests_per_1_day: {
    none: () => t("No limit of requests per day."),
    reached: (values) => t("Limit: {{limit}} requests per day. The highest day reached {{share}} % of it.", values),
  },
  max_tokens_per_1_minute: {
    none: () => t("No limit of tokens per minute."),
    reached: (values) => t("Limit: {{limit}} tokens per minute. The highest minute reached {{share}} % of it.", values),
  },
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
  if (!isChosen)
    return { value: undefined, note: t("Rate limits are per project and model: choose both to see theirs.") };
  const configured = limits.data?.find((limit) => limit.model === model)?.[field];
  if (typeof configured !== "number") return { value: undefined, note: undefined };
  const texts = NOTES[field];
  if (configured >= UNLIMITED) return { value: undefined, note: texts.none() };
  const highest = highestBar(rows, metric);
  const share = configured === 0 ? 100 : (100 * highest) / configured;
  return {
    value: configured,
    note: texts.reached({ limit: configured, share: formatFixed(share, share < 10 ? 1 : 0) }),
  };
}

/** Highest sum of a bucket. */
export function highestBar(rows: readonly UsageRow[], metric: Metric): number {
  const sums = new Map<number, number>();
  for (const row of rows) sums.set(row.time, (sums.get(row.time) ?? 0) + row[metric]);
  return Math.max(0, ...sums.values());
}
