import { deploymentHealth } from "../../catalog/deployment-status.ts";
import type { Config } from "../../config/config.ts";
import type { BaseParts, Feature, ServiceParts } from "../feature.ts";
import { webhookMetrics } from "./metrics.ts";
import { WebhookAdministration } from "./webhook-administration.ts";
import { WebhookOutbox } from "./webhook-outbox.ts";
import { webhookRoutes } from "./webhook-routes.ts";
import { Webhooks, type WebhooksOptions } from "./webhooks.ts";

interface WebhookParts extends BaseParts, Pick<WebhooksOptions, "outbox"> {
  /** Names of the deployments whose circuit is open in another process of the service. */
  openCircuits: () => ReadonlySet<string>;
}

/** Opens what other features add their events to. */
export function openOutbox({ webhooks }: Pick<Config, "webhooks">): WebhookOutbox {
  return new WebhookOutbox(webhooks);
}

/** Sends events, and finds those of deployments. */
export function openWebhooks({ lifetime, catalog, metrics, openCircuits, ...parts }: WebhookParts): Webhooks {
  const webhooks = new Webhooks({
    ...parts,
    health: () => deploymentHealth(catalog, openCircuits()),
    onAttempt: webhookMetrics(metrics.registry),
  });
  lifetime.defer(() => webhooks.close());
  return webhooks;
}

/** What administrators see and do of webhooks. */
export function webhookFeature({ accounts, database, outbox }: ServiceParts): Feature {
  return { admin: [webhookRoutes(accounts, new WebhookAdministration({ database, outbox }))] };
}
