/** GET /v1/organization/requests: metadata of single requests. */

import { z } from "zod";
import { invalidRequest } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { inNanoDollars } from "../../../kernel/nano-dollars.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { RequestHistogram, RequestPage } from "../../openapi/request-answers.ts";
import { queryBoolean, queryNumber } from "./organization-list.ts";
import { type ShownRequest, toRequestEntry } from "./request-entries.ts";

const MAX_LIMIT = 100;
const MAX_VALUES = 100;
const MAX_LENGTH = 256;

/** A number with a fraction, such as a time with milliseconds. */
export function queryDecimal<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) => (typeof value === "string" && /^\d{1,15}(\.\d{1,15})?(e-\d{1,2})?$/.test(value) ? Number(value) : value),
    schema,
  );
}

const values = z
  .preprocess(
    (value) => (typeof value === "string" ? value.split(",") : value),
    z.array(z.string().min(1).max(MAX_LENGTH)).max(MAX_VALUES),
  )
  .optional();

const LISTS = ["project_ids", "api_key_ids", "models", "operations", "deployments", "end_users"] as const;

/** Conditions that the list, its search, its histogram and exports share. */
export const requestFilters = () => ({
  status: z.enum(["succeeded", "failed"]).optional(),
  start_time: queryDecimal(z.number().min(0)).optional(),
  end_time: queryDecimal(z.number().min(0)).optional(),
  min_duration_ms: queryNumber(z.int().min(0)).optional(),
  min_cost_usd: queryDecimal(z.number().min(0)).optional(),
  ...(Object.fromEntries(LISTS.flatMap((list) => [list, `${list}[]`]).map((name) => [name, values])) as Record<
    `${(typeof LISTS)[number]}${"" | "[]"}`,
    typeof values
  >),
});

export const requestLimit = () => queryNumber(z.int().min(1).max(MAX_LIMIT)).default(20);

export const RequestListQuery = lazy.strictObject(() => ({
  limit: requestLimit(),
  page: z.string().min(1).max(MAX_LENGTH).optional(),
  stream: queryBoolean().optional(),
  sort_by: z
    .enum(["first_token_ms", "duration_ms", "total_tokens", "cost_usd"])
    .optional()
    .describe("Sorts by a measure instead of by time, at most 1,000,000 requests. Those without it are last."),
  order: z.enum(["asc", "desc"]).optional().describe("Order of `sort_by`. Default: `desc`, the largest first."),
  ...requestFilters(),
}));
const FilterQuery = lazy.strictObject(requestFilters);

type ListQuery = z.output<typeof RequestListQuery>;

export function toRequestFilter(query: z.output<typeof FilterQuery>) {
  const list = (name: (typeof LISTS)[number]) => query[name] ?? query[`${name}[]`];
  return {
    projectIds: list("project_ids"),
    keyIds: list("api_key_ids"),
    models: list("models"),
    operations: list("operations"),
    deployments: list("deployments"),
    endUsers: list("end_users"),
    isFailed: query.status === undefined ? undefined : query.status === "failed",
    from: query.start_time === undefined ? undefined : Math.floor(1000 * query.start_time),
    until: query.end_time === undefined ? undefined : Math.floor(1000 * query.end_time),
    minDurationMilliseconds: query.min_duration_ms,
    minCostNanoDollars: query.min_cost_usd === undefined ? undefined : inNanoDollars(query.min_cost_usd),
  };
}

/** The order of a list; undefined: newest first. Throws a Fault for an order without a measure, or of a stream. */
export function toRequestOrder({ sort_by: measure, order, stream }: ListQuery) {
  if (measure !== undefined && stream === true) {
    const message = "Invalid value for 'sort_by': a stream follows the order of time. Leave out 'sort_by' or 'stream'.";
    throw invalidRequest(message, "sort_by", "invalid_value");
  }
  if (measure !== undefined) return { measure, isDescending: order !== "asc" };
  if (order === undefined) return undefined;
  const message = "Invalid value for 'order': it needs 'sort_by'. Without it, the list is newest first.";
  throw invalidRequest(message, "order", "invalid_value");
}

interface Position {
  at: number;
  id: string;
}
interface SortedPosition extends Position {
  rank: number;
}

const PAGE = /^page_(\d{1,15})_([\w-]{1,100})$/;

/** Throws a Fault for a page that is not the `next_page` of an answer. */
export function toPosition(page: string | undefined): Position | undefined {
  if (page === undefined) return undefined;
  const [, at, id] = PAGE.exec(page) ?? [];
  if (at !== undefined && id !== undefined) return { at: Number(at), id };
  throw notAPage();
}

const SORTED_PAGE = /^sorted_(-?\d{1,16})_(\d{1,15})_([\w-]{1,100})$/;

/** As `toPosition`, of a sorted list. */
export function toSortedPosition(page: string | undefined): SortedPosition | undefined {
  if (page === undefined) return undefined;
  const [, rank, at, id] = SORTED_PAGE.exec(page) ?? [];
  if (id !== undefined) return { rank: Number(rank), at: Number(at), id };
  throw notAPage();
}

function notAPage() {
  const message = "Invalid value for 'page': send the `next_page` of the previous response, with the same order.";
  return invalidRequest(message, "page", "invalid_value");
}

export function toRequestPage(
  { entries, next }: { entries: readonly ShownRequest[]; next: Position | SortedPosition | undefined },
  showsCauses: boolean,
): AnswerOf<typeof RequestPage> {
  return {
    object: "page" as const,
    data: entries.map((entry) => toRequestEntry(entry, showsCauses)),
    has_more: next !== undefined,
    next_page: next === undefined ? null : toPage(next),
  };
}

function toPage(position: Position | SortedPosition): string {
  const place = `${position.at}_${position.id}`;
  return "rank" in position ? `sorted_${position.rank}_${place}` : `page_${place}`;
}

const MAX_RANGE_SECONDS = 31 * 86_400;
const MAX_BUCKETS = 120;

export const RequestHistogramQuery = lazy.strictObject(() => ({
  ...requestFilters(),
  start_time: queryDecimal(z.number().min(0)),
  end_time: queryDecimal(z.number().min(0)),
  buckets: queryNumber(z.int().min(1).max(MAX_BUCKETS)).default(60),
}));

/** Epoch milliseconds. Throws a Fault for a range that is empty or longer than 31 days. */
export function toHistogramRange({ start_time, end_time }: z.output<typeof RequestHistogramQuery>) {
  const seconds = end_time - start_time;
  if (seconds > 0 && seconds <= MAX_RANGE_SECONDS) return { from: 1000 * start_time, until: 1000 * end_time };
  const message = "Invalid value for 'end_time': it must be after 'start_time', by at most 31 days.";
  throw invalidRequest(message, "end_time", "invalid_value");
}

/** Sums of a histogram, the oldest bucket first. */
export function toRequestHistogram(
  buckets: readonly { beginsAt: number; requests: number; errors: number }[],
): AnswerOf<typeof RequestHistogram> {
  return {
    object: "list" as const,
    data: buckets.map(({ beginsAt, requests, errors }) => ({ start_time: beginsAt / 1000, requests, errors })),
  };
}
