/** `parlance projects allow | limit | budget`: the models, rates and spending of a project. */

import { type Command, InvalidArgumentError } from "commander";
import type { Accounts } from "../features/accounts/accounts.ts";
import { OPERATOR } from "../features/accounts/audit/audit.ts";
import { invalidRequest } from "../kernel/faults.ts";
import { findProject } from "./find-account.ts";
import { findModelId } from "./find-model.ts";
import { withAccounts } from "./with-accounts.ts";

interface JsonOption {
  json?: true;
}

interface AllowOptions extends JsonOption {
  all?: true;
}

interface LimitOptions extends JsonOption {
  requestsPerMinute?: number;
  requestsPerDay?: number;
  tokensPerMinute?: number;
  concurrentRequests?: number;
}

export function addProjectLimits(command: Command): void {
  command
    .command("allow")
    .description("Let a project use only some models")
    .argument("<project>", "ID or name of the project")
    .argument("[models...]", "IDs or aliases of the models; they replace those that were allowed before")
    .option("--all", "allow every model again")
    .option("--json", "print the permissions as JSON")
    .action((given: string, models: string[], options: AllowOptions) =>
      withAccounts((accounts) => allow(accounts, given, models, options)),
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
  command
    .command("budget")
    .description("Limit what a project may spend in a month, at the configured prices of models")
    .argument("<project>", "ID or name of the project")
    .argument("<dollars>", "US dollars such as 5 or 2.50, or `none`", parseCents)
    .option("--json", "print the budget as JSON")
    .action((given: string, cents: number | undefined, options: JsonOption) =>
      withAccounts((accounts) => budget(accounts, given, cents, options)),
    );
}

async function allow(
  accounts: Accounts,
  given: string,
  models: readonly string[],
  { all, json }: AllowOptions,
): Promise<void> {
  if ((all === true) === models.length > 0) throw invalidRequest("Give either models or --all.");
  const { id: projectId, name, organizationId } = await findProject(accounts, given);
  const owner = { organizationId, projectId };
  const modelIds: string[] = [];
  for (const model of models) modelIds.push(await findModelId(model));
  if (all === true) await accounts.modelPermissions.remove(OPERATOR, owner);
  else await accounts.modelPermissions.replace(OPERATOR, owner, { mode: "allow_list", modelIds });
  if (json === true) console.log(JSON.stringify({ project_id: projectId, models: all === true ? null : modelIds }));
  else console.log(`${name} (${projectId}) may use ${all === true ? "every model" : modelIds.join(", ")}.`);
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

async function budget(
  accounts: Accounts,
  given: string,
  cents: number | undefined,
  { json }: JsonOption,
): Promise<void> {
  const { id: projectId, name, organizationId } = await findProject(accounts, given);
  const owner = { organizationId, projectId, keyId: undefined };
  if (cents === undefined) await accounts.spendLimits.remove(OPERATOR, owner);
  else await accounts.spendLimits.replace(OPERATOR, owner, { thresholdCents: cents, isEnforcing: true });
  const dollars = cents === undefined ? undefined : (cents / 100).toFixed(2);
  if (json === true) console.log(JSON.stringify({ project_id: projectId, dollars_per_month: dollars ?? null }));
  else
    console.log(
      `${name} (${projectId}) may spend ${dollars === undefined ? "any amount" : `${dollars} dollars a month`}.`,
    );
}

function parseCount(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number without a sign.");
}

/** Undefined for `none`. */
function parseCents(text: string): number | undefined {
  if (text === "none") return undefined;
  const [, dollars, cents = ""] = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (dollars === undefined) throw new InvalidArgumentError("It must be an amount such as 5 or 2.50, or `none`.");
  return Number(dollars) * 100 + Number(cents.padEnd(2, "0"));
}
