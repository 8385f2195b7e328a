import { z } from "zod";
import { DAY_SECONDS, HOUR_SECONDS } from "../../../kernel/durations.ts";
import { invalidRequest, unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import type { UsageKind } from "../../openapi/usage-answers.ts";
import { queryBoolean, queryNumber } from "./organization-list.ts";

const MAX_VALUES = 100;
const MAX_LENGTH = 256;
/** The year 9999. */
const LAST_SECOND = 253_402_300_799;

const unixSeconds = queryNumber(z.int().min(0).max(LAST_SECOND));
/** Schema of a repeatable parameter: a single value is a string, several are an array. */
const values = z
  .preprocess(
    (value) => (typeof value === "string" ? value.split(",") : value),
    z.array(z.string().min(1).max(MAX_LENGTH)).max(MAX_VALUES),
  )
  .optional();

const LISTS = [
  ...(["group_by", "project_ids", "api_key_ids", "models", "user_ids", "line_items"] as const),
  ...(["sources", "sizes", "end_users", "tags", "tools", "prompts"] as const),
] as const;

/** Query parameters; names of arrays may end in brackets. */
const QUERY = {
  start_time: unixSeconds,
  end_time: unixSeconds.optional(),
  limit: queryNumber(z.int().min(1)).optional(),
  page: z.string().max(MAX_LENGTH).optional(),
  ...(Object.fromEntries(LISTS.flatMap((list) => [list, `${list}[]`]).map((name) => [name, values])) as Record<
    `${(typeof LISTS)[number]}${"" | "[]"}`,
    typeof values
  >),
};

/** OpenAI's costs have days only; minutes, hours, batches and further groups are extensions. */
export const UsageQuery = lazy.strictObject(() => ({
  ...QUERY,
  bucket_width: z.enum(["1m", "1h", "1d"]).default("1d"),
  batch: queryBoolean().optional(),
}));

const { limit: _limit, page: _page, ...RANGE } = UsageQuery.shape;
export const UsageExportQuery = lazy.strictObject(() => ({
  ...RANGE,
  format: z.enum(["csv", "parquet"]).default("csv"),
}));

/** Bucket widths in seconds, with the maximum and default number of buckets per page. */
const WIDTHS = {
  "1m": { bucketSeconds: 60, maxBuckets: 1440, defaultBuckets: 60 },
  "1h": { bucketSeconds: 3600, maxBuckets: 168, defaultBuckets: 24 },
  "1d": { bucketSeconds: DAY_SECONDS, maxBuckets: 31, defaultBuckets: 7 },
} as const;
const COSTS_WIDTHS = { ...WIDTHS, "1d": { ...WIDTHS["1d"], maxBuckets: 180 } } as const;

/** The last five are extensions. */
const COMMON_GROUPS = {
  project_id: "projectId",
  api_key_id: "keyId",
  user_id: "userId",
  api_source: "apiSource",
  batch: "isBatch",
  service_tier: "serviceTier",
  deployment: "deployment",
  end_user: "label",
  tag: "label",
  tool: "label",
  prompt: "label",
} as const;
const TOOL_GROUPS = { project_id: "projectId", api_key_id: "keyId", user_id: "userId" } as const;
const GROUPS = { ...COMMON_GROUPS, model: "model" } as const;
const IMAGE_GROUPS = { ...GROUPS, source: "imageSource", size: "imageSize" } as const;
const EXPORT_GROUPS = { ...COMMON_GROUPS, model: "model", line_item: "model", operation: "operation" } as const;
const COST_GROUPS = { ...COMMON_GROUPS, line_item: "model", operation: "operation" } as const;

/** Filters by label, with the kinds of their labels, which are groups, too. */
const LABEL_FILTERS = { end_users: "end_user", tags: "tag", tools: "tool", prompts: "prompt" } as const;

type Query = Omit<z.output<typeof UsageQuery>, "bucket_width">;

/**
 * Converts the query's times to milliseconds. Throws a Fault for unsupported parameters. `now` is in epoch
 * milliseconds.
 */
export function toUsageRequest(kind: UsageKind, query: z.output<typeof UsageQuery>, now: number) {
  refuseList(query, "line_items", "only costs have line items");
  const width = WIDTHS[query.bucket_width];
  const order = { ...toOrder(query, width, now), models: listIn(query, "models") };
  if (kind !== "images") return { ...withoutImages(query, order), groupBy: groupsIn(query, GROUPS) };
  const images = { imageSources: listIn(query, "sources"), imageSizes: listIn(query, "sizes") };
  return { ...order, ...images, groupBy: groupsIn(query, IMAGE_GROUPS) };
}

/** Throws a Fault for filters that only images have. */
function withoutImages<Order>(query: Query, order: Order): Order {
  for (const name of ["sources", "sizes"] as const) refuseList(query, name, "only images have it");
  return order;
}

/** Converts a query of calls of tools, which no model is part of. */
export function toToolUsageRequest(query: z.output<typeof UsageQuery>, now: number) {
  refuseList(query, "line_items", "only costs have line items");
  refuseList(query, "models", "searches and sessions are counted without their model");
  const order = withoutImages(query, toOrder(query, WIDTHS[query.bucket_width], now));
  return { ...order, groupBy: groupsIn(query, TOOL_GROUPS) };
}

/** Converts a query of costs, whose line items are models. */
export function toCostsRequest(query: z.output<typeof UsageQuery>, now: number) {
  refuseList(query, "models", "use 'line_items' with model IDs");
  const order = withoutImages(query, toOrder(query, COSTS_WIDTHS[query.bucket_width], now));
  return { ...order, groupBy: groupsIn(query, COST_GROUPS), models: listIn(query, "line_items") };
}

/** Converts a query of an export, which has no pages. */
export function toExportRequest(query: z.output<typeof UsageExportQuery>, now: number) {
  const { maxBuckets: _pages, ...order } = withoutImages(query, toOrder(query, WIDTHS[query.bucket_width], now));
  return {
    ...order,
    groupBy: groupsIn(query, EXPORT_GROUPS),
    models: listIn(query, "models") ?? listIn(query, "line_items"),
  };
}

type Width = (typeof WIDTHS | typeof COSTS_WIDTHS)[keyof typeof WIDTHS];

function toOrder(query: Query, { bucketSeconds, maxBuckets, defaultBuckets }: Width, now: number) {
  const { start_time: start, limit = defaultBuckets } = query;
  if (limit > maxBuckets)
    throw invalidRequest(
      `'limit' is ${limit}; the maximum for this bucket width is ${maxBuckets}.`,
      "limit",
      "invalid_value",
    );
  if (query.end_time !== undefined && query.end_time <= start) {
    throw invalidRequest(
      `'end_time' must be after 'start_time' (${start}), not ${query.end_time}.`,
      "end_time",
      "invalid_value",
    );
  }
  return {
    from: query.page === undefined ? start * 1000 : readPage(query.page, start, bucketSeconds) * 1000,
    // Without an end, the current bucket is the last one.
    until: query.end_time === undefined ? Math.max(now, start * 1000 + 1) : query.end_time * 1000,
    bucketSeconds,
    maxBuckets: limit,
    projectIds: listIn(query, "project_ids"),
    keyIds: listIn(query, "api_key_ids"),
    userIds: listIn(query, "user_ids"),
    isBatch: query.batch,
    ...labelsIn(query, bucketSeconds),
  };
}

/** Kind and values of the labels that a query groups or filters by. Throws a Fault for two kinds: their sums overlap. */
function labelsIn(query: Query, bucketSeconds: number) {
  const groups = listIn(query, "group_by") ?? [];
  const filters = Object.entries(LABEL_FILTERS) as [
    keyof typeof LABEL_FILTERS,
    "end_user" | "tag" | "tool" | "prompt",
  ][];
  const requested = filters.filter(([filter, kind]) => listIn(query, filter) !== undefined || groups.includes(kind));
  const [first, second] = requested;
  if (first === undefined) return {};
  if (second !== undefined) {
    const message = `'${first[1]}' and '${second[1]}' cannot be combined: usage is summed for each by itself. Send two requests.`;
    throw invalidRequest(message, groups.includes(second[1]) ? "group_by" : second[0], "invalid_value");
  }
  if (bucketSeconds < HOUR_SECONDS) {
    const message = `Usage by ${first[1]} is summed by hour and day. Use a 'bucket_width' of 1h or 1d.`;
    throw invalidRequest(message, "bucket_width", "invalid_value");
  }
  return { labelKind: first[1], labels: listIn(query, first[0]) };
}

function listIn(query: Query, name: (typeof LISTS)[number]): readonly string[] | undefined {
  return query[name] ?? query[`${name}[]`];
}

function refuseList(query: Query, name: (typeof LISTS)[number], reason: string): void {
  if (listIn(query, name) !== undefined) throw unsupportedValue(`'${name}' is not supported: ${reason}.`, name);
}

function groupsIn<Group extends string>(query: Query, known: Readonly<Record<string, Group>>): Group[] {
  const groups = (listIn(query, "group_by") ?? []).map((name, index) => {
    const group = Object.hasOwn(known, name) ? known[name] : undefined;
    if (group !== undefined) return group;
    const names = Object.keys(known).map((each) => `"${each}"`);
    const message = `Invalid value for 'group_by': ${JSON.stringify(name.slice(0, 64))} is not one of ${names.join(", ")}.`;
    throw invalidRequest(message, `group_by[${index}]`, "invalid_value");
  });
  return [...new Set(groups)];
}

const PAGE = /^page_(\d{1,12})$/;

function readPage(page: string, start: number, bucketSeconds: number): number {
  const seconds = Number(PAGE.exec(page)?.[1] ?? Number.NaN);
  if (seconds > start && seconds % bucketSeconds === 0) return seconds;
  throw invalidRequest(
    "Invalid value for 'page': send the `next_page` of the previous response.",
    "page",
    "invalid_value",
  );
}
