/** All of webhooks: what finds events of deployments, the outbox and the sender. */

import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { DeploymentAlerts, type DeploymentAlertsOptions } from "./deployment-alerts.ts";
import type { EndpointSecrets } from "./endpoints/endpoint-secrets.ts";
import type { ReceiverGuard } from "./endpoints/receiver-guard.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";
import { WebhookSender, type WebhookSenderOptions } from "./webhook-sender.ts";

export interface WebhooksOptions {
  database: Database;
  outbox: WebhookOutbox;
  logger: Logger;
  /** Secrets of the endpoints of projects. */
  secrets: EndpointSecrets;
  /** Where the endpoints of projects may be. */
  guard: ReceiverGuard;
  health: DeploymentAlertsOptions["health"];
  onAttempt: WebhookSenderOptions["onAttempt"];
}

export class Webhooks {
  readonly options: WebhooksOptions;
  #sender: WebhookSender | undefined;
  #deploymentAlerts: DeploymentAlerts | undefined;

  constructor(options: WebhooksOptions) {
    this.options = options;
    this.update();
  }

  /** Starts what an endpoint wants. Called when the endpoints have changed. */
  update(): void {
    const { outbox } = this.options;
    this.#sender?.update();
    if (outbox.endpoints.length > 0) this.#sender ??= new WebhookSender(this.options);
    if (outbox.isSubscribed("deployment.down", "deployment.up")) {
      this.#deploymentAlerts ??= new DeploymentAlerts(this.options);
    }
  }

  async close(): Promise<void> {
    await this.#deploymentAlerts?.close();
    await this.#sender?.close();
    await this.options.guard.close();
  }
}
