/** `parlance keys`: manages API keys of the default organization in the service's database. */

import { Command, InvalidArgumentError } from "commander";
import type { Accounts } from "../accounts/accounts.ts";
import type { ApiKey } from "../accounts/api-keys.ts";
import { OPERATOR } from "../accounts/audit.ts";
import { Fault } from "../faults.ts";
import { formatTable } from "./format-table.ts";
import { formatTime, toUnixSeconds } from "./format-time.ts";
import { withAccounts } from "./with-accounts.ts";

const PAGE_SIZE = 100;

interface CreateOptions {
  name: string;
  admin?: true;
  project?: string;
  expiresIn?: number;
  json?: true;
}

export function keysCommand(): Command {
  const command = new Command("keys");
  command
    .command("create")
    .description("Create a key and print its secret, which is shown only once")
    .option("--name <name>", "name of the key", "API key")
    .option("--admin", "create an admin key for the administration API")
    .option("--project <id>", "project of the key; default: the default project")
    .option("--expires-in <time>", "lifetime of the key, such as 12h, 30d or 8w; default: unlimited", parseSeconds)
    .option("--json", "print the key as JSON")
    .action((options: CreateOptions) => withAccounts((accounts) => create(accounts, options)));
  command
    .command("list")
    .description("List all active keys, without their secrets")
    .option("--json", "print the keys as JSON")
    .action(({ json }: { json?: true }) => withAccounts((accounts) => list(accounts, json === true)));
  command
    .command("revoke")
    .description("Revoke a key; further requests with it get a 401")
    .argument("<id>", "ID of the key, from `parlance keys list`")
    .option("--json", "print the result as JSON")
    .action((id: string, { json }: { json?: true }) =>
      withAccounts(async (accounts) => {
        await revoke(accounts, id);
        console.log(json === true ? JSON.stringify({ id, revoked: true }) : `Revoked ${id}.`);
      }),
    );
  return command;
}

async function create(accounts: Accounts, { name, admin, project, expiresIn, json }: CreateOptions): Promise<void> {
  if (admin === true && project !== undefined) {
    throw new Fault("invalid-request", "Admin keys do not belong to a project. Use either --admin or --project.");
  }
  const scope = await accounts.defaultScope(admin === true ? "admin" : "project");
  const newKey = { scope: project === undefined ? scope : { ...scope, projectId: project }, name };
  const { key, secret } = await accounts.apiKeys.create(OPERATOR, { ...newKey, expiresInSeconds: expiresIn });
  if (json === true) {
    console.log(JSON.stringify({ ...toJson(key), value: secret.reveal() }, undefined, 2));
    return;
  }
  // Only the secret goes to standard output, for `KEY=$(parlance keys create)`.
  const until = key.expiresAt === null ? "does not expire" : `expires ${formatTime(key.expiresAt)}`;
  console.error(`Created ${key.id} (${key.kind} key, ${until}). Save its secret, which is shown only once:`);
  console.log(secret.reveal());
}

async function list(accounts: Accounts, json: boolean): Promise<void> {
  const keys = [...(await allKeys(accounts, "project")), ...(await allKeys(accounts, "admin"))];
  if (json) {
    console.log(JSON.stringify(keys.map(toJson), undefined, 2));
    return;
  }
  const header = ["ID", "KEY", "NAME", "PROJECT", "CREATED", "EXPIRES", "LAST USED"];
  const rows = keys.map((key) => [
    key.id,
    key.redactedValue,
    key.name,
    key.projectId ?? "(admin)",
    formatTime(key.createdAt),
    formatTime(key.expiresAt, "never"),
    formatTime(key.lastUsedAt, "never"),
  ]);
  console.log(formatTable(header, rows));
}

async function allKeys(accounts: Accounts, kind: ApiKey["kind"]): Promise<ApiKey[]> {
  const { organizationId } = await accounts.defaultScope(kind);
  const keys: ApiKey[] = [];
  for (;;) {
    const request = { after: keys.at(-1)?.id, limit: PAGE_SIZE, order: "asc" } as const;
    const { entries, hasMore } = await accounts.apiKeys.list({ organizationId, kind }, request);
    keys.push(...entries);
    if (!hasMore) return keys;
  }
}

/** Looks the key up first, since its ID does not show whether it is an admin key. */
async function revoke(accounts: Accounts, id: string): Promise<void> {
  const { organizationId } = await accounts.defaultScope("admin");
  const isAdmin = (await allKeys(accounts, "admin")).some((key) => key.id === id);
  await accounts.apiKeys.revoke(OPERATOR, { organizationId, kind: isAdmin ? "admin" : "project" }, id);
}

function toJson(key: ApiKey) {
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    project_id: key.projectId,
    service_account_id: key.serviceAccountId,
    redacted_value: key.redactedValue,
    created_at: toUnixSeconds(key.createdAt),
    expires_at: toUnixSeconds(key.expiresAt),
    last_used_at: toUnixSeconds(key.lastUsedAt),
  };
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const MAX_SECONDS = 100 * 365 * 86_400;

function parseSeconds(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,10})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0);
  if (seconds >= 1 && seconds <= MAX_SECONDS) return seconds;
  throw new InvalidArgumentError("It must be a number followed by s, m, h, d or w, from 1s to 100 years.");
}
