/** `parlance users`, `invites` and `roles`: who may do what. */

import { Command } from "commander";
import { Fault } from "../kernel/faults.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { CreatedInvite, Invite, Role, RoleList, User } from "../wire/openapi/people-answers.ts";
import { allEntries, findProject, projectPath } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { parseSeconds } from "./parse-seconds.ts";
import { addPersonalData } from "./personal-data.ts";
import type { ServiceClient } from "./service-client.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

type ListedUser = AnswerOf<typeof User>;
type ListedInvite = AnswerOf<typeof Invite>;
type ListedRole = AnswerOf<typeof Role>;

interface Options extends ServiceOptions {
  json?: true;
  project?: string;
}

const ROOT = "/v1/organization";
const OF_PROJECT = "ID or name of a project";

export function usersCommand(): Command {
  const command = new Command("users");
  addServiceOptions(
    command.command("list").description("List the users").option("--json", "print the users as JSON"),
  ).action((options: Options) =>
    withAdministration(options, async (client) => {
      const users = await allEntries<ListedUser>(client, `${ROOT}/users`);
      const rows = users.map(({ id, email, name, role, disabled_at, last_active_at }) => {
        const state = disabled_at === null ? "enabled" : "disabled";
        return [id, email, name, role, state, last_active_at === null ? "never" : formatTime(last_active_at)];
      });
      print(options, users, formatTable(["ID", "ADDRESS", "NAME", "ROLE", "STATE", "LAST ACTIVE"], rows));
    }),
  );
  addServiceOptions(
    command
      .command("role")
      .description("Change the role of a user, in the organization or in a project")
      .argument("<user>", "ID or address of the user")
      .argument("<role>", "owner, member or reader; with --project: owner, member, viewer or a custom role")
      .option("--project <project>", `${OF_PROJECT}; the user is added to it if necessary`)
      .option("--json", "print the result as JSON"),
  ).action((user: string, role: string, options: Options) =>
    withAdministration(options, (client) => setRole(client, user, role, options)),
  );
  addToggle(command, "disable", "Disable a user, whose sessions and keys stop working", true);
  addToggle(command, "enable", "Enable a user that was disabled", false);
  addServiceOptions(
    command
      .command("remove")
      .description("Remove a user, from the organization or from a project, and revoke the user's keys there")
      .argument("<user>", "ID or address of the user")
      .option("--project <project>", OF_PROJECT)
      .option("--json", "print the result as JSON"),
  ).action((idOrEmail: string, options: Options) =>
    withAdministration(options, async (client) => {
      const { id, email } = await findUser(client, idOrEmail);
      const owner = options.project === undefined ? ROOT : projectPath(await findProject(client, options.project));
      await client.send("DELETE", `${owner}/users/${id}`);
      print(options, { id, deleted: true }, `Removed ${email}. The user's keys are revoked.`);
    }),
  );
  addPersonalData(command, findUser);
  return command;
}

export function invitesCommand(): Command {
  const command = new Command("invites");
  addServiceOptions(
    command.command("list").description("List the invites").option("--json", "print the invites as JSON"),
  ).action((options: Options) =>
    withAdministration(options, async (client) => {
      const invites = await allEntries<ListedInvite>(client, `${ROOT}/invites`);
      const rows = invites.map(({ id, email, role, status, expires_at }) => [
        id,
        email,
        role,
        status,
        formatTime(expires_at),
      ]);
      print(options, invites, formatTable(["ID", "ADDRESS", "ROLE", "STATUS", "EXPIRES"], rows));
    }),
  );
  addServiceOptions(
    command
      .command("create")
      .description("Invite a person and print the token of the invite, which is shown only once")
      .argument("<email>", "address of the person")
      .option("--role <role>", "role in the organization: owner, member or reader", "reader")
      .option("--project <project>", `${OF_PROJECT} that the person joins`)
      .option("--project-role <role>", "role in the project", "member")
      .option("--expires-in <time>", "lifetime, such as 12h, 30d or 8w; default: 7d", parseSeconds)
      .option("--json", "print the invite as JSON"),
  ).action((email: string, options: Options & { role: string; projectRole: string; expiresIn?: number }) =>
    withAdministration(options, async (client) => {
      const project = options.project === undefined ? undefined : await findProject(client, options.project);
      const invite = await client.read<AnswerOf<typeof CreatedInvite>>("POST", `${ROOT}/invites`, {
        email,
        role: options.role,
        ...(project !== undefined && { projects: [{ id: project.id, role: options.projectRole }] }),
        ...(options.expiresIn !== undefined && { expires_in_seconds: options.expiresIn }),
      });
      if (options.json !== true) console.error(`Invited ${invite.email}. The token is shown only once:`);
      print(options, invite, invite.token);
    }),
  );
  addServiceOptions(
    command
      .command("delete")
      .description("Withdraw an invite")
      .argument("<invite>", "ID or address of the invite")
      .option("--json", "print the result as JSON"),
  ).action((idOrEmail: string, options: Options) =>
    withAdministration(options, async (client) => {
      const invites = await allEntries<ListedInvite>(client, `${ROOT}/invites`);
      const address = idOrEmail.toLowerCase();
      const invite = invites.find(
        ({ id, email, status }) => id === idOrEmail || (email === address && status !== "accepted"),
      );
      if (invite === undefined) throw new Fault("not-found", `There is no invite \`${idOrEmail}\`.`);
      await client.send("DELETE", `${ROOT}/invites/${invite.id}`);
      print(options, { id: invite.id, deleted: true }, `Withdrew the invite for ${invite.email}.`);
    }),
  );
  return command;
}

