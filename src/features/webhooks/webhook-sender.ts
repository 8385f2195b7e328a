/** Delivers events to the endpoints of the configuration. Each delivery is a job, which any replica runs. */

import { sql } from "kysely";
import { JobRunner } from "../../kernel/jobs/job-runner.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import {
  attemptDelivery,
  type DeliveryOptions,
  LEASE_MS,
  leasedDeliveries,
  POLL_MS,
  retryDelayMs,
  WAKE_MS,
} from "./delivery-attempt.ts";
import { recordWebhookAttempt } from "./log-queries.ts";
import { postWebhook, type WebhookAnswer } from "./post-webhook.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";
import type { WebhookDeliveryRow } from "./webhook-rows.ts";

export interface WebhookSenderOptions extends DeliveryOptions {
  outbox: WebhookOutbox;
}

const DELIVERIES_AT_ONCE = 10;

export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  /** One for each endpoint: one that answers slowly does not delay the others. */
  readonly #runners = new Map<string, JobRunner<WebhookDeliveryRow>>();
  /** Operators have receivers in their own network, but none among a cloud's metadata. */
  readonly #guard = new OutgoingGuard({ reach: "private" });

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    const { outbox } = options;
    this.update();
    outbox.onAdded(() => {
      for (const runner of this.#runners.values()) runner.wake(WAKE_MS);
    });
  }

  /** Starts delivering to endpoints that were added, and stops for those that were removed, whose deliveries stay. */
  update(): void {
    const urls = new Set(this.#options.outbox.endpoints.map(({ url }) => url));
    for (const [url, runner] of this.#runners) {
      if (urls.has(url)) continue;
      this.#runners.delete(url);
      runner.close().catch((err: unknown) => this.#options.logger.error({ err }, "a webhook's runner did not close"));
    }
    for (const url of urls) if (!this.#runners.has(url)) this.#runners.set(url, this.#startRunner(url));
  }

  /** Attempts every delivery that is due. */
  async send(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.runDue()));
  }

  /** Aborts running attempts; another process, or this one after its restart, repeats them. */
  async close(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.close()));
    await this.#guard.close();
  }

  #startRunner(endpoint: string): JobRunner<WebhookDeliveryRow> {
    const { database, logger, backoff } = this.#options;
    const rows = leasedDeliveries(database);
    const attempt = {
      ...this.#options,
      post: (delivery: WebhookDeliveryRow, signal: AbortSignal) => this.#post(delivery, signal),
      record: (row: Parameters<typeof recordWebhookAttempt>[1]) =>
        database.run((executor) => recordWebhookAttempt(executor, row)),
    };
    return new JobRunner<WebhookDeliveryRow>({
      subject: "webhooks",
      logger,
      concurrency: DELIVERIES_AT_ONCE,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      retryDelayMs: (delivery) => retryDelayMs(delivery, backoff),
      run: (delivery, signal) => attemptDelivery(attempt, delivery, signal),
      store: {
        claim: ({ limit, leaseMs }) => rows.claim({ limit, leaseMs, where: sql`endpoint = ${endpoint}` }),
        release: (delivery, delayMs) => rows.release(delivery, delayMs),
      },
    });
  }

  async #post({ eventId, endpoint, payload }: WebhookDeliveryRow, stopping: AbortSignal): Promise<WebhookAnswer> {
    const target = this.#options.outbox.endpoints.find(({ url }) => url === endpoint);
    if (target === undefined) throw new Error("the endpoint is not configured");
    const { dispatcher } = this.#guard;
    return postWebhook({ url: endpoint, dispatcher, secrets: [target.secret], eventId, payload }, stopping);
  }
}
