import { join } from "node:path";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { databaseAddress } from "../../storage/configured-database.ts";
import { openDatabase } from "../../storage/database.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature, FeatureParts } from "../feature.ts";
import type { SpendLimitsOptions } from "../quota/spend-limits.ts";
import { overview } from "./overview-routes.ts";
import { RequestHistory } from "./request-history.ts";
import { requests } from "./request-routes.ts";
import { UsageRecorder } from "./usage-recorder.ts";
import { UsageReports } from "./usage-report.ts";
import { historyRetention, usageRetention } from "./usage-retention.ts";
import { usage } from "./usage-routes.ts";

export interface UsageFeature extends Feature {
  recorder: UsageRecorder;
  history: RequestHistory;
  spentIn: SpendLimitsOptions["spentIn"];
}

interface UsageParts extends FeatureParts {
  accounts: Accounts;
  catalog: Catalog;
  metrics: Metrics;
}

/** Usage records, the request history and reports of both. */
export function openUsage(parts: UsageParts): UsageFeature {
  const { config, database, logger, lifetime, accounts, catalog, metrics } = parts;
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
    onLost: (lost) => metrics.lostUsage(lost),
    writeWith: (write) => history.writeWith(write),
  });
  lifetime.defer(() => recorder.close());
  lifetime.use(usageRetention({ database, logger, days: recordDays }));
  lifetime.use(historyRetention({ database, logger, days: requestDays }));
  const stopping = new AbortController();
  return {
    recorder,
    history,
    spentIn: async (caller, scopeId, month) => {
      await recorder.flush();
      return reports.spentBetween(caller, scopeId, month);
    },
    admin: [
      usage(reports),
      requests(history, accounts, stopping.signal),
      overview({ accounts, history, reports, catalog }),
    ],
    // Ends the streams of requests, which have no end.
    drain: () => stopping.abort(),
  };
}
