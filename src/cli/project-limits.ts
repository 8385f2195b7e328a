/** `parlance projects allow | limit | budget`: the models, rates and spending of a project. */

import { type Command, InvalidArgumentError } from "commander";
import { invalidRequest } from "../kernel/faults.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { RateLimit } from "../wire/openapi/project-policy-answers.ts";
import { findProject, projectPath } from "./find-account.ts";
import { parseDollars } from "./parse-dollars.ts";
import type { ServiceClient } from "./service-client.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

interface Options extends ServiceOptions {
  json?: true;
}

interface AllowOptions extends Options {
  all?: true;
}

interface LimitOptions extends Options {
  requestsPerMinute?: number;
  requestsPerDay?: number;
  tokensPerMinute?: number;
  concurrentRequests?: number;
}

export function addProjectLimits(command: Command): void {
  addServiceOptions(
    command
      .command("allow")
      .description("Let a project use only some models")
      .argument("<project>", "ID or name of the project")
      .argument(
        "[models...]",
        "IDs or aliases of the models, `prefix/*` or `group:NAME`; they replace those that were allowed before",
      )
      .option("--all", "allow every model again")
      .option("--json", "print the permissions as JSON"),
  ).action((project: string, models: string[], options: AllowOptions) => {
    if ((options.all === true) === models.length > 0) throw invalidRequest("Give either models or --all.");
    return withAdministration(options, (client) => allow(client, project, models, options));
  });
  addServiceOptions(
    command
      .command("limit")
      .description("Limit how much a project may use a model")
      .argument("<project>", "ID or name of the project")
      .argument("<model>", "ID or alias of the model")
      .option("--requests-per-minute <count>", "maximum requests per minute", parseCount)
      .option("--requests-per-day <count>", "maximum requests per day", parseCount)
      .option("--tokens-per-minute <count>", "maximum tokens per minute, of prompts and answers", parseCount)
      .option("--concurrent-requests <count>", "maximum requests at the same time", parseCount)
      .option("--json", "print the limits as JSON"),
  ).action((project: string, model: string, options: LimitOptions) => {
    const body = toLimits(options);
    if (Object.keys(body).length === 0)
      throw invalidRequest("Give at least one limit, such as --requests-per-minute 10.");
    return withAdministration(options, (client) => limit(client, project, { model, body, json: options.json }));
  });
  addServiceOptions(
    command
      .command("budget")
      .description("Limit what a project may spend in a month, at the configured prices of models")
      .argument("<project>", "ID or name of the project")
      .argument("<dollars>", "US dollars such as 5 or 2.50, or `none`", parseCents)
      .option("--json", "print the budget as JSON"),
  ).action((project: string, cents: number | undefined, options: Options) =>
    withAdministration(options, (client) => budget(client, project, cents, options)),
  );
}

async function allow(
  client: ServiceClient,
  idOrName: string,
  models: readonly string[],
  { all, json }: AllowOptions,
): Promise<void> {
  const project = await findProject(client, idOrName);
  const path = `${projectPath(project)}/model_permissions`;
  if (all === true) await client.send("DELETE", path);
  const { model_ids: allowed } =
    all === true
      ? { model_ids: null }
      : await client.read<{ model_ids: string[] }>("POST", path, { mode: "allow_list", model_ids: models });
  if (json === true) console.log(JSON.stringify({ project_id: project.id, models: allowed }));
  else console.log(`${project.name} (${project.id}) may use ${allowed === null ? "every model" : allowed.join(", ")}.`);
}

/** Stands in the API for a limit that is not set. */
const NO_LIMIT = 1_000_000_000;

function toLimits(options: LimitOptions) {
  return {
    ...(options.requestsPerMinute !== undefined && { max_requests_per_1_minute: options.requestsPerMinute }),
    ...(options.requestsPerDay !== undefined && { max_requests_per_1_day: options.requestsPerDay }),
    ...(options.tokensPerMinute !== undefined && { max_tokens_per_1_minute: options.tokensPerMinute }),
    ...(options.concurrentRequests !== undefined && { max_concurrent_requests: options.concurrentRequests }),
  };
}

async function limit(
  client: ServiceClient,
  idOrName: string,
  { model, body, json }: { model: string; body: ReturnType<typeof toLimits>; json: true | undefined },
): Promise<void> {
  const project = await findProject(client, idOrName);
  const path = `${projectPath(project)}/rate_limits/${encodeURIComponent(model)}`;
  const limits = await client.read<AnswerOf<typeof RateLimit>>("POST", path, body);
  if (json !== true) {
    console.log(`Limited ${project.name} (${project.id}) on ${limits.model}.`);
    return;
  }
  const orNull = (count: number) => (count === NO_LIMIT ? null : count);
  const shown = {
    project_id: project.id,
    model: limits.model,
    requests_per_minute: orNull(limits.max_requests_per_1_minute),
    requests_per_day: orNull(limits.max_requests_per_1_day),
    tokens_per_minute: orNull(limits.max_tokens_per_1_minute),
    audio_megabytes_per_minute: orNull(limits.max_audio_megabytes_per_1_minute),
    images_per_minute: orNull(limits.max_images_per_1_minute),
    concurrent_requests: orNull(limits.max_concurrent_requests),
  };
  console.log(JSON.stringify(shown, undefined, 2));
}

async function budget(
  client: ServiceClient,
  idOrName: string,
  cents: number | undefined,
  { json }: Options,
): Promise<void> {
  const { id, name } = await findProject(client, idOrName);
  const path = `${projectPath({ id })}/spend_limit`;
  const spendLimit = { currency: "USD", interval: "month", threshold_amount: cents };
  if (cents === undefined) await client.send("DELETE", path);
  else await client.send("POST", path, spendLimit);
  const dollars = cents === undefined ? undefined : (cents / 100).toFixed(2);
  if (json === true) console.log(JSON.stringify({ project_id: id, dollars_per_month: dollars ?? null }));
  else console.log(`${name} (${id}) may spend ${dollars === undefined ? "any amount" : `${dollars} dollars a month`}.`);
}

function parseCount(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number without a sign.");
}

/** Undefined for `none`. */
function parseCents(text: string): number | undefined {
  if (text === "none") return undefined;
  const cents = parseDollars(text);
  if (cents === undefined) throw new InvalidArgumentError("It must be an amount such as 5 or 2.50, or `none`.");
  return cents;
}
