/** Filters of the list of requests, as the address has them. */

import { useMemo } from "react";
import type { Query } from "../../api/request.ts";
import { useAddressState } from "../../components/use-address-state.ts";
import { msg } from "../../i18n/translate.ts";
import { isFailed, REQUESTS, type RequestEntry } from "./requests-api.ts";

export const RANGES = [
  { value: "15m", label: msg("Last 15 minutes"), seconds: 900 },
  { value: "1h", label: msg("Last hour"), seconds: 3600 },
  { value: "24h", label: msg("Last 24 hours"), seconds: 86_400 },
  { value: "7d", label: msg("Last 7 days"), seconds: 7 * 86_400 },
] as const;

/** Measures that order the list, by their names in the address, where `-` stands before those that begin with the largest. */
const SORTS = {
  first: "first_token_ms",
  duration: "duration_ms",
  tokens: "total_tokens",
  cost: "cost_usd",
} as const;
export type SortKey = keyof typeof SORTS;

const DEFAULTS = {
  range: "24h",
  /** Unix seconds of a part that was selected in the histogram; empty: the entire range. */
  from: "",
  to: "",
  status: "all",
  model: "",
  project: "",
  key: "",
  /** End user, which requests name themselves. */
  user: "",
  slower: "",
  costlier: "",
  /** Words of prompts and answers that were recorded. */
  words: "",
  sort: "",
};
export type RequestFilters = typeof DEFAULTS;

const { range: _range, sort: _sort, ...conditions } = DEFAULTS;
/** Shows every request of the range. */
export const NO_CONDITIONS: Partial<RequestFilters> = conditions;

export interface FilterState {
  filters: RequestFilters;
  change: ReturnType<typeof useAddressState<RequestFilters>>[1];
  /** Path and parameters of the list. */
  list: { path: string; query: Query };
  /** What the API takes, for the histogram of the range. */
  histogram: Query;
  isFiltered: boolean;
  /** Whether a measure orders the list instead of time. */
  isSorted: boolean;
}

/** `now` moves the range on, in Unix seconds. */
export function useRequestFilters(now: number): FilterState {
  const [filters, change] = useAddressState(DEFAULTS);
  return useMemo(() => {
    const { range, from, to, words, sort } = filters;
    const measure = words === "" ? SORTS[sort.replace(/^-/, "") as SortKey] : undefined;
    const seconds = (RANGES.find(({ value }) => value === range) ?? RANGES[2]).seconds;
    const conditions = toConditions(filters);
    const start = now - seconds;
    return {
      filters,
      change,
      list: {
        path: words === "" ? REQUESTS : `${REQUESTS}/search`,
        query: {
          ...conditions,
          query: words || undefined,
          start_time: from || start,
          end_time: to || undefined,
          ...(measure !== undefined && { sort_by: measure, order: sort.startsWith("-") ? "desc" : "asc" }),
        },
      },
      histogram: { ...conditions, start_time: start, end_time: now },
      isSorted: measure !== undefined,
      isFiltered: from !== "" || words !== "" || Object.values(conditions).some((value) => value !== undefined),
    };
  }, [filters, change, now]);
}

/** Whether a request that has just ended belongs into the list. */
export function matches(entry: RequestEntry, filters: RequestFilters): boolean {
  const { status, model, project, key, user, slower, costlier, words, to } = filters;
  // The content of a request is not recorded yet.
  const isInRange = words === "" && (to === "" || entry.ended_at < Number(to));
  const equal: [filter: string, value: unknown][] = [
    [model, entry.model],
    [project, entry.project_id],
    [key, entry.api_key_id],
    [user, entry.end_user],
  ];
  const atLeast: [filter: string, value: number][] = [
    [slower, entry.duration_ms],
    [costlier, entry.cost_usd ?? 0],
  ];
  return (
    isInRange &&
    equal.every(([filter, value]) => filter === "" || value === filter) &&
    atLeast.every(([filter, value]) => filter === "" || value >= Number(filter)) &&
    (status === "all" || (status === "failed") === (isFailed(entry) || entry.status === 499))
  );
}

function toConditions({ status, model, project, key, user, slower, costlier }: RequestFilters): Query {
  return {
    status: status === "all" ? undefined : status,
    models: model || undefined,
    project_ids: project || undefined,
    api_key_ids: key || undefined,
    end_users: user || undefined,
    min_duration_ms: slower || undefined,
    min_cost_usd: costlier || undefined,
  };
}
