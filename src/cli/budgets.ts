/** `parlance budgets`: bounds of spending by user, key, project, end user and tag. */

import { Command, InvalidArgumentError, Option } from "commander";
import type { Budget as BudgetAnswer, BudgetUsage } from "../wire/openapi/budget-answers.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import { allEntries, findKey, findProject } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { parseDollars } from "./parse-dollars.ts";
import { findUser } from "./people.ts";
import type { ServiceClient } from "./service-client.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

type Budget = AnswerOf<typeof BudgetAnswer>;

interface Options extends ServiceOptions {
  json?: true;
}

interface ChangeOptions extends Options {
  name?: string;
  amount?: number;
  hard?: true;
  soft?: true;
  alert?: number[];
  mail?: string[];
}

interface CreateOptions extends ChangeOptions {
  subject: Budget["subject"]["type"];
  id?: string;
  project?: string;
  interval: string;
  amount: number;
}

const PATH = "/v1/organization/budgets";
const AMOUNT = "US dollars such as 5 or 2.50";

export function budgetsCommand(): Command {
  const command = new Command("budgets");
  addServiceOptions(
    command
      .command("list", { isDefault: true })
      .description("List the budgets, with what is spent")
      .option("--json", "print the budgets as JSON"),
  ).action((options: Options) => withAdministration(options, (client) => list(client, options)));
  addServiceOptions(
    addChanges(
      command
        .command("create")
        .description("Create a budget; without --id, each one has it for itself")
        .addOption(
          new Option("--subject <kind>", "whose spending counts")
            .choices(["organization", "project", "api_key", "user", "end_user", "tag"])
            .makeOptionMandatory(),
        )
        .option("--id <id>", "ID or name of the project or key, ID or address of the user, the end user or the tag")
        .option("--project <project>", "count only spending in this project")
        .addOption(
          new Option("--interval <interval>", "UTC; total does not reset")
            .choices(["day", "week", "month", "total"])
            .default("month"),
        )
        .requiredOption("--amount <dollars>", AMOUNT, parseAmount),
    ),
  ).action((options: CreateOptions) => withAdministration(options, (client) => create(client, options)));
  addServiceOptions(
    addChanges(
      command
        .command("set")
        .description("Change a budget; what was spent so far keeps counting")
        .argument("<budget>", "ID of the budget")
        .option("--amount <dollars>", AMOUNT, parseAmount),
    ),
  ).action((id: string, options: ChangeOptions) =>
    withAdministration(options, async (client) => {
      const budget = await client.read<Budget>("POST", pathOf(id), toChange(options));
      print(options, budget, `Changed ${budget.id}: ${describe(budget)}.`);
    }),
  );
  addServiceOptions(
    command
      .command("usage")
      .description("List the subjects of a budget that have spent most")
      .argument("<budget>", "ID of the budget")
      .option("--json", "print the usage as JSON"),
  ).action((id: string, options: Options) =>
    withAdministration(options, async (client) => {
      const usage = await client.read<AnswerOf<typeof BudgetUsage>>("GET", `${pathOf(id)}/usage?limit=100`);
      const rows = usage.data.map(({ subject_id, spent, percent }) => [
        subject_id,
        `$${spent.value.toFixed(2)}`,
        `${percent} %`,
      ]);
      print(options, usage, formatTable(["SUBJECT", "SPENT", "OF BUDGET"], rows));
    }),
  );
  addServiceOptions(
    command
      .command("delete")
      .description("Delete a budget")
      .argument("<budget>", "ID of the budget")
      .option("--json", "print the result as JSON"),
  ).action((id: string, options: Options) =>
    withAdministration(options, async (client) => {
      await client.send("DELETE", pathOf(id));
      print(options, { id, deleted: true }, `Deleted ${id}.`);
    }),
  );
  return command;
}

