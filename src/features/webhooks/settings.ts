/** List `webhooks`, and section `webhook_endpoints`. */

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

export const webhookEndpointSettings = mapping(
  () => ({
    max_per_project: z.int().min(0).max(100).default(20).describe("Endpoints of a project; 0: none can be created."),
    private_hosts: z
      .array(z.string().regex(/^[^\s/@]+$/, { error: "must be a host, such as hooks.internal or 10.0.0.5:8080" }))
      .max(100)
      .default([])
      .describe(
        "Hosts in private networks, with a port or for every port, that endpoints of projects may be at, also with http:. All other endpoints have to be at public addresses with https:.",
      ),
  }),
  "Endpoints of webhooks that projects create (`/v1/webhook_endpoints`), beside those of `webhooks`.",
);

export type WebhookEndpoint = z.output<typeof endpoint>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    webhooks: readonly WebhookEndpoint[];
    webhookEndpoints: z.output<typeof webhookEndpointSettings>;
  }
}
