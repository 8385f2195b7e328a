import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { type Page, request } from "../../api/request.ts";
import { CONFIGURATION_QUERIES } from "../connections/connections-api.ts";

export type Webhook = Answers["Webhook"];
export type Delivery = Answers["WebhookDelivery"];

const WEBHOOKS = "v1/organization/webhooks";
const SETTING = "v1/organization/configuration/settings/webhooks";
const REFRESH_MS = 3_000;

export const webhooksQuery = queryOptions({
  queryKey: ["webhooks", "endpoints"],
  queryFn: async ({ signal }) => (await request<Page<Webhook>>(WEBHOOKS, { signal })).data,
  refetchInterval: REFRESH_MS,
});

/** Types of events that an endpoint can get. */
export const eventTypesQuery = queryOptions({
  queryKey: ["webhooks", "events"],
  queryFn: async ({ signal }) =>
    (await request<Page<Answers["WebhookEventType"]>>(`${WEBHOOKS}/events`, { signal })).data,
  staleTime: Number.POSITIVE_INFINITY,
});

export const deliveriesQuery = (filter: { url: string; state: string }) =>
  infiniteQueryOptions({
    queryKey: ["webhooks", "deliveries", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: 100,
        after: pageParam,
        ...(filter.url !== "" && { url: filter.url }),
        ...(filter.state !== "" && { state: filter.state }),
      };
      return request<Page<Delivery>>(`${WEBHOOKS}/deliveries`, { query, signal });
    },
    getNextPageParam: ({ has_more: hasMore, last_id: last }) => (hasMore ? (last ?? undefined) : undefined),
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    refetchInterval: REFRESH_MS,
  });

export function sendTest(url: string): Promise<{ delivery_id: string }> {
  return request(`${WEBHOOKS}/test`, { method: "POST", body: { url } });
}

export function retryDelivery(id: string): Promise<Delivery> {
  return request(`${WEBHOOKS}/deliveries/${encodeURIComponent(id)}/retry`, { method: "POST" });
}

/** As in parlance.yaml; stored secrets are `[redacted]`. */
export interface EndpointSetting {
  url: string;
  secret: string;
  events?: string[];
}

/** Prefixes of the queries that a change of the endpoints affects. */
export const WEBHOOK_QUERIES = [...CONFIGURATION_QUERIES, ["webhooks"]];

export function saveEndpoints(value: readonly EndpointSetting[]): Promise<unknown> {
  return request(SETTING, value.length === 0 ? { method: "DELETE" } : { method: "POST", body: { value } });
}

const SECRET_BYTES = 32;

/** A random key of signatures, in the form of the Standard Webhooks specification. */
export function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`;
}
