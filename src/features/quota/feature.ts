import type { Catalog } from "../../catalog/catalog.ts";
import type { LiveCatalog } from "../../catalog/live-catalog.ts";
import { openCounters } from "../../counters/open-counters.ts";
import type { CountWrongKey } from "../../http/authenticate.ts";
import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Database } from "../../storage/database.ts";
import { readReplicaCount, writeReplicaCount } from "../../storage/replica-count.ts";
import type { Accounts } from "../accounts/index.ts";
import { FailedAuthentications } from "./failed-authentications.ts";
import { quotaMetrics } from "./metrics.ts";
import { PasswordAttempts } from "./password-attempts.ts";
import { rateLimits } from "./rate-limit-routes.ts";
import { SelfServiceLimit } from "./self-service-limit.ts";
import { serviceTierSettings } from "./service-tier-policy.ts";
import { spendLimits } from "./spend-limit-routes.ts";

interface QuotaParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  metrics: Metrics;
}

export interface OpenQuota {
  counters: Awaited<ReturnType<typeof openCounters>>;
  countWrongKey: CountWrongKey;
  passwordAttempts: PasswordAttempts;
  selfServiceLimit: SelfServiceLimit;
}

/** Opens the counters. Resolves after the first attempt to reach a shared store. */
export async function openQuota({ config, database, logger, lifetime, metrics }: QuotaParts): Promise<OpenQuota> {
  const counters = await openCounters(config, logger, {
    read: () => database.run(readReplicaCount),
    write: (replicas) => database.run((executor) => writeReplicaCount(executor, replicas)),
  });
  lifetime.defer(() => counters.close());
  quotaMetrics(metrics.registry, () => counters.state);
  const failures = new FailedAuthentications({
    counters,
    perMinute: config.limits.failedAuthenticationsPerMinute,
    onRefused: (limit) => metrics.refusal("", limit),
  });
  return {
    counters,
    countWrongKey: (address) => failures.count(address),
    passwordAttempts: new PasswordAttempts(counters),
    selfServiceLimit: new SelfServiceLimit(counters),
  };
}

/** Administration of rate and spend limits. */
export function quotaFeature({
  config,
  accounts,
  catalog,
  live,
}: { config: Settings; accounts: Accounts; catalog: Catalog } & { live?: LiveCatalog }): Feature {
  const limited = {
    models: () => catalog.models,
    resolve: (idOrAlias: string) => catalog.findFallback(idOrAlias)?.model.id,
    defaults: () => ({ ...(live?.config ?? config).limits.projectModel }),
  };
  return { admin: [rateLimits(accounts, limited), spendLimits(accounts), serviceTierSettings(accounts)] };
}
