import type { Catalog } from "../../catalog/catalog.ts";
import { measureDeployments, measurePools } from "../../catalog/deployment-status.ts";
import type { LiveCatalog } from "../../catalog/live-catalog.ts";
import type { CountWrongKey } from "../../http/authenticate.ts";
import { mayReadModels, requireKey } from "../../http/authenticate.ts";
import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { Metrics } from "../../observability/metrics.ts";
import { openTelemetry, type Telemetry } from "../../observability/open-telemetry.ts";
import type { Accounts } from "../accounts/index.ts";
import { type Operations, operations as operationRoutes } from "./operations.ts";
import { readinessOf } from "./readiness.ts";

interface OperationsParts {
  config: Settings;
  accounts: Accounts;
  countWrongKey: CountWrongKey;
  operations: Operations;
}

/** Opens metrics and the export of telemetry, which closes last and sends what the others measure while they close. */
export async function openMetrics(parts: {
  config: Settings;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  catalog: Catalog;
}): Promise<{ metrics: Metrics; telemetry: Telemetry | undefined }> {
  const { config, logger, lifetime, catalog } = parts;
  const metrics = new Metrics({
    deployments: () => measureDeployments(catalog),
    pools: () => measurePools(catalog),
  });
  const telemetry = await openTelemetry(config.openTelemetry, metrics.registry, logger);
  lifetime.defer(() => telemetry?.close());
  return { metrics, telemetry };
}

/** `scrape` reads the metrics of all processes. */
export function openOperations(
  { catalog, accounts, live }: { catalog: Catalog; accounts: Accounts; live: LiveCatalog },
  scrape: Operations["metrics"],
): Operations {
  const waitsFor = (deployment: string) => live.waitsFor(deployment);
  return {
    readiness: () => readinessOf({ catalog, checkDatabase: () => accounts.check(), waitsFor }),
    metrics: scrape,
    hiddenModels: () => [...catalog.models].flatMap(({ id, isHidden }) => (isHidden ? [id] : [])),
  };
}

/** Health and metrics: on the service's own address, unless they have a separate one. */
export function operationsFeature({ config, accounts, countWrongKey, operations }: OperationsParts): Feature {
  if (config.server.operations !== undefined) return {};
  const { PARLANCE_METRICS_KEY: metricsKey } = config.environment;
  const routes = operationRoutes(operations, {
    mayReadDetails: (request) => mayReadModels(request, accounts, countWrongKey),
    checkMetrics: async (request) => {
      if (metricsKey !== undefined) await requireKey(request, metricsKey, countWrongKey);
      return metricsKey !== undefined;
    },
  });
  return { public: [routes] };
}
