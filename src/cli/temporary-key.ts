import type { Config } from "../config/config.ts";
import { Accounts } from "../features/accounts/accounts.ts";
import { OPERATOR } from "../features/accounts/audit/audit.ts";
import type { ApiKeyScope } from "../features/accounts/keys/api-key-queries.ts";
import { retry } from "../kernel/async/retry.ts";
import { HOUR_SECONDS } from "../kernel/durations.ts";
import { Fault } from "../kernel/faults.ts";
import type { Secret } from "../kernel/secret.ts";
import { openLog } from "../observability/open-log.ts";
import { accountExtensions } from "../serving/account-extensions.ts";
import { openConfiguredDatabase } from "../storage/configured-database.ts";

const FIRST_START_MS = 5_000;
const POLL_MS = 100;

/** How a key of a project appears in lists. */
export interface KeyOptions {
  name: string;
  lifetimeSeconds: number;
}

const COMMAND_KEY: KeyOptions = { name: "Command line", lifetimeSeconds: 12 * HOUR_SECONDS };

interface TemporaryKey {
  secret: Secret;
  end(): Promise<void>;
}

/** Runs `work` with the secret of a key of the configured database, which ends afterwards. */
export async function withTemporaryKey<Result>(
  config: Config,
  kind: "project" | "operator",
  work: (secret: string) => Promise<Result>,
  options?: KeyOptions,
): Promise<Result> {
  const logger = openLog("warn");
  await using closing = new AsyncDisposableStack();
  const database = openConfiguredDatabase(config, logger);
  closing.defer(() => database.close());
  const accounts = new Accounts({ database, logger, extensions: accountExtensions() });
  closing.defer(() => accounts.close());
  const { secret, end } = await (kind === "project" ? projectKey(accounts, options) : operatorKey(accounts));
  closing.defer(end);
  return await work(secret.reveal());
}

/** A service that has just started for the first time is creating the default organization. */
async function defaultScope(accounts: Accounts, kind: "project" | "admin"): Promise<ApiKeyScope> {
  const deadline = performance.now() + FIRST_START_MS;
  const isRetryable = (failure: unknown) =>
    failure instanceof Fault && failure.kind === "not-found" && performance.now() < deadline;
  return retry(() => accounts.defaultScope(kind), { backoff: { initial: POLL_MS, max: POLL_MS }, isRetryable });
}

async function operatorKey(accounts: Accounts): Promise<TemporaryKey> {
  const { organizationId } = await defaultScope(accounts, "admin");
  return accounts.operatorKeys.create(organizationId);
}

/** The key expires by itself where the command is killed before it revokes it. */
async function projectKey(
  accounts: Accounts,
  { name, lifetimeSeconds: expiresInSeconds } = COMMAND_KEY,
): Promise<TemporaryKey> {
  const scope = await defaultScope(accounts, "project");
  const request = { scope, name, expiresInSeconds };
  const { key, secret } = await accounts.apiKeys.create(OPERATOR, request);
  return {
    secret,
    end: () => accounts.apiKeys.revoke(OPERATOR, scope, key.id),
  };
}
