/** Webhook endpoints of projects, as OpenAI's clients send and read them. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { webhookUrl } from "../../kernel/settings/webhooks.ts";
import { listOfEntries } from "../openapi/list-answers.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { PAGE_QUERY, toSeconds } from "./organization/organization-list.ts";

const NAME = z.string().trim().min(1).max(200);
const EVENT_TYPE = z.string().min(1).max(100);
const EVENT_TYPES = listOf(EVENT_TYPE).min(1).max(100);

export const WebhookEndpointCreateBody = named(
  "WebhookEndpointCreateBody",
  lazy.strictObject(() => ({
    name: NAME,
    url: webhookUrl.describe("Receives a POST for each event. Redirects are not followed."),
    event_types: EVENT_TYPES.describe("Types that `GET /v1/webhook_event_types` lists."),
  })),
);

export const WebhookEndpointUpdateBody = named(
  "WebhookEndpointUpdateBody",
  lazy.strictObject(() => ({
    name: NAME.optional(),
    url: webhookUrl.optional(),
    event_types: EVENT_TYPES.optional().describe("All types that the endpoint gets from now on."),
  })),
);

export const WebhookSecretRotationBody = named(
  "WebhookSecretRotationBody",
  lazy.strictObject(() => ({
    keep_old_secret_active_for_24_hours: z
      .boolean()
      .default(false)
      .describe("Signs each event with both secrets for 24 hours."),
  })),
);

export const WebhookEndpointTestBody = named(
  "WebhookEndpointTestBody",
  lazy.strictObject(() => ({ event_type: EVENT_TYPE })),
);

export const WebhookEndpointListQuery = lazy.looseObject(() => ({ ...PAGE_QUERY }));

const fields = () => ({
  id: z.string(),
  object: z.literal("webhook_endpoint"),
  name: z.string(),
  url: z.string().describe("Of an endpoint of the configuration: its origin."),
  event_types: z.array(z.string()),
  signing_secret_hint: z.string().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
  is_configured: z.boolean().describe("Whether it is in the configuration, where alone it can be changed."),
});

export const ProjectWebhookEndpoint = named("ProjectWebhookEndpoint", lazy.object(fields));
export const ProjectWebhookEndpointList = listOfEntries(ProjectWebhookEndpoint);

export const ProjectWebhookEndpointWithSecret = named(
  "ProjectWebhookEndpointWithSecret",
  lazy.object(() => ({ ...fields(), signing_secret: z.string().describe("Shown this once.") })),
);

export const WebhookEndpointTestResult = named(
  "WebhookEndpointTestResult",
  lazy.object(() => ({
    object: z.literal("webhook_endpoint.test"),
    webhook_endpoint_id: z.string(),
    event_type: z.string(),
    status_code: z.int(),
    success: z.literal(true).describe("The endpoint has answered; `status_code` says what."),
  })),
);

export const ProjectWebhookEventTypes = named(
  "ProjectWebhookEventTypes",
  lazy.object(() => ({ object: z.literal("list"), data: z.array(z.string()) })),
);

interface ShownEndpoint {
  id: string;
  name: string;
  url: string;
  events: readonly string[];
  secretHint: string | null;
  createdAt: number;
  updatedAt: number;
  isConfigured: boolean;
}

export function toWebhookEndpoint(shown: ShownEndpoint): AnswerOf<typeof ProjectWebhookEndpoint> {
  const { id, name, url, events, secretHint, createdAt, updatedAt, isConfigured } = shown;
  return {
    id,
    object: "webhook_endpoint",
    name,
    url,
    event_types: [...events],
    signing_secret_hint: secretHint,
    created_at: toSeconds(createdAt),
    updated_at: toSeconds(updatedAt),
    is_configured: isConfigured,
  };
}
