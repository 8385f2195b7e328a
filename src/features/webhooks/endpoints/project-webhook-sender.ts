/** Delivers events to the endpoints that projects created. Each delivery is a job, which any replica runs. */

import { sql } from "kysely";
import { MINUTE_MS } from "../../../kernel/durations.ts";
import { JobRunner } from "../../../kernel/jobs/job-runner.ts";
import { Poll } from "../../../kernel/jobs/poll.ts";
import type { Secret } from "../../../kernel/secret.ts";
import {
  attemptDelivery,
  type DeliveryOptions,
  LEASE_MS,
  leasedDeliveries,
  POLL_MS,
  retryDelayMs,
  WAKE_MS,
} from "../delivery-attempt.ts";
import { postWebhook, type WebhookAnswer } from "../post-webhook.ts";
import type { WebhookOutbox } from "../webhook-outbox.ts";
import type { WebhookDeliveryRow } from "../webhook-rows.ts";
import { firstDueDeliveries } from "./due-deliveries.ts";
import { findEndpointById, hasEndpoints, listEndpointsAfter, updateEndpoint } from "./endpoint-queries.ts";
import type { WebhookEndpointRow } from "./endpoint-rows.ts";
import type { EndpointSecrets } from "./endpoint-secrets.ts";
import type { ReceiverGuard } from "./receiver-guard.ts";

export interface ProjectWebhookSenderOptions extends DeliveryOptions {
  outbox: WebhookOutbox;
  secrets: EndpointSecrets;
  guard: ReceiverGuard;
}

/** Endpoints that are attempted at the same time, each with one delivery. */
const ENDPOINTS_AT_ONCE = 200;
/** Pause of an endpoint after a failure: without it, a backlog is attempted as fast as the receiver refuses. */
const REST_MS = 1_000;
const RENEWED_AT_ONCE = 100;

export class ProjectWebhookSender {
  readonly #options: ProjectWebhookSenderOptions;
  #runner: JobRunner<WebhookDeliveryRow> | undefined;
  readonly #resting = new Set<string>();
  #firstEndpoint: Poll | undefined;
  #isClosed = false;

  /** Looks for deliveries once this process has added one. */
  constructor(options: ProjectWebhookSenderOptions) {
    this.#options = options;
    const { outbox } = options;
    outbox.onAdded(() => this.#runner?.wake(WAKE_MS));
    outbox.onAddedForProject(() => this.#start());
    outbox.onDropped((type, endpoint) => {
      options.onAttempt(type, "dropped");
      options.logger.warn({ type, endpoint }, "webhook dropped; too many wait for the endpoint");
    });
  }

  /** Looks for deliveries of other processes, too, from when a project has an endpoint. */
  start(): void {
    const { database, logger } = this.#options;
    this.#firstEndpoint = new Poll(
      async () => {
        if (await database.run(hasEndpoints)) this.#start();
      },
      {
        everyMs: MINUTE_MS,
        firstMs: 0,
        jitter: 0.2,
        onFailure: (err) => logger.warn({ err }, "webhook endpoints of projects are not read yet"),
      },
    );
    // Keys may have been rotated since the last start.
    this.renewSecrets().catch((err: unknown) =>
      logger.warn({ err }, "secrets of webhook endpoints are not encrypted again"),
    );
  }

  /** Attempts every delivery that is due. */
  async send(): Promise<void> {
    this.#start();
    await this.#runner?.runDue();
  }

  /** Encrypts all secrets with the current key. */
  async renewSecrets(): Promise<void> {
    const { database, secrets } = this.#options;
    let after = "";
    for (;;) {
      const rows = await database.run((executor) => listEndpointsAfter(executor, after, RENEWED_AT_ONCE));
      for (const { id, secret: sealed, formerSecret: formerSealed } of rows) {
        const secret = secrets.renewed(id, sealed);
        const formerSecret = secrets.renewed(id, formerSealed);
        const change = { ...(secret && { secret }), ...(formerSecret && { formerSecret }) };
        if (Object.keys(change).length > 0) await database.run((executor) => updateEndpoint(executor, id, change));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < RENEWED_AT_ONCE) return;
      after = last.id;
    }
  }

  /** Aborts running attempts; another process, or this one after its restart, repeats them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#firstEndpoint?.close();
    await this.#runner?.close();
  }

  #start(): void {
    if (this.#runner !== undefined || this.#isClosed) return;
    this.#firstEndpoint?.stop();
    const { database, logger, backoff } = this.#options;
    const rows = leasedDeliveries(database);
    const attempt = {
      ...this.#options,
      post: (delivery: WebhookDeliveryRow, signal: AbortSignal) => this.#post(delivery, signal),
    };
    this.#runner = new JobRunner<WebhookDeliveryRow>({
      subject: "webhooks of projects",
      logger,
      concurrency: ENDPOINTS_AT_ONCE,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      retryDelayMs: (delivery) => retryDelayMs(delivery, backoff),
      run: async (delivery, signal) => {
        const end = await attemptDelivery(attempt, delivery, signal);
        if (end === "retry") this.#rest(delivery.endpoint);
        return end;
      },
      store: {
        claim: ({ limit, leaseMs, running }) => {
          const busy = running.map(({ endpoint }) => endpoint);
          const first = firstDueDeliveries({ now: database.now, busy, resting: [...this.#resting], limit });
          return rows.claim({ limit, leaseMs, where: sql`id in (${first})` });
        },
        release: (delivery, delayMs) => rows.release(delivery, delayMs),
      },
    });
  }

  #rest(endpoint: string): void {
    this.#resting.add(endpoint);
    const timer = setTimeout(() => {
      this.#resting.delete(endpoint);
      this.#runner?.wake();
    }, REST_MS);
    timer.unref();
  }

  async #post({ eventId, endpoint, payload }: WebhookDeliveryRow, signal: AbortSignal): Promise<WebhookAnswer> {
    const { database, guard } = this.#options;
    const row = await database.run((executor) => findEndpointById(executor, endpoint));
    // Deleted meanwhile, with its other deliveries.
    if (row === undefined) return { status: 410, answer: "the endpoint was deleted" };
    const { url } = row;
    const dispatcher = guard.dispatcherFor(url);
    return postWebhook(
      { url, dispatcher, secrets: signingSecrets(this.#options.secrets, row), eventId, payload },
      signal,
    );
  }
}

/** Secrets that sign now. Throws where no key decrypts the current one. */
export function signingSecrets(
  secrets: EndpointSecrets,
  { id, secret: sealed, formerSecret, formerSecretUntil }: WebhookEndpointRow,
): Secret[] {
  const secret = secrets.open(id, sealed);
  if (secret === undefined)
    throw new Error("its secret cannot be decrypted with PARLANCE_ENCRYPTION_KEY or the key file");
  const isFormerValid = formerSecret !== null && (formerSecretUntil ?? 0) > Date.now();
  const former = isFormerValid ? secrets.open(id, formerSecret) : undefined;
  return former === undefined ? [secret] : [secret, former];
}
