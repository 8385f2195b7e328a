/** Stores events in the transaction of what they report, one delivery per endpoint. */

import { newId } from "../../kernel/id.ts";
import type { Executor } from "../../storage/database.ts";
import { insertWebhookDeliveries } from "./delivery-queries.ts";
import type { WebhookEndpoint } from "./settings.ts";
import type { WebhookEvent, WebhookEventType } from "./webhook-event.ts";

export class WebhookOutbox {
  #endpoints: readonly WebhookEndpoint[];
  #onAdded: () => void = () => {};

  constructor(endpoints: readonly WebhookEndpoint[]) {
    this.#endpoints = endpoints;
  }

  get endpoints(): readonly WebhookEndpoint[] {
    return this.#endpoints;
  }

  /** Takes effect for the next event. */
  replace(endpoints: readonly WebhookEndpoint[]): void {
    this.#endpoints = endpoints;
  }

  /** Calls `listener` after each addition, whose transaction may not be committed yet. */
  onAdded(listener: () => void): void {
    this.#onAdded = listener;
  }

  isSubscribed(...types: readonly WebhookEventType[]): boolean {
    return this.endpoints.some(({ events }) => types.some((type) => events.includes(type)));
  }

  /** Costs nothing where no endpoint wants the event. */
  async add(executor: Executor, event: WebhookEvent, now: number): Promise<void> {
    const endpoints = this.endpoints.filter(({ events }) => events.includes(event.type));
    if (endpoints.length === 0) return;
    await this.#insert(executor, event, endpoints, now);
    this.#onAdded();
  }

  /** Stores a test event for one endpoint, whatever events it wants. Returns the delivery's id. */
  async addTest(executor: Executor, { url }: WebhookEndpoint, now: number): Promise<string> {
    const event: WebhookEvent = { type: "webhook.test", data: { message: "This is a test of the endpoint." } };
    const [id = ""] = await this.#insert(executor, event, [{ url }], now);
    return id;
  }

  /** Has what is due sent soon: the transaction that added it may not be committed yet. */
  wake(): void {
    this.#onAdded();
  }

  /** Returns the ids of the deliveries. */
  async #insert(
    executor: Executor,
    { type, data }: WebhookEvent,
    endpoints: readonly Pick<WebhookEndpoint, "url">[],
    now: number,
  ): Promise<string[]> {
    const eventId = newId("evt_");
    // The fields of OpenAI's events, whose clients read `created_at`, and the timestamp of Standard Webhooks.
    const times = { created_at: Math.floor(now / 1000), timestamp: new Date(now).toISOString() };
    const payload = JSON.stringify({ id: eventId, object: "event", ...times, type, data });
    const delivery = { eventId, type, payload, createdAt: now, attempts: 0, dueAt: now };
    const rows = endpoints.map(({ url }) => ({ ...delivery, id: newId("whd_"), endpoint: url }));
    await insertWebhookDeliveries(executor, rows);
    return rows.map(({ id }) => id);
  }
}
