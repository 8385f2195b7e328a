/** What other features may use. */

export { removeWebhookDeliveriesBefore } from "./delivery-queries.ts";
export { removeWebhookLogBefore } from "./log-queries.ts";
export { signWebhook } from "./sign-webhook.ts";
export type { WebhookOutbox } from "./webhook-outbox.ts";
