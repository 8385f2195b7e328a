/** Usage of every operation in one table, from the reports of the administration API. */

import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { msg, t } from "../../i18n/translate.ts";
import { groupNames } from "./group-names.ts";
import type { Group } from "./groups.ts";

export const RANGES = [
  { value: "1h", label: msg("Last hour") },
  { value: "24h", label: msg("Last 24 hours") },
  { value: "7d", label: msg("Last 7 days") },
  { value: "30d", label: msg("Last 30 days") },
  { value: "365d", label: msg("Last year") },
] as const;
export type Range = (typeof RANGES)[number]["value"];

export const INTERVALS = { "1m": msg("Minute"), "1h": msg("Hour"), "1d": msg("Day") } as const;
export const BY_INTERVAL = { "1m": msg("By minute"), "1h": msg("By hour"), "1d": msg("By day") } as const;
export type Interval = keyof typeof INTERVALS;

/** Widths of the buckets that each range can have, its usual one first. */
export const INTERVALS_OF: Readonly<Record<Range, readonly [Interval, ...Interval[]]>> = {
  "1h": ["1m"],
  "24h": ["1h"],
  "7d": ["1d", "1h"],
  "30d": ["1d"],
  "365d": ["1d"],
};

/** What is read. */
export interface UsageSelection {
  range: Range;
  interval: Interval;
  groupBy: Group;
  /** Null: all. */
  project: string | null;
  model: string | null;
  /** Reads the period before, which is as long. */
  isPrevious?: boolean;
}

export interface UsageRow {
  /** Start of the bucket, Unix seconds. */
  time: number;
  group: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  tokens: number;
  audioSeconds: number;
  characters: number;
  cost: number;
  /** What providers state that requests cost, and what the same requests cost at our prices. */
  reported: number;
  compared: number;
  /** Whether some of the usage has no price. */
  isUnpriced: boolean;
}

type ResultOf<Page extends { data: { results: object[] }[] }> = Page["data"][number]["results"][number];
type Usage = ResultOf<Answers["UsageCompletionsPage"]>;
type Costs = ResultOf<Answers["CostsPage"]>;

export interface Bucket {
  start_time: number;
  /** Result of any report: each has some of the fields. */
  results: (Pick<Usage, "project_id" | "api_key_id" | "user_id"> &
    Partial<
      Pick<Usage, "model" | "num_model_requests" | "input_tokens" | "output_tokens" | "x_end_user" | "x_tag"> &
        Pick<ResultOf<Answers["UsageAudioSpeechesPage"]>, "characters"> &
        Pick<ResultOf<Answers["UsageAudioTranscriptionsPage"]>, "seconds"> &
        Pick<Costs, "line_item" | "x_operation" | "x_unpriced" | "x_reported" | "x_compared"> & {
          amount: Pick<Costs["amount"], "value">;
        }
    >)[];
}

const UNITS: Readonly<Record<Interval, number>> = { "1m": 60, "1h": 3600, "1d": 86_400 };
const SECONDS: Readonly<Record<Range, number>> = {
  "1h": 3600,
  "24h": 86_400,
  "7d": 7 * 86_400,
  "30d": 30 * 86_400,
  "365d": 365 * 86_400,
};
/** Buckets of an answer: as many as the API allows. */
const PAGE_BUCKETS: Readonly<Record<Interval, number>> = { "1m": 1440, "1h": 168, "1d": 31 };

/** Reports of usage, by the operation as costs name it. */
export const REPORTS = {
  chat: "completions",
  embedding: "embeddings",
  moderation: "moderations",
  speech: "audio_speeches",
  transcription: "audio_transcriptions",
  image: "images",
} as const;

export function usageQuery(selection: UsageSelection) {
  return queryOptions({
    queryKey: ["usage", selection],
    queryFn: ({ signal }) => readUsage(selection, signal),
    // A year is read with some 70 requests.
    refetchInterval: selection.range === "365d" || selection.isPrevious ? false : 15_000,
    placeholderData: (previous) => previous,
  });
}

type Span = Pick<UsageSelection, "range" | "interval">;

/** Starts of the range's buckets, the current one last. */
export function bucketsOf({ range, interval }: Span): number[] {
  const unit = UNITS[interval];
  const start = startOf({ range, interval });
  return Array.from({ length: SECONDS[range] / unit }, (_each, index) => start + index * unit);
}

