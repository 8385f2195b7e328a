/** `parlance status`: what the running service does, and what its models take. */

import { Command } from "commander";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { Overview } from "../wire/openapi/usage-answers.ts";
import { formatBytes } from "./format-bytes.ts";
import { formatTable } from "./format-table.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

type Sums = AnswerOf<typeof Overview>;

interface StatusOptions extends ServiceOptions {
  json?: true;
}

interface Readiness {
  version?: string;
  database?: { state: string };
}

const FAILURE = 1;

export function statusCommand(): Command {
  return new Command("status")
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option("--key <key>", "admin key; default: $PARLANCE_ADMIN_KEY, or a temporary one")
    .option("--json", "print the status as JSON")
    .addHelpText("after", "\nExits with 1 when the service is not ready.")
    .action(show);
}

async function show({ json, ...options }: StatusOptions): Promise<void> {
  await withService("admin", options, async (client) => {
    const ready = await fetch(`${client.origin}/health/ready`);
    const { version, database } = (await ready.json()) as Readiness;
    const overview = await client.read<Sums>("GET", "/v1/organization/overview");
    if (!ready.ok) process.exitCode = FAILURE;
    const problems = ready.ok ? [] : problemsOf(database, overview.deployments ?? []);
    if (json === true) {
      const { object: _object, ...sums } = overview;
      console.log(JSON.stringify({ url: client.origin, version, is_ready: ready.ok, problems, ...sums }, undefined, 2));
      return;
    }
    console.log(
      `${client.origin} is ${ready.ok ? "ready" : "not ready"}${version === undefined ? "" : `, version ${version}`}.`,
    );
    for (const problem of problems) console.log(`  ${problem}`);
    console.log(describe(overview));
    if (overview.deployments !== null) console.log(`\n${formatDeployments(overview.deployments)}`);
  });
}

/** States of deployments for which a service is not ready. */
const UNREADY: readonly string[] = ["loading", "restarting", "failed"];

/** Why a service is not ready: its database, or deployments that are not up. */
export function problemsOf(
  database: Readiness["database"],
  deployments: readonly Pick<NonNullable<Sums["deployments"]>[number], "deployment" | "state" | "reason">[],
): string[] {
  return [
    ...(database !== undefined && database.state !== "up" ? [`The database is ${database.state}.`] : []),
    ...deployments
      .filter(({ state }) => UNREADY.includes(state))
      .map(({ deployment, state, reason }) => `${deployment} is ${state}${reason === null ? "." : `: ${reason}`}`),
  ];
}

function describe({ minutes, first_token_ms: { p50, p95 }, spend }: Sums): string {
  const sum = (of: (minute: Sums["minutes"][number]) => number) => minutes.reduce((all, each) => all + of(each), 0);
  const times = p50 === null || p95 === null ? "" : `, first token ${Math.round(p50)} ms (p95 ${Math.round(p95)} ms)`;
  return [
    `Last hour: ${sum(({ requests }) => requests)} requests, ${sum(({ errors }) => errors)} failed${times}`,
    `Tokens:    ${sum((minute) => minute.input_tokens)} in, ${sum((minute) => minute.output_tokens)} out`,
    `Spend:     ${dollars(spend.today_usd, spend.today_unpriced)} today, ${dollars(spend.month_usd, spend.month_unpriced)} this month`,
  ].join("\n");
}

function dollars(amount: number, isUnpriced: boolean): string {
  return isUnpriced ? "no price" : `${amount.toFixed(2)} dollars`;
}

function formatDeployments(deployments: NonNullable<Sums["deployments"]>): string {
  const bytes = (count: number | null) => (count === null || count === 0 ? "" : formatBytes(count));
  const rows = deployments.map((each) => [
    each.deployment,
    each.task,
    each.reason === null ? each.state : `${each.state}: ${each.reason}`,
    each.device ?? "",
    bytes(each.memory_bytes),
    bytes(each.vram_bytes),
    each.slots === null ? String(each.slots_in_use) : `${each.slots_in_use}/${each.slots}`,
    String(each.waiting),
  ]);
  return formatTable(["DEPLOYMENT", "TASK", "STATE", "DEVICE", "MEMORY", "GPU MEMORY", "SLOTS", "WAITING"], rows);
}
