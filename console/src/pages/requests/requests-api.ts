import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { type Query, request } from "../../api/request.ts";

/** A load that a request waited for, or an attempt that failed. */
export type RequestStage = RequestEntry["stages"][number];

export type RequestEntry = Answers["RequestEntry"];

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
