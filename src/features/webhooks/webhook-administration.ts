/** What administrators do with webhooks: endpoints with the outcome of their deliveries, the log, tests and retries. */

import { Fault } from "../../kernel/faults.ts";
import type { Database } from "../../storage/database.ts";
import type { Page } from "../../storage/page.ts";
import { type Actor, checkAuthor } from "../accounts/index.ts";
import { countPendingDeliveries, requeueWebhookDelivery } from "./delivery-queries.ts";
import { findWebhookLog, listWebhookLog, summarizeWebhookLog, type WebhookLogRequest } from "./log-queries.ts";
import type { WebhookEndpoint } from "./settings.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";
import type { WebhookLogRow } from "./webhook-rows.ts";

export interface EndpointStatus extends Pick<WebhookEndpoint, "url" | "events"> {
  /** Deliveries in the log, by state. */
  counts: Record<WebhookLogRow["state"], number>;
  /** Deliveries that are due now or later. */
  pending: number;
  lastAttemptAt: number | null;
}

export class WebhookAdministration {
  readonly #database: Database;
  readonly #outbox: WebhookOutbox;

  constructor({ database, outbox }: { database: Database; outbox: WebhookOutbox }) {
    this.#database = database;
    this.#outbox = outbox;
  }

  async endpoints(): Promise<EndpointStatus[]> {
    const summaries = await this.#database.run(summarizeWebhookLog);
    const pending = await this.#database.run(countPendingDeliveries);
    return this.#outbox.endpoints.map(({ url, events }) => {
      const counts = { delivered: 0, retrying: 0, failed: 0 };
      let lastAttemptAt: number | null = null;
      for (const { endpoint, state, count, attemptedAt } of summaries) {
        if (endpoint !== url) continue;
        counts[state] += count;
        lastAttemptAt = Math.max(lastAttemptAt ?? 0, attemptedAt);
      }
      return { url, events, counts, pending: pending.find((each) => each.endpoint === url)?.count ?? 0, lastAttemptAt };
    });
  }

  /** Throws a Fault for an unknown cursor. */
  deliveries(request: WebhookLogRequest): Promise<Page<WebhookLogRow>> {
    return this.#database.run((executor) => listWebhookLog(executor, request));
  }

  /** Queues a test event. Returns the delivery's id. Throws a Fault like `checkAuthor`, and when no endpoint has the URL. */
  async test(actor: Actor, url: string): Promise<string> {
    const id = await this.#database.transaction(async (executor) => {
      await checkAuthor(executor, actor);
      return this.#outbox.addTest(executor, this.#endpoint(url), Date.now());
    });
    this.#outbox.wake();
    return id;
  }

  /** Sends a delivery again, with the ID of its event. Throws a Fault like `checkAuthor`, and for an unknown one. */
  async retry(actor: Actor, id: string): Promise<WebhookLogRow> {
    const retried = await this.#database.transaction(async (executor) => {
      await checkAuthor(executor, actor);
      const row = await findWebhookLog(executor, id);
      if (row === undefined) throw new Fault("not-found", `No delivery found with id '${id.slice(0, 100)}'.`);
      const { eventId, endpoint, type, payload, createdAt } = row;
      this.#endpoint(endpoint);
      // As an event that has just been added, so that a clock that differs from the database's does not delay it.
      const delivery = { id, eventId, endpoint, type, payload, createdAt, attempts: 0, dueAt: Date.now() };
      await requeueWebhookDelivery(executor, delivery);
      return row;
    });
    this.#outbox.wake();
    return retried;
  }

  #endpoint(url: string): WebhookEndpoint {
    const endpoint = this.#outbox.endpoints.find((each) => each.url === url);
    if (endpoint !== undefined) return endpoint;
    throw new Fault("not-found", `No webhook endpoint has the URL ${url.slice(0, 200)}. Add it to \`webhooks\`.`, {
      code: "webhook_not_found",
      param: "url",
    });
  }
}
