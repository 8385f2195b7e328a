import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Caller } from "../../contracts/caller.ts";
import type { Counters } from "../../counters/counters.ts";
import type { Feature } from "../../http/feature.ts";
import { labelRequests } from "../../http/label-requests.ts";
import { type Fault, unavailable } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { databaseAddress } from "../../storage/configured-database.ts";
import type { Database } from "../../storage/database.ts";
import { openDatabase } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import { usageMetrics } from "./metrics.ts";
import { overview } from "./overview-routes.ts";
import { RequestHistory } from "./request-history.ts";
import { labelReader } from "./request-labels.ts";
import { requests } from "./request-routes.ts";
import { UsageRecorder } from "./usage-recorder.ts";
import { UsageReports } from "./usage-report.ts";
import { historyRetention, usageRetention } from "./usage-retention.ts";
import { usage as usageRoutes } from "./usage-routes.ts";
import type { UsageStorage } from "./usage-storage.ts";

interface UsageParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  metrics: Metrics;
  counters: Pick<Counters, "settled">;
}

interface OpenUsageParts {
  usage: UsageStorage;
  accounts: Accounts;
  catalog: Catalog;
}

/** Opens usage records, the request history and reports of both. */
export function openUsage({ config, database, logger, lifetime, metrics, counters }: UsageParts): UsageStorage {
  const { recordDays, requestDays } = config.usage;
  const { DATABASE_URL, DATABASE_READ_URL: url } = config.environment;
  const replica = DATABASE_URL && url && openDatabase({ ...databaseAddress(config), url, logger, migrates: false });
  lifetime.defer(() => replica?.close());
  const reports = new UsageReports(database, replica);
  const history = new RequestHistory({ database, logger, days: requestDays });
  lifetime.defer(() => history.close());
  const recorder = new UsageRecorder({
    database,
    directory: join(config.dataDirectory, "usage"),
    logger,
    onLost: usageMetrics(metrics.registry),
    writeWith: (write) => history.writeWith(write),
    untilCounted: () => counters.settled(),
  });
  lifetime.defer(() => recorder.close());
  lifetime.use(usageRetention({ database, logger, days: recordDays }));
  lifetime.use(historyRetention({ database, logger, days: requestDays }));
  return {
    recorder,
    history,
    reports,
    spentIn: async (scope, window, isExact = true) => {
      // The database may be back between both: limits would begin without what waits for it.
      if (isExact && !(await recorder.flush())) throw notWritten();
      return reports.spentIn(scope, window);
    },
  };
}

function notWritten(): Fault {
  const message = "The database does not have all usage yet. Try again in a moment.";
  return unavailable(message, "database_unavailable", 1);
}

/** Returns what adds end users, tags and sessions to the callers of a scope's requests. */
export function openLabels(
  { usage }: Pick<Settings, "usage">,
  { callers }: Accounts,
  isBudgeted: (caller: Caller, tag: string) => boolean,
): (scope: FastifyInstance) => void {
  const read = labelReader(usage.labels, isBudgeted);
  return (scope) => labelRequests(scope, read, callers);
}

/** Reports of usage and of single requests. */
export function usageFeature({ usage: { history, reports }, accounts, catalog }: OpenUsageParts): Feature {
  const stopping = new AbortController();
  return {
    admin: [
      usageRoutes(reports),
      requests(history, accounts, stopping.signal),
      overview({ accounts, history, reports, catalog }),
    ],
    // Ends the streams of requests, which have no end.
    drain: () => stopping.abort(),
  };
}
