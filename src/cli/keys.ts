/** `parlance keys`: keys of the default organisation, on the same database as the service. */

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
    .description("Create a key and print its secret, which is shown only this once")
    .option("--name <name>", "what the key is for", "API key")
    .option("--admin", "an admin key, for the administration API")
    .option("--project <id>", "a project other than the default one")
    .option("--expires-in <time>", "when it stops working, such as 12h, 30d or 8w", parseSeconds)
    .option("--json", "print the key as JSON")
    .action((options: CreateOptions) => withAccounts((accounts) => create(accounts, options)));
  command
    .command("list")
    .description("List the keys that are not revoked; secrets are not kept")
    .option("--json", "print the keys as JSON")
    .action(({ json }: { json?: true }) => withAccounts((accounts) => list(accounts, json === true)));
  command
    .command("revoke")
    .description("End a key; its next request is refused")
    .argument("<id>", "as keys list shows it")
    .option("--json", "print what was revoked as JSON")
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
    throw new Fault("invalid-request", "An admin key belongs to no project: leave out --admin or --project.");
  }
  const scope = await accounts.defaultScope(admin === true ? "admin" : "project");
  const wanted = { scope: project === undefined ? scope : { ...scope, projectId: project }, name };
  const { key, secret } = await accounts.apiKeys.create(OPERATOR, { ...wanted, expiresInSeconds: expiresIn });
  if (json === true) {
    console.log(JSON.stringify({ ...toJson(key), value: secret.reveal() }, undefined, 2));
    return;
  }
  // The secret alone goes to standard output, so that `KEY=$(parlance keys create)` holds it and nothing else.
  const until = key.expiresAt === null ? "does not expire" : `expires ${formatTime(key.expiresAt)}`;
  console.error(`Created ${key.id} (${key.kind} key, ${until}). Its secret is shown only this once:`);
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

/** Keys of both kinds are looked through, since an id does not tell its kind. */
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
const LONGEST_SECONDS = 100 * 365 * 86_400;

function parseSeconds(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,10})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0);
  if (seconds >= 1 && seconds <= LONGEST_SECONDS) return seconds;
  throw new InvalidArgumentError("It must be a number and s, m, h, d or w, at least 1s and at most 100 years.");
}
