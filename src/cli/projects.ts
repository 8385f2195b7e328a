/** `parlance projects`: manages the projects of an organization and what they may use. */

import { Command } from "commander";
import { allProjects, defaultProjectId, findProject, type ListedProject, projectPath } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { addProjectLimits } from "./project-limits.ts";
import type { ServiceClient } from "./service-client.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

interface Options extends ServiceOptions {
  json?: true;
}

export function projectsCommand(): Command {
  const command = new Command("projects");
  addServiceOptions(
    command
      .command("list")
      .description("List the projects")
      .option("--archived", "include archived projects")
      .option("--json", "print the projects as JSON"),
  ).action((options: Options & { archived?: true }) => withAdministration(options, (client) => list(client, options)));
  addServiceOptions(
    command
      .command("create")
      .description("Create a project")
      .argument("<name>", "name of the project")
      .option("--json", "print the project as JSON"),
  ).action((name: string, options: Options) =>
    change(
      options,
      (client) => client.read("POST", "/v1/organization/projects", { name }),
      ({ id }) => `Created ${id}. Create a key for it: parlance keys create --project ${id} --name NAME`,
    ),
  );
  addServiceOptions(
    command
      .command("rename")
      .description("Rename a project")
      .argument("<project>", "ID or name of the project")
      .argument("<name>", "new name")
      .option("--json", "print the project as JSON"),
  ).action((idOrName: string, name: string, options: Options) =>
    change(
      options,
      async (client) => client.read("POST", projectPath(await findProject(client, idOrName)), { name }),
      (project) => `Renamed ${project.id} to ${project.name}.`,
    ),
  );
  addServiceOptions(
    command
      .command("archive")
      .description("Archive a project and disable its keys; its usage records stay")
      .argument("<project>", "ID or name of the project")
      .option("--json", "print the project as JSON"),
  ).action((idOrName: string, options: Options) =>
    change(
      options,
      async (client) => client.read("POST", `${projectPath(await findProject(client, idOrName))}/archive`),
      ({ id }) => `Archived ${id}. Its keys are disabled.`,
    ),
  );
  addProjectLimits(command);
  return command;
}

async function list(client: ServiceClient, { archived, json }: Options & { archived?: true }): Promise<void> {
  const projects = await allProjects(client, { includesArchived: archived === true });
  if (json === true) {
    const defaultId = await defaultProjectId(client);
    console.log(
      JSON.stringify(
        projects.map((project) => toJson(project, defaultId)),
        undefined,
        2,
      ),
    );
    return;
  }
  const rows = projects.map((project) => [
    project.id,
    project.name,
    formatTime(project.created_at),
    formatTime(project.archived_at, "no"),
  ]);
  console.log(formatTable(["ID", "NAME", "CREATED", "ARCHIVED"], rows));
}

/** Prints the changed project. */
async function change(
  options: Options,
  send: (client: ServiceClient) => Promise<ListedProject>,
  describe: (project: ListedProject) => string,
): Promise<void> {
  await withAdministration(options, async (client) => {
    const project = await send(client);
    if (options.json !== true) console.log(describe(project));
    else console.log(JSON.stringify(toJson(project, await defaultProjectId(client)), undefined, 2));
  });
}

function toJson({ id, name, created_at, archived_at }: ListedProject, defaultId: string | undefined) {
  return { id, name, is_default: id === defaultId, created_at, archived_at };
}
