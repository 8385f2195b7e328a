/** Pages of usage and of costs. */

import { HOUR_MS } from "../../../kernel/durations.ts";
import { inDollars } from "../../../kernel/nano-dollars.ts";
import type { RecordedDetails, RecordedUsage } from "../../../kernel/usage.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { CostsPage, ToolUsageKind, UsageKind } from "../../openapi/usage-answers.ts";
import { toSeconds } from "./organization-list.ts";

export interface ShownSum extends RecordedUsage, RecordedDetails {
  requests: number;
  /** Undefined unless grouped by it. */
  projectId?: string;
  keyId?: string;
  model?: string;
  deployment?: string;
  operation?: string;
  serviceTier?: string | null;
  isBatch?: number;
  /** Null: a key of a service account. */
  userId?: string | null;
  apiSource?: string;
  imageSource?: string | null;
  imageSize?: string | null;
  label?: string;
}

interface Report {
  /** Kind of the labels in the sums. */
  labelKind?: "end_user" | "tag" | "tool" | "prompt" | undefined;
  buckets: readonly { beginsAt: number; endsAt: number; sums: readonly ShownSum[] }[];
  next: number | undefined;
}

export function toUsagePage(kind: UsageKind, report: Report) {
  return toPage(report, (sum, { beginsAt, endsAt }) => ({
    object: `organization.usage.${kind}.result` as const,
    ...AMOUNTS[kind](sum, endsAt - beginsAt),
    num_model_requests: sum.requests,
    project_id: sum.projectId ?? null,
    user_id: sum.userId ?? null,
    api_key_id: sum.keyId ?? null,
    model: sum.model ?? null,
    ...(sum.apiSource !== undefined && { api_source: sum.apiSource }),
    ...(kind === "images" && { source: sum.imageSource ?? null, size: sum.imageSize ?? null }),
    ...(kind === "completions" && {
      batch: sum.isBatch === undefined ? null : sum.isBatch === 1,
      service_tier: serviceTierOf(sum),
    }),
    ...extensionsOf(sum, report),
  }));
}

/** Renders calls of a tool. */
export function toToolUsagePage(kind: ToolUsageKind, report: Report) {
  const { object, toAmounts } = TOOL_AMOUNTS[kind];
  return toPage(report, (sum) => ({
    object: `organization.usage.${object}.result` as const,
    ...toAmounts(sum.requests),
    project_id: sum.projectId ?? null,
    user_id: sum.userId ?? null,
    api_key_id: sum.keyId ?? null,
  }));
}

const TOOL_AMOUNTS = {
  code_interpreter_sessions: {
    object: "code_interpreter_sessions",
    toAmounts: (calls: number) => ({ num_sessions: calls }),
  },
  file_search_calls: { object: "file_searches", toAmounts: (calls: number) => ({ num_requests: calls }) },
  web_search_calls: {
    object: "web_searches",
    toAmounts: (calls: number) => ({ num_requests: calls, num_model_requests: calls }),
  },
} as const;

/** Name of the standard tier in OpenAI's API. */
function serviceTierOf({ serviceTier }: ShownSum): string | null {
  return serviceTier === undefined ? null : (serviceTier ?? "default");
}

/** Groups that OpenAI's API does not have. */
function extensionsOf({ deployment, label }: ShownSum, { labelKind }: Report): Record<string, string> {
  return {
    ...(deployment !== undefined && { x_deployment: deployment }),
    ...(label !== undefined && { [`x_${labelKind}`]: label }),
  };
}

const AMOUNTS: Readonly<Record<UsageKind, (sum: ShownSum, bucketMs: number) => Record<string, number>>> = {
  completions: (sum) => ({
    input_tokens: sum.promptTokens,
    input_cached_tokens: sum.cachedTokens,
    input_cache_write_tokens: sum.cacheWriteTokens,
    input_uncached_tokens: sum.promptTokens - sum.cachedTokens - sum.cacheWriteTokens,
    output_tokens: sum.completionTokens,
    input_audio_tokens: sum.inputAudioTokens,
    output_audio_tokens: sum.outputAudioTokens,
    x_output_reasoning_tokens: sum.reasoningTokens,
    x_num_tool_calls: sum.toolCalls,
  }),
  embeddings: (sum) => ({ input_tokens: sum.promptTokens }),
  moderations: (sum) => ({ input_tokens: sum.promptTokens }),
  audio_speeches: (sum) => ({ characters: sum.characters }),
  audio_transcriptions: (sum) => ({ seconds: Math.round(sum.audioMilliseconds / 1000) }),
  images: (sum) => ({ images: sum.images }),
  // The mean size during the bucket. Sizes are recorded each hour.
  vector_stores: ({ storedByteHours }, bucketMs) => ({
    usage_bytes: Math.round(storedByteHours / Math.max(1, bucketMs / HOUR_MS)),
    x_stored_byte_hours: storedByteHours,
  }),
};

/** Renders costs. Clients read the amount as a number, so it is 0 with `x_unpriced` when the price was unknown. */
export function toCostsPage(report: Report): AnswerOf<typeof CostsPage> {
  return toPage(report, (sum) => ({
    object: "organization.costs.result" as const,
    amount: { value: inDollars(sum.costNanoDollars ?? 0), currency: "usd" },
    ...(sum.costNanoDollars === null ? { x_unpriced: true } : {}),
    ...(sum.operation === undefined ? {} : { x_operation: sum.operation }),
    ...(sum.isBatch === undefined ? {} : { x_batch: sum.isBatch === 1 }),
    ...(sum.serviceTier === undefined ? {} : { x_service_tier: serviceTierOf(sum) }),
    ...extensionsOf(sum, report),
    ...statedCosts(sum),
    line_item: sum.model ?? null,
    project_id: sum.projectId ?? null,
    api_key_id: sum.keyId ?? null,
    user_id: sum.userId ?? null,
    ...(sum.apiSource !== undefined && { api_source: sum.apiSource }),
    quantity: null,
  }));
}

function toPage<Result>(
  { buckets, next }: Report,
  toResult: (sum: ShownSum, bucket: Pick<Report["buckets"][number], "beginsAt" | "endsAt">) => Result,
) {
  return {
    object: "page" as const,
    data: buckets.map(({ beginsAt, endsAt, sums }) => ({
      object: "bucket" as const,
      start_time: toSeconds(beginsAt),
      end_time: toSeconds(endsAt),
      results: sums.map((sum) => toResult(sum, { beginsAt, endsAt })),
    })),
    has_more: next !== undefined,
    next_page: next === undefined ? null : `page_${toSeconds(next)}`,
  };
}

/** Costs that upstreams reported, and the costs by price of the same requests. */
function statedCosts({ reportedCostNanoDollars: reported, comparedCostNanoDollars: compared }: ShownSum) {
  return {
    ...(reported === null ? {} : { x_reported: inDollars(reported) }),
    ...(compared === null ? {} : { x_compared: inDollars(compared) }),
  };
}
