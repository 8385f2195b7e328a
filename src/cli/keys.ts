/** `parlance keys`: manages API keys of the default organization in the service's database. */

import { Command } from "commander";
import type { Accounts } from "../features/accounts/accounts.ts";
import { OPERATOR } from "../features/accounts/audit/audit.ts";
import type { ApiKeyScope } from "../features/accounts/keys/api-key-queries.ts";
import type { ApiKey } from "../features/accounts/keys/api-keys.ts";
import { Fault } from "../kernel/faults.ts";
import { allKeys, findKey, findProject, findServiceAccount, projectNames } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime, toUnixSeconds } from "./format-time.ts";
import { parseSeconds } from "./parse-seconds.ts";
import { withAccounts } from "./with-accounts.ts";

interface CreateOptions {
  name: string;
  admin?: true;
  project?: string;
  serviceAccount?: string;
  expiresIn?: number;
  json?: true;
}

interface ListOptions {
  project?: string;
  json?: true;
}

export function keysCommand(): Command {
  const command = new Command("keys");
  command
    .command("create")
    .description("Create a key and print its secret, which is shown only once")
    .requiredOption("--name <name>", "name of the key, such as the person or program that will use it")
    .option("--admin", "create an admin key for the administration API")
    .option("--project <project>", "ID or name of the project; default: the default project")
    .option("--service-account <account>", "ID or name of the service account that owns the key")
    .option("--expires-in <time>", "lifetime of the key, such as 12h, 30d or 8w; default: unlimited", parseSeconds)
    .option("--json", "print the key as JSON")
    .action((options: CreateOptions) => withAccounts((accounts) => create(accounts, options)));
  command
    .command("list")
    .description("List all active keys, without their secrets")
    .option("--project <project>", "ID or name of the project whose keys to list; default: all, and the admin keys")
    .option("--json", "print the keys as JSON")
    .action((options: ListOptions) => withAccounts((accounts) => list(accounts, options)));
  command
    .command("revoke")
    .description("Revoke a key; further requests with it get a 401")
    .argument("<key>", "ID or name of the key, from `parlance keys list`")
    .option("--json", "print the result as JSON")
    .action((given: string, { json }: { json?: true }) =>
      withAccounts(async (accounts) => {
        const id = await revoke(accounts, given);
        console.log(json === true ? JSON.stringify({ id, revoked: true }) : `Revoked ${id}.`);
      }),
    );
  return command;
}

async function create(accounts: Accounts, { name, expiresIn, json, ...owner }: CreateOptions): Promise<void> {
  const scope = await scopeOf(accounts, owner);
  const { key, secret } = await accounts.apiKeys.create(OPERATOR, { scope, name, expiresInSeconds: expiresIn });
  if (json === true) {
    console.log(JSON.stringify({ ...toJson(key), value: secret.reveal() }, undefined, 2));
    return;
  }
  // Only the secret goes to standard output, for `KEY=$(parlance keys create --name CI)`.
  const until = key.expiresAt === null ? "does not expire" : `expires ${formatTime(key.expiresAt)}`;
  console.error(`Created ${key.id} (${key.kind} key, ${until}). Save its secret, which is shown only once:`);
  console.log(secret.reveal());
}

async function scopeOf(
  accounts: Accounts,
  { admin, project, serviceAccount }: Pick<CreateOptions, "admin" | "project" | "serviceAccount">,
): Promise<ApiKeyScope> {
  if (admin === true) {
    if (project === undefined && serviceAccount === undefined) return accounts.defaultScope("admin");
    throw new Fault("invalid-request", "Admin keys do not belong to a project. Use either --admin or --project.");
  }
  const match = await findProject(accounts, project);
  const scope = { organizationId: match.organizationId, projectId: match.id, kind: "project" } as const;
  if (serviceAccount === undefined) return scope;
  return { ...scope, serviceAccountId: (await findServiceAccount(accounts, match, serviceAccount)).id };
}

async function list(accounts: Accounts, { project, json }: ListOptions): Promise<void> {
  const { id: projectId } = project === undefined ? {} : await findProject(accounts, project);
  const all = [...(await allKeys(accounts, "project")), ...(await allKeys(accounts, "admin"))];
  const keys = projectId === undefined ? all : all.filter((key) => key.projectId === projectId);
  if (json === true) {
    console.log(JSON.stringify(keys.map(toJson), undefined, 2));
    return;
  }
  const header = ["ID", "KEY", "NAME", "PROJECT", "CREATED", "EXPIRES", "LAST USED"];
  const { organizationId } = await accounts.defaultScope("admin");
  const names = await projectNames(accounts, organizationId);
  const rows = keys.map((key) => [
    key.id,
    key.redactedValue,
    key.name,
    key.projectId === null ? "(admin)" : (names.get(key.projectId) ?? key.projectId),
    formatTime(key.createdAt),
    formatTime(key.expiresAt, "never"),
    formatTime(key.lastUsedAt, "never"),
  ]);
  console.log(formatTable(header, rows));
}

async function revoke(accounts: Accounts, idOrName: string): Promise<string> {
  const { id, kind, organizationId } = await findKey(accounts, idOrName);
  await accounts.apiKeys.revoke(OPERATOR, { organizationId, kind }, id);
  return id;
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
