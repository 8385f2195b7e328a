import type { Catalog } from "../../catalog/catalog.ts";
import { deploymentHealth } from "../../catalog/deployment-status.ts";
import type { Feature } from "../../http/feature.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import { webhookMetrics } from "./metrics.ts";
import { WebhookAdministration } from "./webhook-administration.ts";
import { WebhookOutbox } from "./webhook-outbox.ts";
import { webhookRoutes } from "./webhook-routes.ts";
import { Webhooks, type WebhooksOptions } from "./webhooks.ts";

interface WebhooksParts {
  accounts: Accounts;
  database: Database;
  outbox: WebhookOutbox;
}

interface WebhookParts extends Pick<WebhooksOptions, "outbox" | "database" | "logger"> {
  lifetime: AsyncDisposableStack;
  catalog: Catalog;
  metrics: Metrics;
  /** Names of the deployments whose circuit is open in another process of the service. */
  openCircuits: () => ReadonlySet<string>;
}

/** Opens what other features add their events to. */
export function openOutbox({ webhooks }: Pick<Settings, "webhooks">): WebhookOutbox {
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
export function webhookFeature({ accounts, database, outbox }: WebhooksParts): Feature {
  return { admin: [webhookRoutes(accounts, new WebhookAdministration({ database, outbox }))] };
}
