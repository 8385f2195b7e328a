/** `parlance projects`: manages the projects of the default organization and their rate limits. */

import { Command, InvalidArgumentError } from "commander";
import type { Accounts } from "../accounts/accounts.ts";
import { OPERATOR } from "../accounts/audit.ts";
import type { Project } from "../accounts/projects.ts";
import { invalidRequest } from "../faults.ts";
import { allEntries, findProject } from "./find-account.ts";
import { findModelId } from "./find-model.ts";
import { formatTable } from "./format-table.ts";
import { formatTime, toUnixSeconds } from "./format-time.ts";
import { withAccounts } from "./with-accounts.ts";

interface JsonOption {
  json?: true;
}

interface LimitOptions extends JsonOption {
  requestsPerMinute?: number;
  requestsPerDay?: number;
  tokensPerMinute?: number;
  concurrentRequests?: number;
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
          `Created ${project.id}. Create a key for it: parlance keys create --project ${project.id}`,
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
  command
    .command("limit")
    .description("Limit how much a project may use a model")
    .argument("<project>", "ID or name of the project")
    .argument("<model>", "ID or alias of the model")
    .option("--requests-per-minute <count>", "maximum requests per minute", parseCount)
    .option("--requests-per-day <count>", "maximum requests per day", parseCount)
    .option("--tokens-per-minute <count>", "maximum tokens per minute, of prompts and answers", parseCount)
    .option("--concurrent-requests <count>", "maximum requests at the same time", parseCount)
    .option("--json", "print the limits as JSON")
    .action((given: string, model: string, options: LimitOptions) =>
      withAccounts((accounts) => limit(accounts, given, model, options)),
    );
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

async function limit(
  accounts: Accounts,
  given: string,
  model: string,
  { json, ...limits }: LimitOptions,
): Promise<void> {
  if (Object.keys(limits).length === 0)
    throw invalidRequest("Give at least one limit, such as --requests-per-minute 10.");
  const project = await findProject(accounts, given);
  const {
    projectId: _id,
    updatedAt: _at,
    ...set
  } = {
    projectId: undefined,
    updatedAt: undefined,
    ...(await accounts.rateLimits.update(OPERATOR, project, await findModelId(model), limits)),
  };
  if (json === true) {
    const fields = Object.entries(set).map(([name, value]) => [
      name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
      value,
    ]);
    console.log(JSON.stringify({ project_id: project.id, ...Object.fromEntries(fields) }, undefined, 2));
    return;
  }
  console.log(`Limited ${project.name} (${project.id}) on ${set.model}.`);
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

function parseCount(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number without a sign.");
}
