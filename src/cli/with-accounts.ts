import { join } from "node:path";
import pino from "pino";
import { Accounts } from "../accounts/accounts.ts";
import { loadConfig } from "../config/load-config.ts";
import { createLogger } from "../observability/logger.ts";
import { openDatabase } from "../storage/database.ts";
import { configSources } from "./config-sources.ts";

const STANDARD_ERROR = 2;

/** Works on the accounts of the configured database, which the service may be using meanwhile. */
export async function withAccounts(work: (accounts: Accounts) => Promise<void>): Promise<void> {
  const { databaseUrl, dataDirectory } = await loadConfig(configSources());
  const logger = createLogger("warn", pino.destination(STANDARD_ERROR));
  await using closing = new AsyncDisposableStack();
  const database = openDatabase({ url: databaseUrl, file: join(dataDirectory, "parlance.sqlite"), logger });
  closing.defer(() => database.close());
  const accounts = new Accounts({ database, logger });
  closing.defer(() => accounts.close());
  await work(accounts);
}
