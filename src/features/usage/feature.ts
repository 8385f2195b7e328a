import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Config } from "../../config/config.ts";
import { labelRequests } from "../../http/label-requests.ts";
import { databaseAddress } from "../../storage/configured-database.ts";
import { openDatabase } from "../../storage/database.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { BaseParts, Feature, ServiceParts } from "../feature.ts";
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

/** Opens usage records, the request history and reports of both. */
export function openUsage({ config, database, logger, lifetime, metrics }: BaseParts): UsageStorage {
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
  });
  lifetime.defer(() => recorder.close());
  lifetime.use(usageRetention({ database, logger, days: recordDays }));
  lifetime.use(historyRetention({ database, logger, days: requestDays }));
  return {
    recorder,
    history,
    reports,
    spentIn: async (scope, window) => {
      await recorder.flush();
      return reports.spentIn(scope, window);
    },
  };
}

/** Returns what adds end users, tags and sessions to the callers of a scope's requests. */
export function openLabels({ usage }: Pick<Config, "usage">, { callers }: Accounts): (scope: FastifyInstance) => void {
  const read = labelReader(usage.labels);
  return (scope) => labelRequests(scope, read, callers);
}

/** Reports of usage and of single requests. */
export function usageFeature({ usage: { history, reports }, accounts, catalog }: ServiceParts): Feature {
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
