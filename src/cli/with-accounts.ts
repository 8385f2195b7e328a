import { loadConfig } from "../config/load-config.ts";
import { Accounts } from "../features/accounts/accounts.ts";
import { WebhookOutbox } from "../features/webhooks/webhook-outbox.ts";
import { openConfiguredDatabase } from "../storage/configured-database.ts";
import type { Database } from "../storage/database.ts";
import { configSources } from "./config-sources.ts";
import { openLog } from "./open-log.ts";

/** Opens the configured database and its accounts, which a running service may use at the same time. */
export async function withAccounts(work: (accounts: Accounts, database: Database) => Promise<void>): Promise<void> {
  const config = await loadConfig(configSources());
  const logger = openLog("warn");
  await using closing = new AsyncDisposableStack();
  const database = openConfiguredDatabase(config, logger);
  closing.defer(() => database.close());
  const accounts = new Accounts({ database, logger, outbox: new WebhookOutbox(config.webhooks) });
  closing.defer(() => accounts.close());
  await work(accounts, database);
}