function addChanges(command: Command): Command {
  return command
    .option("--name <name>", "name in messages and alerts")
    .addOption(new Option("--hard", "refuse requests that could exceed the budget (default)").conflicts("soft"))
    .option("--soft", "refuse nothing, and alert only")
    .option("--alert <percents>", "percentages at which an alert is sent, such as 50,90", parsePercents)
    .option("--mail <addresses...>", "addresses that get alerts by e-mail")
    .option("--json", "print the budget as JSON");
}

async function list(client: ServiceClient, options: Options): Promise<void> {
  const budgets = await allEntries<Budget>(client, PATH);
  const rows = budgets.map((budget) => {
    const { id, name, subject, project_id, usage } = budget;
    const spent = usage === null ? "" : `$${usage.spent.value.toFixed(2)} (${usage.percent} %)`;
    const resets = usage === null ? "" : formatTime(usage.resets_at, "never");
    const kind = budget.enforcement.status === "enforcing" ? "hard" : "soft";
    const amount = `$${(budget.threshold_amount / 100).toFixed(2)}`;
    return [
      ...[
        id,
        name ?? "",
        subject.type,
        subject.id ?? (subject.type === "organization" ? "" : "each"),
        project_id ?? "",
      ],
      ...[budget.interval, amount, kind, spent, resets],
    ];
  });
  const header = ["ID", "NAME", "SUBJECT", "OF", "PROJECT", "INTERVAL", "AMOUNT", "KIND", "SPENT", "RESETS"];
  print(options, budgets, formatTable(header, rows));
}

async function create(client: ServiceClient, options: CreateOptions): Promise<void> {
  const { subject, id, project, interval } = options;
  const budget = await client.read<Budget>("POST", PATH, {
    ...toChange(options),
    subject: { type: subject, ...(id !== undefined && { id: await findSubject(client, subject, id) }) },
    ...(project !== undefined && { project_id: (await findProject(client, project)).id }),
    interval,
  });
  print(options, budget, `Created ${budget.id}: ${describe(budget)}.`);
}

async function findSubject(client: ServiceClient, subject: CreateOptions["subject"], id: string): Promise<string> {
  if (subject === "project") return (await findProject(client, id)).id;
  if (subject === "api_key") return (await findKey(client, id)).id;
  return subject === "user" ? (await findUser(client, id)).id : id;
}

function toChange({ name, amount, hard, soft, alert, mail }: ChangeOptions) {
  const status = soft === true ? "inactive" : hard === true ? "enforcing" : undefined;
  return {
    ...(name !== undefined && { name }),
    ...(amount !== undefined && { threshold_amount: amount }),
    ...(status !== undefined && { enforcement: { status } }),
    ...(alert !== undefined && { alert_percents: alert }),
    ...(mail !== undefined && { notification_channel: { type: "email", recipients: mail } }),
  };
}

function describe({ subject, interval, threshold_amount, enforcement }: Budget): string {
  const isEach = subject.id === null && subject.type !== "organization";
  const whose = isEach ? `each ${subject.type}` : `${subject.type} ${subject.id ?? ""}`.trim();
  const amount = `$${(threshold_amount / 100).toFixed(2)}`;
  const every = interval === "total" ? "in total" : `a ${interval}`;
  return `${whose} may spend ${amount} ${every}${enforcement.status === "enforcing" ? "" : " before an alert"}`;
}

function print({ json }: Options, value: unknown, text: string): void {
  console.log(json === true ? JSON.stringify(value, undefined, 2) : text);
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

function parseAmount(text: string): number {
  const cents = parseDollars(text);
  if (cents === undefined || cents === 0) throw new InvalidArgumentError("It must be an amount such as 5 or 2.50.");
  return cents;
}

function parsePercents(text: string): number[] {
  const percents = text.split(",").map(Number);
  if (percents.every((each) => Number.isInteger(each) && each > 0)) return percents;
  throw new InvalidArgumentError("It must be percentages between commas, such as 50,90.");
}