function startOf({ range, interval }: Span): number {
  const unit = UNITS[interval];
  return Math.floor((Date.now() / 1000 - SECONDS[range]) / unit + 1) * unit;
}

async function readUsage(selection: UsageSelection, signal: AbortSignal): Promise<UsageRow[]> {
  const { interval, groupBy, project, model } = selection;
  const current = startOf(selection);
  const start = selection.isPrevious ? current - SECONDS[selection.range] : current;
  const query = {
    start_time: start,
    ...(selection.isPrevious && { end_time: current }),
    bucket_width: interval,
    ...(project !== null && { project_ids: project }),
  };
  const limit = PAGE_BUCKETS[interval];
  // A key's name is found below its project.
  const groups = groupBy === "api_key_id" ? ["api_key_id", "project_id"] : groupBy === "time" ? [] : [groupBy];
  const [costs, ...reports] = await Promise.all([
    readBuckets(
      "v1/organization/costs",
      {
        ...query,
        limit: interval === "1d" ? 180 : limit,
        group_by: groups.map((group) => (group === "model" ? "line_item" : group)),
        ...(model !== null && { line_items: model }),
      },
      signal,
    ),
    ...Object.values(REPORTS).map((report) =>
      readBuckets(
        `v1/organization/usage/${report}`,
        {
          ...query,
          limit,
          group_by: groups.filter((group) => group !== "operation"),
          ...(model !== null && { models: model }),
        },
        signal,
      ),
    ),
  ]);
  const operations = Object.keys(REPORTS);
  const results = [costs, ...reports].flatMap((buckets, index) =>
    buckets.flatMap(({ start_time: time, results }) =>
      results.map((result) => ({ time, result, operation: result.x_operation ?? operations[index - 1] })),
    ),
  );
  const idOf = ({ result, operation }: (typeof results)[number]) => {
    if (groupBy === "time") return t("All");
    if (groupBy === "operation") return operation ?? t("unknown");
    if (groupBy === "model") return result.model ?? result.line_item ?? t("unknown");
    if (groupBy === "end_user") return result.x_end_user ?? t("None");
    if (groupBy === "tag") return result.x_tag ?? t("None");
    if (groupBy === "user_id") return result.user_id ?? t("Programs");
    return result[groupBy] ?? t("unknown");
  };
  const names = await groupNames(
    groupBy,
    results.map((each) => ({ id: idOf(each), project: each.result.project_id })),
    signal,
  );
  const rows = new Map<string, UsageRow>();
  for (const each of results) {
    const { time, result } = each;
    const id = idOf(each);
    const key = `${time} ${id}`;
    const row = rows.get(key) ?? { ...NOTHING, time, group: names.get(id) ?? id };
    rows.set(key, row);
    addResult(row, result);
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
  reported: 0,
  compared: 0,
  isUnpriced: false,
};

/** Whether there is usage, none of it with a price. */
export function isUnpriced(costs: readonly Bucket[]): boolean {
  const results = costs.flatMap((bucket) => bucket.results);
  return results.length > 0 && results.every((result) => result.x_unpriced === true);
}

/** Reads every page of a report. */
export async function readBuckets(
  path: string,
  query: Record<string, string | number | readonly string[]>,
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

/** IDs of the models that were used in a range. */
export function usedModelsQuery(range: Range) {
  return queryOptions({
    queryKey: ["used-models", range],
    queryFn: async ({ signal }) => {
      const start = startOf({ range, interval: INTERVALS_OF[range][0] });
      const query = { start_time: start, group_by: "line_item", limit: 180 };
      const buckets = await readBuckets("v1/organization/costs", query, signal);
      const models = buckets.flatMap(({ results }) => results.flatMap(({ line_item }) => line_item ?? []));
      return [...new Set(models)].sort();
    },
  });
}

function addResult(row: UsageRow, result: Bucket["results"][number]): void {
  row.requests += result.num_model_requests ?? 0;
  row.inputTokens += result.input_tokens ?? 0;
  row.outputTokens += result.output_tokens ?? 0;
  row.tokens = row.inputTokens + row.outputTokens;
  row.audioSeconds += result.seconds ?? 0;
  row.characters += result.characters ?? 0;
  row.cost += result.amount?.value ?? 0;
  row.reported += result.x_reported ?? 0;
  row.compared += result.x_compared ?? 0;
  row.isUnpriced ||= result.x_unpriced === true;
}
