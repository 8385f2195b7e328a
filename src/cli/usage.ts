/** `parlance usage`: a month's usage and cost by project and model. */

import { Command, InvalidArgumentError } from "commander";
import { UsageReports } from "../features/usage/usage-report.ts";
import type { UsageSum } from "../features/usage/usage-report-queries.ts";
import { DAY_SECONDS } from "../kernel/durations.ts";
import { findOrganization, projectNames } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { withAccounts } from "./with-accounts.ts";

interface UsageOptions {
  month?: [from: number, until: number];
  organization?: string;
  json?: true;
}

const MAX_DAYS = 31;

export function usageCommand(): Command {
  return new Command("usage")
    .option("--month <month>", "a month in UTC, such as 2026-11; default: the current month", parseMonth)
    .option("--organization <organization>", "ID or name of the organization; default: the first one")
    .option("--json", "print the totals as JSON")
    .action(printUsage);
}

async function printUsage({ month, organization, json }: UsageOptions): Promise<void> {
  await withAccounts(async (accounts, database) => {
    const { organizationId } =
      organization === undefined
        ? await accounts.defaultScope("admin")
        : { organizationId: (await findOrganization(accounts, organization)).id };
    const [from, until] = month ?? parseMonth(new Date().toISOString().slice(0, 7));
    const { buckets } = await new UsageReports(database).read({
      organizationId,
      operation: undefined,
      from,
      until,
      bucketSeconds: DAY_SECONDS,
      groupBy: ["projectId", "model", "operation"],
      maxBuckets: MAX_DAYS,
    });
    const groups = Map.groupBy(
      buckets.flatMap(({ sums }) => sums),
      ({ projectId, model }) => `${projectId} ${model}`,
    );
    const rows = [...groups.values()].map(total).sort((a, b) => a.project.localeCompare(b.project));
    if (json === true) console.log(JSON.stringify(rows, undefined, 2));
    else console.log(toTable(rows, await projectNames(accounts, organizationId)));
  });
}

function total(sums: readonly UsageSum[]) {
  const add = (of: (sum: UsageSum) => number) => sums.reduce((all, sum) => all + of(sum), 0);
  const isPriced = sums.some(({ costNanoDollars }) => costNanoDollars !== null);
  return {
    project: sums[0]?.projectId ?? "",
    model: sums[0]?.model ?? "",
    requests: add((sum) => sum.requests),
    input_tokens: add((sum) => sum.promptTokens),
    output_tokens: add((sum) => sum.completionTokens),
    characters: add((sum) => sum.characters),
    audio_seconds: add((sum) => sum.audioMilliseconds) / 1000,
    cost_nano_dollars: isPriced ? add((sum) => sum.costNanoDollars ?? 0) : null,
  };
}

function toTable(rows: readonly ReturnType<typeof total>[], names: ReadonlyMap<string, string>): string {
  const header = ["PROJECT", "MODEL", "REQUESTS", "TOKENS IN", "TOKENS OUT", "CHARACTERS", "AUDIO SECONDS", "DOLLARS"];
  const cells = rows.map((row) => [
    names.get(row.project) ?? row.project,
    row.model,
    ...[row.requests, row.input_tokens, row.output_tokens, row.characters].map(String),
    row.audio_seconds.toFixed(1),
    row.cost_nano_dollars === null ? "no price" : (row.cost_nano_dollars / 1e9).toFixed(6),
  ]);
  return formatTable(header, cells);
}

function parseMonth(text: string): [from: number, until: number] {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) throw new InvalidArgumentError("It must be a month such as 2026-11.");
  return [Date.UTC(Number(year), Number(month) - 1), Date.UTC(Number(year), Number(month))];
}
