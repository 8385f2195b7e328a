/** All of webhooks: what finds events of deployments, the outbox and the sender. */

import type { Logger } from "../../observability/logger.ts";
import type { Database } from "../../storage/database.ts";
import { DeploymentAlerts, type DeploymentAlertsOptions } from "./deployment-alerts.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";
import { WebhookSender, type WebhookSenderOptions } from "./webhook-sender.ts";

export interface WebhooksOptions {
  database: Database;
  outbox: WebhookOutbox;
  logger: Logger;
  health: DeploymentAlertsOptions["health"];
  onAttempt: WebhookSenderOptions["onAttempt"];
}

export class Webhooks {
  readonly #sender: WebhookSender | undefined;
  readonly #deploymentAlerts: DeploymentAlerts | undefined;

  /** Starts only what an endpoint wants. */
  constructor(options: WebhooksOptions) {
    const { outbox } = options;
    if (outbox.endpoints.length > 0) this.#sender = new WebhookSender(options);
    if (outbox.isSubscribed("deployment.down", "deployment.up")) this.#deploymentAlerts = new DeploymentAlerts(options);
  }

  async close(): Promise<void> {
    await this.#deploymentAlerts?.close();
    await this.#sender?.close();
  }
}
