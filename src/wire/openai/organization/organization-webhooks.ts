/** Webhooks of the installation: endpoints and their deliveries. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { PAGE_QUERY, toSeconds, toSecondsOrNull } from "./organization-list.ts";

const STATES = ["delivered", "retrying", "failed"] as const;

export const WebhookDeliveriesQuery = lazy.strictObject(() => ({
  ...PAGE_QUERY,
  url: z.string().min(1).max(2000).optional().describe("Lists deliveries to this endpoint."),
  state: z.enum(STATES).optional(),
}));

export const WebhookTestBody = named(
  "WebhookTestBody",
  lazy.strictObject(() => ({
    url: z.string().min(1).max(2000).describe("URL of an endpoint"),
  })),
);

const count = z.int().min(0);

export const Webhook = named(
  "Webhook",
  lazy.object(() => ({
    object: z.literal("organization.webhook"),
    id: z.string().describe("The URL"),
    url: z.string(),
    events: z.array(z.string()),
    delivered: count,
    retrying: count,
    failed: count,
    pending: count.describe("Deliveries in the outbox"),
    last_attempt_at: z.number().nullable(),
  })),
);

export const WebhookDelivery = named(
  "WebhookDelivery",
  lazy.object(() => ({
    object: z.literal("organization.webhook.delivery"),
    id: z.string(),
    event_id: z.string(),
    type: z.string(),
    url: z.string(),
    state: z.enum(STATES),
    attempts: count,
    created_at: z.number(),
    attempted_at: z.number(),
    duration_ms: count,
    status: z.int().nullable().describe("HTTP status of the last attempt; null: no answer"),
    answer: z.string().describe("Beginning of the last answer, or why there was none"),
    payload: z.string().describe("Body of the request"),
  })),
);

export const WebhookTest = named(
  "WebhookTest",
  lazy.object(() => ({
    object: z.literal("organization.webhook.test"),
    delivery_id: z.string(),
  })),
);

export const WebhookEventType = named(
  "WebhookEventType",
  lazy.object(() => ({
    object: z.literal("organization.webhook.event_type"),
    id: z.string().describe("The type"),
    type: z.string(),
    description: z.string().describe("When the event is sent"),
  })),
);

export function toWebhookEventType({ type, when }: { type: string; when: string }): AnswerOf<typeof WebhookEventType> {
  return { object: "organization.webhook.event_type", id: type, type, description: when };
}

interface ShownEndpoint {
  url: string;
  events: readonly string[];
  counts: Record<(typeof STATES)[number], number>;
  pending: number;
  lastAttemptAt: number | null;
}

export function toWebhook({ url, events, counts, ...status }: ShownEndpoint): AnswerOf<typeof Webhook> {
  return {
    object: "organization.webhook",
    id: url,
    url,
    events: [...events],
    ...counts,
    pending: status.pending,
    last_attempt_at: toSecondsOrNull(status.lastAttemptAt),
  };
}

interface ShownDelivery {
  id: string;
  eventId: string;
  type: string;
  endpoint: string;
  state: (typeof STATES)[number];
  attempts: number;
  createdAt: number;
  attemptedAt: number;
  durationMs: number;
  status: number | null;
  answer: string;
  payload: string;
}

export function toWebhookDelivery(shown: ShownDelivery): AnswerOf<typeof WebhookDelivery> {
  const { id, eventId, type, endpoint, state, attempts, status, answer, payload } = shown;
  return {
    object: "organization.webhook.delivery",
    id,
    event_id: eventId,
    type,
    url: endpoint,
    state,
    attempts,
    created_at: toSeconds(shown.createdAt),
    attempted_at: toSeconds(shown.attemptedAt),
    duration_ms: shown.durationMs,
    status,
    answer,
    payload,
  };
}

export function toWebhookTest(id: string): AnswerOf<typeof WebhookTest> {
  return { object: "organization.webhook.test", delivery_id: id };
}
