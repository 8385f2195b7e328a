import type { Catalog } from "../../catalog/catalog.ts";
import { deploymentHealth } from "../../catalog/deployment-status.ts";
import type { Feature } from "../../http/feature.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import { webhookEndpointRoutes } from "./endpoints/endpoint-routes.ts";
import { EndpointSecrets } from "./endpoints/endpoint-secrets.ts";
import { EndpointTest } from "./endpoints/endpoint-test.ts";
import { ProjectEndpoints } from "./endpoints/project-endpoints.ts";
import { ProjectWebhookSender } from "./endpoints/project-webhook-sender.ts";
import { ReceiverGuard } from "./endpoints/receiver-guard.ts";
import { webhookMetrics } from "./metrics.ts";
import { WebhookAdministration } from "./webhook-administration.ts";
import { WebhookOutbox } from "./webhook-outbox.ts";
import { webhookRoutes } from "./webhook-routes.ts";
import { Webhooks, type WebhooksOptions } from "./webhooks.ts";

interface WebhooksParts {
  accounts: Accounts;
  config: Settings;
  database: Database;
  lifetime: AsyncDisposableStack;
  outbox: WebhookOutbox;
  webhooks: Webhooks;
}

interface WebhookParts extends Pick<WebhooksOptions, "outbox" | "database" | "logger"> {
  lifetime: AsyncDisposableStack;
  catalog: Catalog;
  config: Settings;
  metrics: Metrics;
  /** Names of the deployments whose circuit is open in another process of the service. */
  openCircuits: () => ReadonlySet<string>;
}

/** Opens what other features add their events to. */
export function openOutbox({ webhooks }: Pick<Settings, "webhooks">): WebhookOutbox {
  return new WebhookOutbox(webhooks);
}

/** Sends events, and finds those of deployments. */
export function openWebhooks({ lifetime, catalog, config, metrics, openCircuits, ...parts }: WebhookParts): Webhooks {
  const webhooks = new Webhooks({
    ...parts,
    secrets: new EndpointSecrets(() => openContentKeys({ config, ...parts }, "secrets of webhook endpoints")),
    guard: new ReceiverGuard(config.webhookEndpoints.privateHosts),
    health: () => deploymentHealth(catalog, openCircuits()),
    onAttempt: webhookMetrics(metrics.registry),
  });
  lifetime.defer(() => webhooks.close());
  return webhooks;
}

/** What administrators see and do of webhooks, and the endpoints of projects. */
export function webhookFeature({ accounts, config, database, lifetime, outbox, webhooks }: WebhooksParts): Feature {
  const { secrets, guard } = webhooks.options;
  const { maxPerProject } = config.webhookEndpoints;
  const endpoints = new ProjectEndpoints({ database, secrets, guard, maxPerProject });
  const test = new EndpointTest({ secrets, guard });
  const sender = new ProjectWebhookSender(webhooks.options);
  lifetime.defer(() => sender.close());
  return {
    admin: [webhookRoutes(accounts, new WebhookAdministration({ database, outbox }))],
    project: [webhookEndpointRoutes({ accounts, endpoints, outbox, test })],
    start: () => sender.start(),
  };
}
