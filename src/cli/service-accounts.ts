/** `parlance service-accounts`: manages the service accounts of a project, which own keys. */

import { Command } from "commander";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { CreatedServiceAccount } from "../wire/openapi/organization-answers.ts";
import {
  allServiceAccounts,
  findProject,
  findServiceAccount,
  type ListedProject,
  type ListedServiceAccount,
  projectPath,
} from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { parseSeconds } from "./parse-seconds.ts";
import type { ServiceClient } from "./service-client.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

interface Options extends ServiceOptions {
  project?: string;
  json?: true;
}

interface CreateOptions extends Options {
  expiresIn?: number;
}

export function serviceAccountsCommand(): Command {
  const command = new Command("service-accounts");
  const of = "ID or name of the project; default: the default project";
  addServiceOptions(
    command
      .command("list")
      .description("List the service accounts of a project")
      .option("--project <project>", of)
      .option("--json", "print the service accounts as JSON"),
  ).action((options: Options) => withAdministration(options, (client) => list(client, options)));
  addServiceOptions(
    command
      .command("create")
      .description("Create a service account and print its key, which is shown only once")
      .argument("<name>", "name of the service account")
      .option("--project <project>", of)
      .option("--expires-in <time>", "lifetime of the key, such as 12h, 30d or 8w; default: unlimited", parseSeconds)
      .option("--json", "print the service account and its key as JSON"),
  ).action((name: string, options: CreateOptions) =>
    withAdministration(options, (client) => create(client, name, options)),
  );
  addServiceOptions(
    command
      .command("delete")
      .description("Delete a service account and revoke its keys")
      .argument("<account>", "ID or name of the service account")
      .option("--project <project>", of)
      .option("--json", "print the result as JSON"),
  ).action((idOrName: string, options: Options) =>
    withAdministration(options, async (client) => {
      const project = await findProject(client, options.project);
      const { id } = await findServiceAccount(client, project, idOrName);
      await client.send("DELETE", `${projectPath(project)}/service_accounts/${id}`);
      console.log(
        options.json === true ? JSON.stringify({ id, deleted: true }) : `Deleted ${id}. Its keys are revoked.`,
      );
    }),
  );
  return command;
}

async function list(client: ServiceClient, { project: idOrName, json }: Options): Promise<void> {
  const project = await findProject(client, idOrName);
  const accounts = await allServiceAccounts(client, project);
  if (json === true) {
    console.log(
      JSON.stringify(
        accounts.map((account) => toJson(account, project)),
        undefined,
        2,
      ),
    );
    return;
  }
  const rows = accounts.map(({ id, name, role, created_at }) => [id, name, role, formatTime(created_at)]);
  console.log(formatTable(["ID", "NAME", "ROLE", "CREATED"], rows));
}

async function create(client: ServiceClient, name: string, options: CreateOptions): Promise<void> {
  const project = await findProject(client, options.project);
  const created = await client.read<AnswerOf<typeof CreatedServiceAccount>>(
    "POST",
    `${projectPath(project)}/service_accounts`,
    { name, ...(options.expiresIn !== undefined && { expires_in_seconds: options.expiresIn }) },
  );
  const { id, value = "" } = created.api_key ?? {};
  if (options.json === true) {
    console.log(JSON.stringify({ ...toJson(created, project), api_key: { id, value } }, undefined, 2));
    return;
  }
  // Only the secret goes to standard output, for `KEY=$(parlance service-accounts create …)`.
  console.error(`Created ${created.id} in ${project.name}. Save its key, which is shown only once:`);
  console.log(value);
}

function toJson({ id, name, role, created_at }: ListedServiceAccount, project: ListedProject) {
  return { id, name, role, project_id: project.id, created_at };
}