export function rolesCommand(): Command {
  const command = new Command("roles");
  addServiceOptions(
    command
      .command("list")
      .description("List the roles of the organization or of a project")
      .option("--project <project>", OF_PROJECT)
      .option("--json", "print the roles as JSON"),
  ).action((options: Options) =>
    withAdministration(options, async (client) => {
      const { data } = await client.read<AnswerOf<typeof RoleList>>("GET", await rolesPath(client, options));
      const rows = data.map(({ id, name, predefined_role, permissions }) => [
        id,
        name,
        predefined_role ? "built in" : "custom",
        String(permissions.length),
      ]);
      print(options, data, formatTable(["ID", "NAME", "KIND", "PERMISSIONS"], rows));
    }),
  );
  addServiceOptions(
    command
      .command("create")
      .description("Create a custom role")
      .argument("<name>", "name of the role")
      .argument("<permissions...>", "permissions, such as project.usage.read")
      .option("--project <project>", OF_PROJECT)
      .option("--json", "print the role as JSON"),
  ).action((name: string, permissions: string[], options: Options) =>
    withAdministration(options, async (client) => {
      const path = await rolesPath(client, options);
      const role = await client.read<ListedRole>("POST", path, { role_name: name, permissions });
      print(options, role, `Created ${role.id}.`);
    }),
  );
  addServiceOptions(
    command
      .command("delete")
      .description("Delete a custom role and its assignments")
      .argument("<role>", "ID or name of the role")
      .option("--project <project>", OF_PROJECT)
      .option("--json", "print the result as JSON"),
  ).action((idOrName: string, options: Options) =>
    withAdministration(options, async (client) => {
      const path = await rolesPath(client, options);
      const { id } = await client.read<ListedRole>("GET", `${path}/${encodeURIComponent(idOrName)}`);
      await client.send("DELETE", `${path}/${id}`);
      print(options, { id, deleted: true }, `Deleted ${id}.`);
    }),
  );
  return command;
}

function addToggle(command: Command, name: string, description: string, disabled: boolean): void {
  addServiceOptions(
    command
      .command(name)
      .description(description)
      .argument("<user>", "ID or address of the user")
      .option("--json", "print the user as JSON"),
  ).action((idOrEmail: string, options: Options) =>
    withAdministration(options, async (client) => {
      const { id } = await findUser(client, idOrEmail);
      const user = await client.read<ListedUser>("POST", `${ROOT}/users/${id}`, { disabled });
      print(options, user, `${user.email} is ${disabled ? "disabled" : "enabled"}.`);
    }),
  );
}

async function setRole(client: ServiceClient, idOrEmail: string, role: string, options: Options): Promise<void> {
  const { id, email, projects } = await findUser(client, idOrEmail);
  if (options.project === undefined) {
    const user = await client.read<ListedUser>("POST", `${ROOT}/users/${id}`, { role });
    print(options, user, `${email} is ${user.role}.`);
    return;
  }
  const project = await findProject(client, options.project);
  const path = `${projectPath(project)}/users`;
  const isMember = projects.data.some((each) => each.id === project.id);
  const answer = isMember
    ? await client.read("POST", `${path}/${id}`, { role })
    : await client.read("POST", path, { user_id: id, role });
  print(options, answer, `${email} is ${role} in ${project.name}.`);
}

export async function findUser(client: ServiceClient, idOrEmail: string): Promise<ListedUser> {
  if (!idOrEmail.includes("@")) return client.read("GET", `${ROOT}/users/${encodeURIComponent(idOrEmail)}`);
  const [user] = await allEntries<ListedUser>(client, `${ROOT}/users`, { emails: idOrEmail });
  if (user === undefined) throw new Fault("not-found", `There is no user \`${idOrEmail}\`.`);
  return user;
}

async function rolesPath(client: ServiceClient, { project }: Options): Promise<string> {
  return project === undefined ? `${ROOT}/roles` : `/v1/projects/${(await findProject(client, project)).id}/roles`;
}

function print({ json }: Options, value: unknown, text: string): void {
  console.log(json === true ? JSON.stringify(value, undefined, 2) : text);
}
