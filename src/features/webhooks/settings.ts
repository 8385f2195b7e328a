/** List `webhooks`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";
import { webhookSecret, webhookUrl } from "../../kernel/settings/webhooks.ts";
import { WEBHOOK_EVENT_TYPES } from "./webhook-event.ts";

const endpoint = mapping(() => ({
  url: webhookUrl.describe("Receives a POST for each event. Redirects are not followed."),
  secret: webhookSecret,
  events: z
    .array(z.enum(WEBHOOK_EVENT_TYPES))
    .min(1)
    .default([...WEBHOOK_EVENT_TYPES])
    .describe("Events to send. Default: all."),
}));

export const webhookSettings = z
  .array(endpoint)
  .max(20)
  .refine((endpoints) => new Set(endpoints.map(({ url }) => url)).size === endpoints.length, {
    error: "must not contain a URL twice",
  })
  .default([])
  .describe("Endpoints that get events, signed as in the Standard Webhooks specification.");

export type WebhookEndpoint = z.output<typeof endpoint>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    webhooks: readonly WebhookEndpoint[];
  }
}
