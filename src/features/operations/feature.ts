import type { Catalog } from "../../catalog/catalog.ts";
import { measureDeployments, measurePools } from "../../catalog/deployment-status.ts";
import { type CountWrongKey, isAdministrator, requireKey } from "../../http/authenticate.ts";
import { Metrics, type MetricsSources } from "../../observability/metrics.ts";
import { openTelemetry, type Telemetry } from "../../observability/open-telemetry.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature, FeatureParts } from "../feature.ts";
import { type Operations, operations } from "./operations.ts";
import { type ReadinessParts, readinessOf } from "./readiness.ts";

interface MetricsParts
  extends Pick<FeatureParts, "config" | "logger" | "lifetime">,
    Pick<MetricsSources, "counters" | "realtimeSessions"> {
  catalog: Catalog;
}

/** Opens metrics and the export of telemetry, which closes last and sends what the others measure while they close. */
export async function openMetrics(
  parts: MetricsParts,
): Promise<{ metrics: Metrics; telemetry: Telemetry | undefined }> {
  const { config, logger, lifetime, catalog, counters, realtimeSessions } = parts;
  const metrics = new Metrics({
    deployments: () => measureDeployments(catalog),
    pools: () => measurePools(catalog),
    counters,
    realtimeSessions,
  });
  const telemetry = await openTelemetry(config.openTelemetry, metrics.registry, logger);
  lifetime.defer(() => telemetry?.close());
  return { metrics, telemetry };
}

interface OperationsParts extends Pick<FeatureParts, "config">, Pick<ReadinessParts, "waitsFor"> {
  catalog: Catalog;
  accounts: Accounts;
  countWrongKey: CountWrongKey;
  scrape: Operations["metrics"];
}

export interface OperationsFeature extends Feature {
  operations: Operations;
}

/** Health and metrics: on the service's own address, unless they have a separate one. */
export function operationsFeature(parts: OperationsParts): OperationsFeature {
  const { config, catalog, accounts, countWrongKey, scrape, waitsFor } = parts;
  const { PARLANCE_METRICS_KEY: metricsKey } = config.environment;
  const served: Operations = {
    readiness: () => readinessOf({ catalog, checkDatabase: () => accounts.check(), waitsFor }),
    metrics: scrape,
    hiddenModels: () => [...catalog.models].flatMap(({ id, isHidden }) => (isHidden ? [id] : [])),
  };
  const routes = operations(served, {
    mayReadDetails: (request) => isAdministrator(request, accounts, countWrongKey),
    checkMetrics: async (request) => {
      if (metricsKey !== undefined) await requireKey(request, metricsKey, countWrongKey);
      return metricsKey !== undefined;
    },
  });
  return { operations: served, public: config.server.operations === undefined ? [routes] : [] };
}
