/** Usage of every operation in one table, from the reports of the administration API. */

import { queryOptions } from "@tanstack/react-query";
import { listAll, request } from "../../api/request.ts";

export const RANGES = [
  { value: "24h", label: "Last 24 hours" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
  { value: "365d", label: "Last year" },
] as const;
export type Range = (typeof RANGES)[number]["value"];

export const GROUPS = [
  { value: "model", label: "Model" },
  { value: "project_id", label: "Project" },
  { value: "api_key_id", label: "Key" },
  { value: "operation", label: "Operation" },
] as const;
export type Group = (typeof GROUPS)[number]["value"];

export interface UsageRow {
  /** Unix seconds. */
  time: number;
  group: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  tokens: number;
  audioSeconds: number;
  characters: number;
  cost: number;
}

interface Bucket {
  start_time: number;
  results: {
    model?: string | null;
    line_item?: string | null;
    project_id: string | null;
    api_key_id: string | null;
    num_model_requests?: number;
    input_tokens?: number;
    output_tokens?: number;
    characters?: number;
    seconds?: number;
    amount?: { value: number };
  }[];
}

const DAY = 86_400;
const WIDTHS: Readonly<Record<Range, { width: "1h" | "1d"; seconds: number }>> = {
  "24h": { width: "1h", seconds: DAY },
  "7d": { width: "1d", seconds: 7 * DAY },
  "30d": { width: "1d", seconds: 30 * DAY },
  "365d": { width: "1d", seconds: 365 * DAY },
};
const KINDS = ["completions", "embeddings", "moderations", "audio_speeches", "audio_transcriptions"];

export function usageQuery(range: Range, groupBy: Group) {
  return queryOptions({
    queryKey: ["usage", range, groupBy],
    queryFn: ({ signal }) => readUsage(range, groupBy, signal),
    refetchInterval: 15_000,
    placeholderData: (previous) => previous,
  });
}

/** Starts of the range's buckets, the current one last. */
export function bucketsOf(range: Range): number[] {
  const { width, seconds } = WIDTHS[range];
  const unit = width === "1h" ? 3600 : DAY;
  return Array.from({ length: seconds / unit }, (_each, index) => startOf(range) + index * unit);
}

function startOf(range: Range): number {
  const { width, seconds } = WIDTHS[range];
  const unit = width === "1h" ? 3600 : DAY;
  return Math.floor((Date.now() / 1000 - seconds) / unit + 1) * unit;
}

async function readUsage(range: Range, groupBy: Group, signal: AbortSignal): Promise<UsageRow[]> {
  const { width } = WIDTHS[range];
  const start = startOf(range);
  const limit = width === "1h" ? 24 : 31;
  const reportGroup = groupBy === "operation" ? "model" : groupBy;
  const costGroup = reportGroup === "model" ? "line_item" : reportGroup;
  const [names, costs, ...reports] = await Promise.all([
    namesOf(groupBy, signal),
    readBuckets("v1/organization/costs", { start_time: start, group_by: costGroup, limit: 180 }, signal),
    ...KINDS.map((kind) =>
      readBuckets(
        `v1/organization/usage/${kind}`,
        { start_time: start, bucket_width: width, group_by: reportGroup, limit },
        signal,
      ),
    ),
  ]);
  const rows = new Map<string, UsageRow>();
  const rowOf = (time: number, id: string): UsageRow => {
    const key = `${time} ${id}`;
    const row = rows.get(key) ?? { ...NOTHING, time, group: names.get(id) ?? id };
    rows.set(key, row);
    return row;
  };
  const buckets = reports.flatMap((report, index) => report.map((bucket) => ({ ...bucket, operation: KINDS[index] })));
  for (const { start_time: time, results, operation } of buckets) {
    for (const result of results) {
      const row = rowOf(time, (groupBy === "operation" ? operation : result[groupBy]) ?? "unknown");
      row.requests += result.num_model_requests ?? 0;
      row.inputTokens += result.input_tokens ?? 0;
      row.outputTokens += result.output_tokens ?? 0;
      row.tokens = row.inputTokens + row.outputTokens;
      row.audioSeconds += result.seconds ?? 0;
      row.characters += result.characters ?? 0;
    }
  }
  // Costs have days only: those of the last 24 hours are shown at the first hour of their day in the range.
  // They are not known by operation.
  for (const { start_time: time, results } of groupBy === "operation" ? [] : costs) {
    for (const result of results) {
      const cost = result.amount?.value ?? 0;
      if (cost > 0) rowOf(Math.max(time, start), result[costGroup] ?? "unknown").cost += cost;
    }
  }
  return [...rows.values()].sort((a, b) => a.time - b.time);
}

const NOTHING = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  tokens: 0,
  audioSeconds: 0,
  characters: 0,
  cost: 0,
};

async function readBuckets(
  path: string,
  query: Record<string, string | number>,
  signal: AbortSignal,
): Promise<Bucket[]> {
  const buckets: Bucket[] = [];
  let page: string | undefined;
  do {
    const answer = await request<{ data: Bucket[]; next_page: string | null }>(path, {
      query: { ...query, page },
      signal,
    });
    buckets.push(...answer.data);
    page = answer.next_page ?? undefined;
  } while (page !== undefined);
  return buckets;
}

/** Names of projects; a project's own key may not list them. */
async function namesOf(groupBy: Group, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  if (groupBy !== "project_id") return new Map();
  const path = "v1/organization/projects";
  const projects = await listAll<{ id: string; name: string }>(path, { include_archived: true }, signal).catch(
    () => [],
  );
  return new Map(projects.map(({ id, name }) => [id, name]));
}
