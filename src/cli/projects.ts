/** `parlance projects`: manages the projects of the default organization and what they may use. */

import { Command } from "commander";
import type { Accounts } from "../features/accounts/accounts.ts";
import { OPERATOR } from "../features/accounts/audit/audit.ts";
import type { Project } from "../features/accounts/projects/projects.ts";
import { allEntries, findProject } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime, toUnixSeconds } from "./format-time.ts";
import { addProjectLimits } from "./project-limits.ts";
import { withAccounts } from "./with-accounts.ts";

interface JsonOption {
  json?: true;
}

export function projectsCommand(): Command {
  const command = new Command("projects");
  command
    .command("list")
    .description("List the projects")
    .option("--archived", "include archived projects")
    .option("--json", "print the projects as JSON")
    .action((options: JsonOption & { archived?: true }) => withAccounts((accounts) => list(accounts, options)));
  command
    .command("create")
    .description("Create a project")
    .argument("<name>", "name of the project")
    .option("--json", "print the project as JSON")
    .action((name: string, { json }: JsonOption) =>
      withAccounts(async (accounts) => {
        const { organizationId } = await accounts.defaultScope("admin");
        const project = await accounts.projects.create(OPERATOR, organizationId, name);
        print(
          project,
          json,
          `Created ${project.id}. Create a key for it: parlance keys create --project ${project.id} --name NAME`,
        );
      }),
    );
  command
    .command("rename")
    .description("Rename a project")
    .argument("<project>", "ID or name of the project")
    .argument("<name>", "new name")
    .option("--json", "print the project as JSON")
    .action((given: string, name: string, { json }: JsonOption) =>
      withAccounts(async (accounts) => {
        const project = await accounts.projects.rename(OPERATOR, await findProject(accounts, given), name);
        print(project, json, `Renamed ${project.id} to ${project.name}.`);
      }),
    );
  command
    .command("archive")
    .description("Archive a project and disable its keys; its usage records stay")
    .argument("<project>", "ID or name of the project")
    .option("--json", "print the project as JSON")
    .action((given: string, { json }: JsonOption) =>
      withAccounts(async (accounts) => {
        const project = await accounts.projects.archive(OPERATOR, await findProject(accounts, given));
        print(project, json, `Archived ${project.id}. Its keys are disabled.`);
      }),
    );
  addProjectLimits(command);
  return command;
}

async function list(accounts: Accounts, { archived, json }: JsonOption & { archived?: true }): Promise<void> {
  const { organizationId } = await accounts.defaultScope("admin");
  const projects = await allEntries((request) => accounts.projects.list(organizationId, archived === true, request));
  if (json === true) {
    console.log(JSON.stringify(projects.map(toJson), undefined, 2));
    return;
  }
  const rows = projects.map((project) => [
    project.id,
    project.name,
    formatTime(project.createdAt),
    formatTime(project.archivedAt, "no"),
  ]);
  console.log(formatTable(["ID", "NAME", "CREATED", "ARCHIVED"], rows));
}

function print(project: Project, json: true | undefined, sentence: string): void {
  console.log(json === true ? JSON.stringify(toJson(project), undefined, 2) : sentence);
}

function toJson({ id, name, isDefault, createdAt, archivedAt }: Project) {
  return {
    id,
    name,
    is_default: isDefault === 1,
    created_at: toUnixSeconds(createdAt),
    archived_at: toUnixSeconds(archivedAt),
  };
}
