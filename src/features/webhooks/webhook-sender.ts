/** Delivers what is in the outbox. Each delivery is a job, which any replica runs. */

import { sql } from "kysely";
import { type Backoff, backoffDelay } from "../../kernel/async/backoff.ts";
import { HOUR_SECONDS, MINUTE_MS } from "../../kernel/durations.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import { request } from "../../kernel/outgoing/undici.ts";
import { VERSION } from "../../kernel/version.ts";
import type { Database } from "../../storage/database.ts";
import { LeasedRows } from "../../storage/leased-rows.ts";
import { deleteWebhookDelivery } from "./delivery-queries.ts";
import { recordWebhookAttempt } from "./log-queries.ts";
import { signWebhook } from "./sign-webhook.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";
import type { WebhookDeliveryRow, WebhookLogRow } from "./webhook-rows.ts";

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
const LEASE_MS = MINUTE_MS;
const DELIVERIES_AT_ONCE = 10;
const POLL_MS = 2_000;
/** Lets the transaction of a new event commit. */
const WAKE_MS = 50;
/** Bytes of an answer that the log shows. */
const ANSWER_BYTES = 1_000;
/** HTTP 410 Gone: the receiver no longer wants the events. */
const GONE = 410;

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
    const { database, logger } = this.#options;
    const rows = leasedDeliveries(database);
    const backoff = this.#options.backoff ?? BACKOFF_SECONDS;
    return new JobRunner<WebhookDeliveryRow>({
      subject: "webhooks",
      logger,
      concurrency: DELIVERIES_AT_ONCE,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      retryDelayMs: ({ attempts }) => Math.round(backoffDelay(attempts, backoff) * 1000),
      run: (delivery, signal) => this.#attempt(delivery, signal),
      store: {
        claim: ({ limit, leaseMs }) => rows.claim({ limit, leaseMs, where: sql`endpoint = ${endpoint}` }),
        release: (delivery, delayMs) => rows.release(delivery, delayMs),
      },
    });
  }

  async #attempt(delivery: WebhookDeliveryRow, signal: AbortSignal): Promise<JobEnd> {
    const { database, logger, onAttempt } = this.#options;
    const { id, eventId, endpoint, type, attempts } = delivery;
    const attemptedAt = Date.now();
    const { status, answer } = await this.#post(delivery, signal).catch(toUnanswered);
    const isAccepted = status !== null && status >= 200 && status < 300;
    if (signal.aborted && !isAccepted) return "interrupted";
    const isOver = status === GONE || attempts >= MAX_ATTEMPTS;
    const outcome = isAccepted ? "delivered" : isOver ? "dropped" : "retried";
    const failure = status ?? answer;
    onAttempt(type, outcome);
    const { payload, createdAt } = delivery;
    const attempt: WebhookLogRow = {
      ...{ id, eventId, endpoint, type, payload, createdAt, attempts, attemptedAt, status, answer },
      state: STATES[outcome],
      durationMs: Date.now() - attemptedAt,
    };
    await database.run((executor) => recordWebhookAttempt(executor, attempt));
    if (outcome === "retried") {
      logger.warn({ endpoint, type, eventId, attempts, failure }, "webhook failed; it is sent again");
      return "retry";
    }
    await database.run((executor) => deleteWebhookDelivery(executor, id));
    if (outcome === "dropped") logger.error({ endpoint, type, eventId, attempts, failure }, "webhook dropped");
    return "over";
  }

  /** Redirects are not followed. */
  async #post({ eventId, endpoint, payload }: WebhookDeliveryRow, stopping: AbortSignal): Promise<Answer> {
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
      signal: AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { status: statusCode, answer: await readStart(body) };
  }
}

const STATES = { delivered: "delivered", retried: "retrying", dropped: "failed" } as const;

type Answer = Pick<WebhookLogRow, "status" | "answer">;

function toUnanswered(failure: unknown): Answer {
  return { status: null, answer: failure instanceof Error ? failure.message : String(failure) };
}

/** Reads the beginning of an answer. The delivery does not depend on the rest. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= ANSWER_BYTES) break;
    }
  } catch {
    // The status counts.
  }
  // PostgreSQL stores no NUL in texts.
  return Buffer.concat(parts).subarray(0, ANSWER_BYTES).toString().replaceAll("\0", "");
}

export function leasedDeliveries(database: Database): LeasedRows<"webhookDeliveries"> {
  return new LeasedRows(database, { table: "webhookDeliveries", key: "id", owner: { count: "attempts" } });
}
