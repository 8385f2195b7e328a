/** `parlance keys`: manages API keys. */

import { Command } from "commander";
import { Fault } from "../kernel/faults.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { CreatedAdminApiKey, CreatedKey, CreatedProjectApiKey } from "../wire/openapi/organization-answers.ts";
import { allKeys, allProjects, findKey, findProject, findServiceAccount, projectPath } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { parseSeconds } from "./parse-seconds.ts";
import type { ServiceClient } from "./service-client.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

interface CreateOptions extends ServiceOptions {
  name: string;
  admin?: true;
  permission?: string[];
  project?: string;
  serviceAccount?: string;
  expiresIn?: number;
  json?: true;
}

interface ListOptions extends ServiceOptions {
  project?: string;
  json?: true;
}

const ADMIN_KEYS = "/v1/organization/admin_api_keys";

export function keysCommand(): Command {
  const command = new Command("keys");
  addServiceOptions(
    command
      .command("create")
      .description("Create a key and print its secret, which is shown only once")
      .requiredOption("--name <name>", "name of the key, such as the person or program that will use it")
      .option("--admin", "create an admin key for the administration API")
      .option("--permission <permissions...>", "restrict the admin key, such as to organization.scim.write")
      .option("--project <project>", "ID or name of the project; default: the default project")
      .option("--service-account <account>", "ID or name of the service account that owns the key")
      .option("--expires-in <time>", "lifetime of the key, such as 12h, 30d or 8w; default: unlimited", parseSeconds)
      .option("--json", "print the key as JSON"),
  ).action((options: CreateOptions) => {
    if (options.admin === true && (options.project ?? options.serviceAccount) !== undefined) {
      throw new Fault("invalid-request", "Admin keys do not belong to a project. Use either --admin or --project.");
    }
    if (options.admin !== true && options.permission !== undefined) {
      throw new Fault("invalid-request", "Only admin keys have permissions. Add --admin.");
    }
    return withAdministration(options, (client) => create(client, options));
  });
  addServiceOptions(
    command
      .command("list")
      .description("List all active keys, without their secrets")
      .option("--project <project>", "ID or name of the project whose keys to list; default: all, and the admin keys")
      .option("--json", "print the keys as JSON"),
  ).action((options: ListOptions) => withAdministration(options, (client) => list(client, options)));
  addServiceOptions(
    command
      .command("revoke")
      .description("Revoke a key; further requests with it get a 401")
      .argument("<key>", "ID or name of the key, from `parlance keys list`")
      .option("--json", "print the result as JSON"),
  ).action((idOrName: string, options: ServiceOptions & { json?: true }) =>
    withAdministration(options, async (client) => {
      const id = await revoke(client, idOrName);
      console.log(options.json === true ? JSON.stringify({ id, revoked: true }) : `Revoked ${id}.`);
    }),
  );
  return command;
}

async function create(client: ServiceClient, options: CreateOptions): Promise<void> {
  const { value, ...key } =
    options.admin === true ? await createAdmin(client, options) : await createOwned(client, options);
  if (options.json === true) {
    console.log(JSON.stringify({ ...key, value }, undefined, 2));
    return;
  }
  // Only the secret goes to standard output, for `KEY=$(parlance keys create --name CI)`.
  const until = key.expires_at === null ? "does not expire" : `expires ${formatTime(key.expires_at)}`;
  console.error(`Created ${key.id} (${key.kind} key, ${until}). Save its secret, which is shown only once:`);
  console.log(value);
}

function toBody({ name, expiresIn }: CreateOptions) {
  return { name, ...(expiresIn !== undefined && { expires_in_seconds: expiresIn }) };
}

async function createAdmin(client: ServiceClient, options: CreateOptions) {
  const created = await client.read<AnswerOf<typeof CreatedAdminApiKey>>("POST", ADMIN_KEYS, {
    ...toBody(options),
    ...(options.permission !== undefined && { permissions: options.permission }),
  });
  return { ...toJson({ ...created, kind: "admin", project_id: null, service_account_id: null }), value: created.value };
}

async function createOwned(client: ServiceClient, options: CreateOptions) {
  const project = await findProject(client, options.project);
  const owner = { kind: "project", project_id: project.id, service_account_id: null } as const;
  if (options.serviceAccount === undefined) {
    const path = `${projectPath(project)}/api_keys`;
    const created = await client.read<AnswerOf<typeof CreatedProjectApiKey>>("POST", path, toBody(options));
    return { ...toJson({ ...created, ...owner }), value: created.value };
  }
  const account = await findServiceAccount(client, project, options.serviceAccount);
  const path = `${projectPath(project)}/service_accounts/${account.id}/api_keys`;
  const { id, value } = await client.read<AnswerOf<typeof CreatedKey>>("POST", path, toBody(options));
  const [key] = (await allKeys(client, project.id)).filter((each) => each.id === id);
  if (key === undefined) throw new Fault("not-found", `The key \`${id}\` was revoked by another command.`);
  return { ...toJson(key), value };
}

async function list(client: ServiceClient, { project, json }: ListOptions): Promise<void> {
  const projectId = project === undefined ? undefined : (await findProject(client, project)).id;
  const keys = await allKeys(client, projectId);
  if (json === true) {
    console.log(JSON.stringify(keys.map(toJson), undefined, 2));
    return;
  }
  const header = ["ID", "KEY", "NAME", "PROJECT", "CREATED", "EXPIRES", "LAST USED"];
  const names = new Map((await allProjects(client)).map(({ id, name }) => [id, name]));
  const rows = keys.map((key) => [
    key.id,
    key.redacted_value,
    key.name,
    key.project_id === null ? "(admin)" : (names.get(key.project_id) ?? key.project_id),
    formatTime(key.created_at),
    formatTime(key.expires_at, "never"),
    formatTime(key.last_used_at, "never"),
  ]);
  console.log(formatTable(header, rows));
}

async function revoke(client: ServiceClient, idOrName: string): Promise<string> {
  const { id, project_id: projectId } = await findKey(client, idOrName);
  const keys = projectId === null ? ADMIN_KEYS : `${projectPath({ id: projectId })}/api_keys`;
  await client.send("DELETE", `${keys}/${id}`);
  return id;
}

type ShownKey = Pick<
  Awaited<ReturnType<typeof allKeys>>[number],
  | "id"
  | "kind"
  | "name"
  | "project_id"
  | "service_account_id"
  | "redacted_value"
  | "created_at"
  | "expires_at"
  | "last_used_at"
>;

function toJson(key: ShownKey): ShownKey {
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    project_id: key.project_id,
    service_account_id: key.service_account_id,
    redacted_value: key.redacted_value,
    created_at: key.created_at,
    expires_at: key.expires_at,
    last_used_at: key.last_used_at,
  };
}
