/** GET /v1/organization/requests: metadata of single requests. */

import { z } from "zod";
import { invalidRequest } from "../../../kernel/faults.ts";
import { queryBoolean, queryNumber } from "./organization-list.ts";

const MAX_LIMIT = 100;
const MAX_VALUES = 100;
const MAX_LENGTH = 256;

const values = z
  .preprocess(
    (value) => (typeof value === "string" ? value.split(",") : value),
    z.array(z.string().min(1).max(MAX_LENGTH)).max(MAX_VALUES),
  )
  .optional();

const LISTS = ["project_ids", "api_key_ids", "models", "operations"] as const;

export const RequestListQuery = z.strictObject({
  limit: queryNumber(z.int().min(1).max(MAX_LIMIT)).default(20),
  page: z.string().min(1).max(MAX_LENGTH).optional(),
  status: z.enum(["succeeded", "failed"]).optional(),
  stream: queryBoolean().optional(),
  ...(Object.fromEntries(LISTS.flatMap((list) => [list, `${list}[]`]).map((name) => [name, values])) as Record<
    `${(typeof LISTS)[number]}${"" | "[]"}`,
    typeof values
  >),
});

export function toRequestFilter(query: z.output<typeof RequestListQuery>) {
  const list = (name: (typeof LISTS)[number]) => query[name] ?? query[`${name}[]`];
  return {
    projectIds: list("project_ids"),
    keyIds: list("api_key_ids"),
    models: list("models"),
    operations: list("operations"),
    isFailed: query.status === undefined ? undefined : query.status === "failed",
  };
}

interface Position {
  at: number;
  id: string;
}

const PAGE = /^page_(\d{1,15})_([\w-]{1,100})$/;

/** Throws a Fault for a page that is not the `next_page` of an answer. */
export function toPosition(page: string | undefined): Position | undefined {
  if (page === undefined) return undefined;
  const [, at, id] = PAGE.exec(page) ?? [];
  if (at !== undefined && id !== undefined) return { at: Number(at), id };
  const message = "Invalid value for 'page': send the `next_page` of the previous response.";
  throw invalidRequest(message, "page", "invalid_value");
}

interface Entry {
  id: string;
  at: number;
  projectId: string;
  keyId: string;
  operation: string;
  model: string | null;
  answeredBy: string | null;
  deployment: string | null;
  status: number;
  outcome: string | null;
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
}

const NANO = 1e9;

function toRequestEntry(entry: Entry) {
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
  };
}

export function toRequestPage({ entries, next }: { entries: readonly Entry[]; next: Position | undefined }) {
  return {
    object: "page" as const,
    data: entries.map(toRequestEntry),
    has_more: next !== undefined,
    next_page: next === undefined ? null : `page_${next.at}_${next.id}`,
  };
}

/** Renders a server-sent event; without an entry, a comment that keeps the connection open. */
export function toRequestFrame(entry: Entry | undefined): string {
  return entry === undefined ? ": keep-alive\n\n" : `data: ${JSON.stringify(toRequestEntry(entry))}\n\n`;
}
