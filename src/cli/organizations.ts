/** `parlance organizations`: manages the organizations in the service's database. */

import { Command } from "commander";
import type { Accounts } from "../features/accounts/accounts.ts";
import { OPERATOR } from "../features/accounts/audit/audit.ts";
import type { Organization } from "../features/accounts/organizations/organizations.ts";
import { findOrganization } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime, toUnixSeconds } from "./format-time.ts";
import { withAccounts } from "./with-accounts.ts";

interface JsonOption {
  json?: true;
}

export function organizationsCommand(): Command {
  const command = new Command("organizations");
  command
    .command("create")
    .description("Create an organization and print its first admin key, which is shown only once")
    .argument("<name>", "name of the organization")
    .option("--json", "print the organization and its key as JSON")
    .action((name: string, { json }: JsonOption) => withAccounts((accounts) => create(accounts, name, json === true)));
  command
    .command("list")
    .description("List all organizations, including archived ones")
    .option("--json", "print the organizations as JSON")
    .action(({ json }: JsonOption) => withAccounts((accounts) => list(accounts, json === true)));
  command
    .command("archive")
    .description("Archive an organization and disable its keys; its usage records stay")
    .argument("<organization>", "ID or name of the organization, from `parlance organizations list`")
    .option("--json", "print the organization as JSON")
    .action((given: string, { json }: JsonOption) =>
      withAccounts((accounts) => archive(accounts, given, json === true)),
    );
  return command;
}

async function create(accounts: Accounts, name: string, json: boolean): Promise<void> {
  const { organization, adminKey } = await accounts.organizations.create(OPERATOR, name);
  const value = adminKey.secret.reveal();
  if (json) {
    const admin_api_key = { id: adminKey.key.id, value };
    console.log(JSON.stringify({ ...toJson(organization), admin_api_key }, undefined, 2));
    return;
  }
  // Only the secret goes to standard output, for `KEY=$(parlance organizations create …)`.
  console.error(`Created ${organization.id}. Save its first admin key, which is shown only once:`);
  console.log(value);
}

async function list(accounts: Accounts, json: boolean): Promise<void> {
  const organizations = await accounts.organizations.list();
  if (json) {
    console.log(JSON.stringify(organizations.map(toJson), undefined, 2));
    return;
  }
  const rows = organizations.map((each) => [
    each.id,
    each.name,
    formatTime(each.createdAt),
    formatTime(each.archivedAt, "no"),
  ]);
  console.log(formatTable(["ID", "NAME", "CREATED", "ARCHIVED"], rows));
}

async function archive(accounts: Accounts, given: string, json: boolean): Promise<void> {
  const { id } = await findOrganization(accounts, given);
  const organization = await accounts.organizations.archive(OPERATOR, id);
  console.log(json ? JSON.stringify(toJson(organization)) : `Archived ${id}. Its keys are disabled.`);
}

function toJson(organization: Organization) {
  return {
    id: organization.id,
    name: organization.name,
    is_default: organization.isDefault === 1,
    created_at: toUnixSeconds(organization.createdAt),
    archived_at: toUnixSeconds(organization.archivedAt),
  };
}
