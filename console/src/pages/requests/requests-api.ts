import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { type Query, request } from "../../api/request.ts";
import { t } from "../../i18n/translate.ts";

/** A load that a request waited for, or an attempt that failed. */
export type RequestStage = RequestEntry["stages"][number];

export type RequestEntry = Answers["RequestEntry"];
export type RequestDetails = Answers["RequestDetails"];

/** Message in the form of OpenTelemetry's conventions, whose parts have fields by their type. */
export type RecordedMessage = NonNullable<RequestDetails["content"]>["input_messages"][number];
export type RecordedPart = Answers["RecordedPart"];

export type RequestPage = Answers["RequestPage"];

export const REQUESTS = "v1/organization/requests";

export function requestQuery(id: string) {
  return queryOptions({
    queryKey: ["request", id],
    queryFn: ({ signal }) => request<RequestDetails>(`${REQUESTS}/${encodeURIComponent(id)}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** Reads prompt and answer, which the audit log notes. */
export async function readContent(id: string): Promise<RequestDetails["content"]> {
  const query = { "include[]": "content" };
  return (await request<RequestDetails>(`${REQUESTS}/${encodeURIComponent(id)}`, { query })).content;
}

/** Rates a request: 1 is good, 0 is bad. */
export function rateRequest(id: string, score: 0 | 1): Promise<unknown> {
  return request(`${REQUESTS}/${encodeURIComponent(id)}/feedback`, { method: "POST", body: { score } });
}

export function histogramQuery(filter: Query) {
  return queryOptions({
    queryKey: ["requests", "histogram", filter],
    queryFn: async ({ signal }) =>
      (
        await request<Answers["RequestHistogram"]>(`${REQUESTS}/histogram`, {
          query: { ...filter, buckets: 60 },
          signal,
        })
      ).data,
    placeholderData: (previous) => previous,
    staleTime: 10_000,
  });
}

/** A stream that broke off has the status 200 and an error. */
export function isFailed({ status, error }: RequestEntry): boolean {
  return (status >= 400 || error !== null) && status !== 499;
}

/** Outcome in words: the status says little to those who do not know it. */
export function outcomeOf(entry: RequestEntry): string {
  const { status, error } = entry;
  if (status === 499) return t("Cancelled by client");
  return isFailed(entry) ? (error ?? t("Status {{status}}", { status: String(status) })) : t("Succeeded");
}
