/** `parlance organizations`: manages the organizations of the installation. */

import { Command } from "commander";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { CreatedOrganization } from "../wire/openapi/organization-answers.ts";
import { allOrganizations, findOrganization, type ListedOrganization } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import type { ServiceClient } from "./service-client.ts";
import { withAdministration } from "./with-administration.ts";

interface JsonOption {
  json?: true;
}

/** Only the operator manages organizations, so that no key of another service helps. */
export function organizationsCommand(): Command {
  const command = new Command("organizations");
  command
    .command("create")
    .description("Create an organization and print its first admin key, which is shown only once")
    .argument("<name>", "name of the organization")
    .option("--json", "print the organization and its key as JSON")
    .action((name: string, { json }: JsonOption) =>
      withAdministration({}, (client) => create(client, name, json === true)),
    );
  command
    .command("list")
    .description("List all organizations, including archived ones")
    .option("--json", "print the organizations as JSON")
    .action(({ json }: JsonOption) => withAdministration({}, (client) => list(client, json === true)));
  command
    .command("archive")
    .description("Archive an organization with its projects and disable its keys; its usage records stay")
    .argument("<organization>", "ID or name of the organization, from `parlance organizations list`")
    .option("--json", "print the organization as JSON")
    .action((idOrName: string, { json }: JsonOption) =>
      withAdministration({}, (client) => archive(client, idOrName, json === true)),
    );
  return command;
}

async function create(client: ServiceClient, name: string, json: boolean): Promise<void> {
  const created = await client.read<AnswerOf<typeof CreatedOrganization>>("POST", "/v1/organizations", { name });
  const { id, value } = created.admin_api_key;
  if (json) {
    console.log(JSON.stringify({ ...toJson(created), admin_api_key: { id, value } }, undefined, 2));
    return;
  }
  // Only the secret goes to standard output, for `KEY=$(parlance organizations create …)`.
  console.error(`Created ${created.id}. Save its first admin key, which is shown only once:`);
  console.log(value);
}

async function list(client: ServiceClient, json: boolean): Promise<void> {
  const organizations = await allOrganizations(client);
  if (json) {
    console.log(JSON.stringify(organizations.map(toJson), undefined, 2));
    return;
  }
  const rows = organizations.map((each) => [
    each.id,
    each.name,
    formatTime(each.created_at),
    formatTime(each.archived_at, "no"),
  ]);
  console.log(formatTable(["ID", "NAME", "CREATED", "ARCHIVED"], rows));
}

async function archive(client: ServiceClient, idOrName: string, json: boolean): Promise<void> {
  const { id } = await findOrganization(client, idOrName);
  const archived = await client.read<ListedOrganization>("POST", `/v1/organizations/${id}/archive`);
  console.log(json ? JSON.stringify(toJson(archived)) : `Archived ${id}. Its keys are disabled.`);
}

function toJson({ id, name, is_default, created_at, archived_at }: ListedOrganization) {
  return { id, name, is_default, created_at, archived_at };
}
