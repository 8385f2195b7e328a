/** `parlance usage`: a month's usage and cost by project and model. */

import { Command, InvalidArgumentError } from "commander";
import { inDollars } from "../kernel/nano-dollars.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { UsageTotals } from "../wire/openapi/usage-answers.ts";
import { allProjects, findOrganization } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

interface UsageOptions extends ServiceOptions {
  month?: [from: number, until: number];
  organization?: string;
  json?: true;
}

type Total = AnswerOf<typeof UsageTotals>["data"][number];

export function usageCommand(): Command {
  return addServiceOptions(
    new Command("usage")
      .option("--month <month>", "a month in UTC, such as 2026-11; default: the current month", parseMonth)
      .option("--organization <organization>", "ID or name of the organization; default: the first one")
      .option("--json", "print the totals as JSON"),
  ).action(printUsage);
}

async function printUsage({ month, organization, json, ...options }: UsageOptions): Promise<void> {
  await withAdministration(options, async (installation) => {
    const client =
      organization === undefined
        ? installation
        : installation.inOrganization((await findOrganization(installation, organization)).id);
    const [from, until] = month ?? parseMonth(new Date().toISOString().slice(0, 7));
    const range = `start_time=${from / 1000}&end_time=${until / 1000}`;
    const { data } = await client.read<AnswerOf<typeof UsageTotals>>("GET", `/v1/organization/usage?${range}`);
    if (json === true) {
      console.log(JSON.stringify(data.map(toJson), undefined, 2));
      return;
    }
    const names = new Map((await allProjects(client)).map(({ id, name }) => [id, name]));
    console.log(toTable(data, names));
  });
}

function toJson({ object: _object, project_id: project, num_model_requests: requests, model, ...amounts }: Total) {
  return { project, model, requests, ...amounts };
}

function toTable(totals: readonly Total[], names: ReadonlyMap<string, string>): string {
  const header = ["PROJECT", "MODEL", "REQUESTS", "TOKENS IN", "TOKENS OUT", "CHARACTERS", "AUDIO SECONDS", "DOLLARS"];
  const cells = totals.map((total) => [
    names.get(total.project_id) ?? total.project_id,
    total.model,
    ...[total.num_model_requests, total.input_tokens, total.output_tokens, total.characters].map(String),
    total.audio_seconds.toFixed(1),
    total.cost_nano_dollars === null ? "no price" : inDollars(total.cost_nano_dollars).toFixed(6),
  ]);
  return formatTable(header, cells);
}

function parseMonth(text: string): [from: number, until: number] {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) throw new InvalidArgumentError("It must be a month such as 2026-11.");
  return [Date.UTC(Number(year), Number(month) - 1), Date.UTC(Number(year), Number(month))];
}
