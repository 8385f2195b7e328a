import { queryOptions } from "@tanstack/react-query";
import { type Query, request } from "../../api/request.ts";

/** A load that a request waited for, or an attempt that failed. */
export interface RequestStage {
  type: "load" | "attempt";
  deployment: string;
  start_ms: number;
  duration_ms: number;
  queued_ms: number | null;
  error: string | null;
  error_message: string | null;
}

export interface RequestEntry {
  id: string;
  /** Unix seconds. */
  ended_at: number;
  project_id: string;
  api_key_id: string;
  operation: string;
  model: string | null;
  answered_by: string | null;
  deployment: string | null;
  status: number;
  outcome: string | null;
  error: string | null;
  error_message: string | null;
  attempts: number | null;
  queued_ms: number | null;
  loading_ms: number | null;
  first_token_ms: number | null;
  duration_ms: number;
  input_tokens: number | null;
  input_cached_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  characters: number | null;
  audio_seconds: number | null;
  cost_usd: number | null;
  stages: RequestStage[];
}

export interface RequestPage {
  data: RequestEntry[];
  next_page: string | null;
}

export interface HistogramBucket {
  start_time: number;
  requests: number;
  errors: number;
}

export const REQUESTS = "v1/organization/requests";

export function requestQuery(id: string) {
  return queryOptions({
    queryKey: ["request", id],
    queryFn: ({ signal }) => request<RequestEntry>(`${REQUESTS}/${encodeURIComponent(id)}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export function histogramQuery(filter: Query) {
  return queryOptions({
    queryKey: ["requests", "histogram", filter],
    queryFn: async ({ signal }) =>
      (
        await request<{ data: HistogramBucket[] }>(`${REQUESTS}/histogram`, {
          query: { ...filter, buckets: 60 },
          signal,
        })
      ).data,
    placeholderData: (previous) => previous,
    staleTime: 10_000,
  });
}

export function isFailed({ status }: RequestEntry): boolean {
  return status >= 400 && status !== 499;
}

/** Outcome in words: the status says little to those who do not know it. */
export function outcomeOf({ status, error }: RequestEntry): string {
  if (status === 499) return "Cancelled by client";
  return status < 400 ? "Succeeded" : (error ?? `Status ${status}`);
}
