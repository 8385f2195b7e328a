/** One attempt to deliver an event: what its outcome means for the row in the outbox. */

import { type Backoff, backoffDelay } from "../../kernel/async/backoff.ts";
import { HOUR_SECONDS, MINUTE_MS } from "../../kernel/durations.ts";
import type { JobEnd } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { LeasedRows } from "../../storage/leased-rows.ts";
import { deleteWebhookDelivery } from "./delivery-queries.ts";
import type { WebhookAnswer } from "./post-webhook.ts";
import type { WebhookDeliveryRow, WebhookLogRow } from "./webhook-rows.ts";

export type WebhookOutcome = "delivered" | "retried" | "dropped";

export interface DeliveryOptions {
  database: Database;
  logger: Logger;
  onAttempt: (type: string, outcome: WebhookOutcome) => void;
  /** In seconds. */
  backoff?: Backoff;
}

interface Attempt extends DeliveryOptions {
  post: (delivery: WebhookDeliveryRow, signal: AbortSignal) => Promise<WebhookAnswer>;
  /** Stores the attempt where administrators read it; left out: nowhere. */
  record?: (attempt: WebhookLogRow) => Promise<void>;
}

/** Adds up to 18 hours with the backoff below. */
const MAX_ATTEMPTS = 16;
const BACKOFF_SECONDS: Backoff = { initial: 5, max: 4 * HOUR_SECONDS, jitter: [0.8, 1.2] };
/** Longer than an attempt with its queries. */
export const LEASE_MS = MINUTE_MS;
export const POLL_MS = 2_000;
/** Lets the transaction of a new event commit. */
export const WAKE_MS = 50;
/** HTTP 410 Gone: the receiver no longer wants the events. */
const GONE = 410;
const STATES = { delivered: "delivered", retried: "retrying", dropped: "failed" } as const;

/** Attempts a delivery, and removes it from the outbox when it has succeeded or is given up. */
export async function attemptDelivery(
  { database, logger, onAttempt, post, record }: Attempt,
  delivery: WebhookDeliveryRow,
  signal: AbortSignal,
): Promise<JobEnd> {
  const { id, eventId, endpoint, type, payload, createdAt, attempts } = delivery;
  const attemptedAt = Date.now();
  const { status, answer } = await post(delivery, signal).catch(toUnanswered);
  const isAccepted = status !== null && status >= 200 && status < 300;
  if (signal.aborted && !isAccepted) return "interrupted";
  const isOver = status === GONE || attempts >= MAX_ATTEMPTS;
  const outcome = isAccepted ? "delivered" : isOver ? "dropped" : "retried";
  const failure = status ?? answer;
  onAttempt(type, outcome);
  await record?.({
    ...{ id, eventId, endpoint, type, payload, createdAt, attempts, attemptedAt, status, answer },
    state: STATES[outcome],
    durationMs: Date.now() - attemptedAt,
  });
  if (outcome === "retried") {
    logger.warn({ endpoint, type, eventId, attempts, failure }, "webhook failed; it is sent again");
    return "retry";
  }
  await database.run((executor) => deleteWebhookDelivery(executor, id));
  if (outcome === "dropped") logger.error({ endpoint, type, eventId, attempts, failure }, "webhook dropped");
  return "over";
}

/** Time until the next attempt. */
export function retryDelayMs({ attempts }: WebhookDeliveryRow, backoff = BACKOFF_SECONDS): number {
  return Math.round(backoffDelay(attempts, backoff) * 1000);
}

function toUnanswered(failure: unknown): { status: null; answer: string } {
  return { status: null, answer: failure instanceof Error ? failure.message : String(failure) };
}

export function leasedDeliveries(database: Database): LeasedRows<"webhookDeliveries"> {
  return new LeasedRows(database, { table: "webhookDeliveries", key: "id", owner: { count: "attempts" } });
}
