/** Reports deployments that are down and those that are back, once for all replicas. */

import type { DeploymentHealth } from "../../catalog/deployment-status.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { clearDeploymentOutage, markDeploymentDown, renewDeploymentOutage } from "./alert-queries.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";

export interface DeploymentAlertsOptions {
  database: Database;
  outbox: WebhookOutbox;
  logger: Logger;
  health: () => Iterable<DeploymentHealth>;
}

const CHECK_MS = 1_000;
const RENEW_MS = MINUTE_MS;
/** After several missed renewals, the replica that noted an outage has ended. */
const STALE_MS = 5 * RENEW_MS;

export class DeploymentAlerts {
  readonly #options: DeploymentAlertsOptions;
  readonly #poll: Poll;
  /** Time of the last renewal, by deployment that is down. */
  readonly #down = new Map<string, number>();

  constructor(options: DeploymentAlertsOptions) {
    this.#options = options;
    this.#poll = new Poll(() => this.#checkAll(), {
      everyMs: CHECK_MS,
      onFailure: (error) => options.logger.warn({ err: error }, "the health of deployments is not reported yet"),
    });
  }

  /** Compares the health of all deployments with that of the last check. */
  check(): Promise<void> {
    return this.#poll.run();
  }

  close(): Promise<void> {
    return this.#poll.close();
  }

  async #checkAll(): Promise<void> {
    for (const health of this.#options.health()) {
      const renewedAt = this.#down.get(health.deployment);
      if (health.downReason !== undefined) await this.#noteDown(health, health.downReason, renewedAt);
      else if (renewedAt !== undefined) await this.#noteUp(health);
    }
  }

  async #noteDown({ deployment, model }: DeploymentHealth, reason: string, renewedAt = 0): Promise<void> {
    const { database, outbox } = this.#options;
    const now = Date.now();
    if (now - renewedAt < RENEW_MS) return;
    if (renewedAt > 0) await database.run((executor) => renewDeploymentOutage(executor, deployment, now));
    else
      await database.transaction(async (executor) => {
        const isNew = await markDeploymentDown(executor, deployment, { now, staleBefore: now - STALE_MS });
        if (isNew) await outbox.add(executor, { type: "deployment.down", data: { deployment, model, reason } }, now);
      });
    this.#down.set(deployment, now);
  }

  async #noteUp({ deployment, model }: DeploymentHealth): Promise<void> {
    const { database, outbox } = this.#options;
    await database.transaction(async (executor) => {
      const now = Date.now();
      const since = await clearDeploymentOutage(executor, deployment);
      if (since === undefined) return;
      const data = { deployment, model, down_seconds: Math.round((now - since) / 1000) };
      await outbox.add(executor, { type: "deployment.up", data }, now);
    });
    this.#down.delete(deployment);
  }
}
