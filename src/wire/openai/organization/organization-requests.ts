/** GET /v1/organization/requests: metadata of single requests. */

import { z } from "zod";
import { invalidRequest } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { RequestHistogram, RequestPage } from "../../openapi/request-answers.ts";
import { queryBoolean, queryNumber } from "./organization-list.ts";

const MAX_LIMIT = 100;
const MAX_VALUES = 100;
const MAX_LENGTH = 256;
const NANO = 1e9;

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
    minCostNanoDollars: query.min_cost_usd === undefined ? undefined : Math.round(NANO * query.min_cost_usd),
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

export interface ShownRequest {
  id: string;
  /** Time of the end. */
  at: number;
  projectId: string;
  keyId: string;
  operation: string;
  /** As the caller wrote it, truncated. */
  model: string | null;
  answeredBy: string | null;
  deployment: string | null;
  status: number;
  outcome: string | null;
  /** Code or kind of the error; never its message, which may quote the request. */
  error: string | null;
  attempts: number | null;
  queuedMilliseconds: number | null;
  firstTokenMilliseconds: number | null;
  durationMilliseconds: number;
  promptTokens: number | null;
  cachedTokens: number | null;
  completionTokens: number | null;
  characters: number | null;
  audioMilliseconds: number | null;
  costNanoDollars: number | null;
  details: ShownDetails | null;
}

export interface ShownDetails {
  stages?: readonly ShownStage[] | undefined;
  /** Message of the error that the client got, if it was the service's or an upstream's. */
  message?: string | undefined;
  cause?: string | undefined;
  reasoningTokens?: number | undefined;
  /** What the cache did; left out without one. */
  cache?: "hit" | "miss" | "bypass" | undefined;
  costParts?: readonly { unit: string; quantity: number; costNanoDollars: number }[] | undefined;
  reportedCostNanoDollars?: number | undefined;
  comparedCostNanoDollars?: number | undefined;
  serviceTier?: string | undefined;
  endUser?: string | undefined;
  tags?: readonly string[] | undefined;
  /** What the guardrails did, without any content. */
  guardrails?: readonly GuardrailRecord[] | undefined;
}

interface GuardrailRecord {
  type: string;
  stage: "input" | "output";
  outcome: "passed" | "masked" | "blocked" | "reported" | "failed";
  findings: Readonly<Record<string, number>>;
}

export interface ShownStage {
  kind: "load" | "attempt" | "moderation" | "turn" | "tool";
  /** Deployment, or the tool that was called. */
  deployment: string;
  /** Milliseconds since the request's beginning. */
  startMs: number;
  durationMs: number;
  /** Part of the duration that an attempt waited for a slot. */
  queuedMs?: number | undefined;
  /** Code or kind of the error that ended it. */
  error?: string | undefined;
  message?: string | undefined;
  /** Message of an upstream or an engine, for administrators: it may name hosts and files. */
  cause?: string | undefined;
}

/** `showsCauses`: whether the caller may read messages of upstreams and engines, which name hosts and files. */
export function toRequestEntry(
  entry: ShownRequest,
  showsCauses: boolean,
): AnswerOf<typeof RequestPage>["data"][number] {
  const {
    stages = [],
    message,
    cause,
    reasoningTokens,
    cache,
    costParts,
    serviceTier,
    endUser,
    tags,
    guardrails = [],
  } = entry.details ?? {};
  const { reportedCostNanoDollars: reported, comparedCostNanoDollars: compared } = entry.details ?? {};
  const loads = stages.filter(({ kind }) => kind === "load");
  return {
    id: entry.id,
    object: "organization.request" as const,
    /** Time of the end, in Unix seconds with milliseconds. */
    ended_at: entry.at / 1000,
    project_id: entry.projectId,
    api_key_id: entry.keyId,
    operation: entry.operation,
    model: entry.model,
    answered_by: entry.answeredBy,
    deployment: entry.deployment,
    status: entry.status,
    outcome: entry.outcome,
    error: entry.error,
    attempts: entry.attempts,
    queued_ms: entry.queuedMilliseconds,
    first_token_ms: entry.firstTokenMilliseconds,
    duration_ms: entry.durationMilliseconds,
    input_tokens: entry.promptTokens,
    input_cached_tokens: entry.cachedTokens,
    output_tokens: entry.completionTokens,
    characters: entry.characters,
    audio_seconds: entry.audioMilliseconds === null ? null : entry.audioMilliseconds / 1000,
    cost_usd: entry.costNanoDollars === null ? null : entry.costNanoDollars / NANO,
    reasoning_tokens: reasoningTokens ?? null,
    /** Null for a model without a cache. */
    cache: cache ?? null,
    cost_parts:
      costParts?.map(({ unit, quantity, costNanoDollars }) => ({ unit, quantity, cost_usd: costNanoDollars / NANO })) ??
      null,
    reported_cost_usd: reported === undefined ? null : reported / NANO,
    compared_cost_usd: compared === undefined ? null : compared / NANO,
    service_tier: serviceTier ?? null,
    end_user: endUser ?? null,
    tags: [...(tags ?? [])],
    /** Null when the model was loaded. */
    loading_ms: loads.length === 0 ? null : loads.reduce((sum, { durationMs }) => sum + durationMs, 0),
    guardrails: guardrails.map(({ type, stage, outcome, findings }) => ({ type, stage, outcome, findings })),
    error_message: (showsCauses ? cause : undefined) ?? message ?? null,
    stages: stages.map((stage) => ({
      type: stage.kind,
      deployment: stage.deployment,
      start_ms: stage.startMs,
      duration_ms: stage.durationMs,
      queued_ms: stage.queuedMs ?? null,
      error: stage.error ?? null,
      error_message: (showsCauses ? stage.cause : undefined) ?? stage.message ?? null,
    })),
  };
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

/** Renders a server-sent event; without an entry, a comment that keeps the connection open. */
export function toRequestFrame(entry: ShownRequest | undefined, showsCauses: boolean): string {
  return entry === undefined ? ": keep-alive\n\n" : `data: ${JSON.stringify(toRequestEntry(entry, showsCauses))}\n\n`;
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
