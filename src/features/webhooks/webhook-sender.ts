/** Delivers what is in the outbox. Replicas share the work: each takes deliveries that no other one has taken. */

import { request } from "undici";
import { type Backoff, backoffDelay } from "../../kernel/async/backoff.ts";
import { DAY_MS, HOUR_MS, HOUR_SECONDS, MINUTE_MS } from "../../kernel/durations.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import { VERSION } from "../../kernel/version.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Database } from "../../storage/database.ts";
import {
  claimWebhookDeliveries,
  deleteWebhookDelivery,
  postponeWebhookDelivery,
  removeWebhookDeliveriesBefore,
} from "./delivery-queries.ts";
import { signWebhook } from "./sign-webhook.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";
import type { WebhookDeliveryRow } from "./webhook-rows.ts";

export type WebhookOutcome = "delivered" | "retried" | "dropped";

export interface WebhookSenderOptions {
  database: Database;
  outbox: WebhookOutbox;
  logger: Logger;
  onAttempt: (type: string, outcome: WebhookOutcome) => void;
  /** In seconds. */
  backoff?: Backoff;
}

/** Adds up to 18 hours with the backoff below. */
const MAX_ATTEMPTS = 16;
const BACKOFF_SECONDS: Backoff = { initial: 5, max: 4 * HOUR_SECONDS, jitter: [0.8, 1.2] };
const TIMEOUT_MS = 15_000;
/** Longer than an attempt with its queries. */
const CLAIM_MS = MINUTE_MS;
const DELIVERIES_AT_ONCE = 10;
const POLL_MS = 2_000;
/** Lets the transaction of a new event commit. */
const WAKE_MS = 50;
const CLEANUP_MS = HOUR_MS;
const KEEP_MS = 7 * DAY_MS;
/** HTTP 410 Gone: the receiver no longer wants the events. */
const GONE = 410;

export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #timers: NodeJS.Timeout[];
  readonly #stopped = new AbortController();
  /** Operators have receivers in their own network, but none among a cloud's metadata. */
  readonly #guard = new OutgoingGuard({ reach: "private" });
  #wake: NodeJS.Timeout | undefined;
  /** Endpoints that deliveries are sent to now: one that answers slowly does not delay the others. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    options.outbox.onAdded(() => {
      clearTimeout(this.#wake);
      this.#wake = setTimeout(() => void this.send(), WAKE_MS).unref();
    });
    this.#timers = [
      setInterval(() => void this.send(), POLL_MS).unref(),
      setInterval(() => void this.#cleanUp(), CLEANUP_MS).unref(),
    ];
  }

  /** Attempts every delivery that is due. */
  async send(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    for (const { url } of this.#options.outbox.endpoints) {
      if (this.#sending.has(url)) continue;
      const sending = this.#sendTo(url)
        .catch((error: unknown) => this.#options.logger.warn({ err: error }, "webhooks wait for the database"))
        .finally(() => this.#sending.delete(url));
      this.#sending.set(url, sending);
    }
    await Promise.all(this.#sending.values());
  }

  /** Aborts running attempts; another process, or this one after its restart, repeats them. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#wake);
    this.#stopped.abort();
    await Promise.all(this.#sending.values());
    await this.#guard.close();
  }

  async #sendTo(endpoint: string): Promise<void> {
    const { database } = this.#options;
    for (;;) {
      const now = Date.now();
      const claim = { endpoint, now, until: now + CLAIM_MS, limit: DELIVERIES_AT_ONCE };
      const deliveries = await database.run((executor) => claimWebhookDeliveries(executor, claim));
      await Promise.all(deliveries.map((delivery) => this.#attempt(delivery)));
      if (deliveries.length < DELIVERIES_AT_ONCE || this.#stopped.signal.aborted) return;
    }
  }

  async #attempt(delivery: WebhookDeliveryRow): Promise<void> {
    const { database, logger, onAttempt } = this.#options;
    const { id, eventId, endpoint, type, attempts } = delivery;
    const failure = await this.#post(delivery).catch((error: unknown) => error);
    if (this.#stopped.signal.aborted && failure !== undefined) {
      await database.run((executor) => postponeWebhookDelivery(executor, id, Date.now()));
      return;
    }
    const isOver = failure === GONE || attempts >= MAX_ATTEMPTS;
    const outcome = failure === undefined ? "delivered" : isOver ? "dropped" : "retried";
    onAttempt(type, outcome);
    if (outcome !== "retried") {
      await database.run((executor) => deleteWebhookDelivery(executor, id));
      if (outcome === "dropped") logger.error({ endpoint, type, eventId, attempts, failure }, "webhook dropped");
      return;
    }
    const seconds = backoffDelay(attempts, this.#options.backoff ?? BACKOFF_SECONDS);
    logger.warn({ endpoint, type, eventId, attempts, failure, retrySeconds: Math.round(seconds) }, "webhook failed");
    await database.run((executor) => postponeWebhookDelivery(executor, id, Date.now() + Math.round(seconds * 1000)));
  }

  /** Resolves with undefined, or the status of a refusal. Redirects are not followed. */
  async #post({ eventId, endpoint, payload }: WebhookDeliveryRow): Promise<number | undefined> {
    const target = this.#options.outbox.endpoints.find(({ url }) => url === endpoint);
    if (target === undefined) throw new Error("the endpoint is not configured");
    const signed = { id: eventId, timestamp: Math.floor(Date.now() / 1000), payload };
    const { statusCode, body } = await request(endpoint, {
      method: "POST",
      dispatcher: this.#guard.dispatcher,
      headers: {
        ...signWebhook(signed, target.secret),
        "content-type": "application/json",
        "user-agent": `Parlance/${VERSION}`,
      },
      body: payload,
      signal: AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await body.dump();
    return statusCode >= 200 && statusCode < 300 ? undefined : statusCode;
  }

  /** Endpoints that are no longer configured leave deliveries behind. */
  async #cleanUp(): Promise<void> {
    const { database, logger } = this.#options;
    await database
      .run((executor) => removeWebhookDeliveriesBefore(executor, Date.now() - KEEP_MS))
      .catch((error: unknown) => logger.warn({ err: error }, "old webhooks could not be removed"));
  }
}
