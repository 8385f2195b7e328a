/** `parlance service-accounts`: manages the service accounts of a project, which own keys. */

import { Command } from "commander";
import type { Accounts } from "../features/accounts/accounts.ts";
import { OPERATOR } from "../features/accounts/audit/audit.ts";
import type { ServiceAccount } from "../features/accounts/service-accounts/service-accounts.ts";
import { allEntries, findProject, findServiceAccount } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime, toUnixSeconds } from "./format-time.ts";
import { parseSeconds } from "./parse-seconds.ts";
import { withAccounts } from "./with-accounts.ts";

interface Options {
  project?: string;
  json?: true;
}

interface CreateOptions extends Options {
  expiresIn?: number;
}

export function serviceAccountsCommand(): Command {
  const command = new Command("service-accounts");
  const of = "ID or name of the project; default: the default project";
  command
    .command("list")
    .description("List the service accounts of a project")
    .option("--project <project>", of)
    .option("--json", "print the service accounts as JSON")
    .action((options: Options) => withAccounts((accounts) => list(accounts, options)));
  command
    .command("create")
    .description("Create a service account and print its key, which is shown only once")
    .argument("<name>", "name of the service account")
    .option("--project <project>", of)
    .option("--expires-in <time>", "lifetime of the key, such as 12h, 30d or 8w; default: unlimited", parseSeconds)
    .option("--json", "print the service account and its key as JSON")
    .action((name: string, options: CreateOptions) => withAccounts((accounts) => create(accounts, name, options)));
  command
    .command("delete")
    .description("Delete a service account and revoke its keys")
    .argument("<account>", "ID or name of the service account")
    .option("--project <project>", of)
    .option("--json", "print the result as JSON")
    .action((given: string, { project, json }: Options) =>
      withAccounts(async (accounts) => {
        const account = await findServiceAccount(accounts, await findProject(accounts, project), given);
        await accounts.serviceAccounts.delete(OPERATOR, account);
        const { id } = account;
        console.log(json === true ? JSON.stringify({ id, deleted: true }) : `Deleted ${id}. Its keys are revoked.`);
      }),
    );
  return command;
}

async function list(accounts: Accounts, { project, json }: Options): Promise<void> {
  const match = await findProject(accounts, project);
  const entries = await allEntries((request) => accounts.serviceAccounts.list(match, request));
  if (json === true) {
    console.log(JSON.stringify(entries.map(toJson), undefined, 2));
    return;
  }
  const rows = entries.map(({ id, name, role, createdAt }) => [id, name, role, formatTime(createdAt)]);
  console.log(formatTable(["ID", "NAME", "ROLE", "CREATED"], rows));
}

async function create(accounts: Accounts, name: string, { project, expiresIn, json }: CreateOptions): Promise<void> {
  const match = await findProject(accounts, project);
  const key = { expiresInSeconds: expiresIn };
  const created = await accounts.serviceAccounts.create(OPERATOR, match, { name, key });
  const value = created.key?.secret.reveal() ?? "";
  if (json === true) {
    const api_key = { id: created.key?.key.id, value };
    console.log(JSON.stringify({ ...toJson(created.account), api_key }, undefined, 2));
    return;
  }
  // Only the secret goes to standard output, for `KEY=$(parlance service-accounts create …)`.
  console.error(`Created ${created.account.id} in ${match.name}. Save its key, which is shown only once:`);
  console.log(value);
}

function toJson({ id, name, role, projectId, createdAt }: ServiceAccount) {
  return { id, name, role, project_id: projectId, created_at: toUnixSeconds(createdAt) };
}
