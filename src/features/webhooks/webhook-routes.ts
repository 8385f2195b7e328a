import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  toWebhook,
  toWebhookDelivery,
  toWebhookEventType,
  toWebhookTest,
  Webhook,
  WebhookDeliveriesQuery,
  WebhookDelivery,
  WebhookEventType,
  WebhookTest,
  WebhookTestBody,
} from "../../wire/openai/organization/organization-webhooks.ts";
import { listOfEntries } from "../../wire/openapi/list-answers.ts";
import { type Accounts, actorOf, READ, requireDefaultOrganization, WRITE } from "../accounts/index.ts";
import type { WebhookAdministration } from "./webhook-administration.ts";
import { WEBHOOK_EVENTS } from "./webhook-event.ts";

/** Tests reach every endpoint, so that no endpoint lists them. */
const EVENT_TYPES = Object.entries(WEBHOOK_EVENTS)
  .filter(([type]) => type !== "webhook.test")
  .map(([type, { when }]) => ({ type, when }));

/** /v1/organization/webhooks */
export function webhookRoutes(accounts: Accounts, webhooks: WebhookAdministration): FastifyPluginAsync {
  return routes(
    (app) => requireDefaultOrganization(app, accounts),
    operation(
      "GET /webhooks",
      {
        ...READ,
        summary:
          "Lists the endpoints of webhooks with the outcome of their deliveries. Not in OpenAI's API; admin keys of the default organization only.",
        answer: listOfEntries(Webhook),
      },
      async () => toListBody({ entries: await webhooks.endpoints(), hasMore: false }, toWebhook),
    ),
    operation(
      "GET /webhooks/events",
      {
        ...READ,
        summary: "Lists the types of events that an endpoint of webhooks can get. Not in OpenAI's API.",
        answer: listOfEntries(WebhookEventType),
      },
      async () => toListBody({ entries: EVENT_TYPES, hasMore: false }, toWebhookEventType),
    ),
    operation(
      "POST /webhooks/test",
      {
        ...WRITE,
        summary: "Sends a test event to an endpoint of webhooks. Not in OpenAI's API.",
        body: WebhookTestBody,
        answer: WebhookTest,
      },
      async ({ body, request }) => toWebhookTest(await webhooks.test(actorOf(request), body.url)),
    ),
    operation(
      "GET /webhooks/deliveries",
      {
        ...READ,
        summary: "Lists deliveries of webhooks, newest first. Not in OpenAI's API.",
        query: WebhookDeliveriesQuery,
        answer: listOfEntries(WebhookDelivery),
      },
      async ({ query: { url: endpoint, state, ...page } }) => {
        return toListBody(await webhooks.deliveries({ ...page, endpoint, state, order: "desc" }), toWebhookDelivery);
      },
    ),
    operation(
      "POST /webhooks/deliveries/:delivery/retry",
      {
        ...WRITE,
        summary: "Sends a delivery of a webhook again, with the ID of its event. Not in OpenAI's API.",
        answer: WebhookDelivery,
      },
      async ({ params, request }) => toWebhookDelivery(await webhooks.retry(actorOf(request), params.delivery)),
    ),
  );
}
