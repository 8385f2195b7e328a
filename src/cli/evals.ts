/** `parlance evals`: creates evals, runs them over models and versions of prompts, and compares the runs. */

import { Command, Option } from "commander";
import { until } from "../kernel/async/retry.ts";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import type { EvalComparison, EvalOutputItem, EvalRun as EvalRunAnswer } from "../wire/openai/evals/eval-runs.ts";
import type { Eval as EvalAnswer } from "../wire/openai/evals/evals.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import { allEntries, pick } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import {
  addProjectOptions,
  type ProjectOptions as Options,
  print,
  readInput,
  readJsonFile,
} from "./project-options.ts";
import type { ServiceClient } from "./service-client.ts";
import { startSpinner } from "./spinner.ts";
import { withService } from "./with-service.ts";

type Eval = AnswerOf<typeof EvalAnswer>;
type EvalRun = AnswerOf<typeof EvalRunAnswer>;

interface RunOptions extends Options {
  rows?: string;
  stored?: "completions" | "responses";
  model?: string[];
  prompt?: string[];
  messages?: string;
  template?: string;
  variables?: string;
  failUnder?: number;
}

const EVALS = "/v1/evals";
const OF_EVAL = "ID or name of the eval";
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "canceled"]);
const POLL_MS = 500;
const FAILURE = 1;

export function evalsCommand(): Command {
  const command = new Command("evals");
  addProjectOptions(command.command("list").description("List the evals of the project")).action((options: Options) =>
    withService("project", options, async (client) => {
      const evals = await allEntries<Eval>(client, EVALS);
      const rows = evals.map(({ id, name, testing_criteria: graders, created_at: time }) => [
        ...[id, name, graders.map((grader) => grader.name).join(", "), formatTime(time)],
      ]);
      print(options, evals, formatTable(["ID", "NAME", "GRADERS", "CREATED"], rows));
    }),
  );
  addProjectOptions(
    command
      .command("create")
      .description("Create an eval from a file with its graders")
      .argument("<name>", "name of the eval")
      .argument("<file>", "JSON list of graders, or an object with testing_criteria and data_source_config"),
  ).action((name: string, file: string, options: Options) =>
    withService("project", options, async (client) => {
      const definition = await readJsonFile(file, "graders");
      const body = {
        data_source_config: { type: "custom", item_schema: { type: "object" }, include_sample_schema: true },
        ...(Array.isArray(definition) ? { testing_criteria: definition } : Object(definition)),
        name,
      };
      const created = await client.read<Eval>("POST", EVALS, body);
      print(options, created, `Created ${created.name} (${created.id}).`);
    }),
  );
  addRun(command);
  addProjectOptions(
    command.command("runs").description("Compare the runs of an eval").argument("<eval>", OF_EVAL),
  ).action((evalRef: string, options: Options) =>
    withService("project", options, async (client) => {
      const { id } = await find(client, evalRef);
      const runs = await allEntries<EvalRun>(client, `${EVALS}/${id}/runs`);
      print(options, runs, formatRuns(runs));
    }),
  );
  addProjectOptions(
    command
      .command("results")
      .description("Print the rows of a run with their samples and scores as JSON Lines")
      .argument("<eval>", OF_EVAL)
      .argument("<run>", "ID of the run")
      .addOption(new Option("--status <status>", "only rows with this result").choices(["pass", "fail", "error"])),
  ).action((evalRef: string, run: string, options: Options & { status?: string }) =>
    withService("project", options, async (client) => {
      const { id } = await find(client, evalRef);
      const path = `${EVALS}/${id}/runs/${encodeURIComponent(run)}/output_items`;
      const query: Record<string, string> = options.status === undefined ? {} : { status: options.status };
      const items = await allEntries<AnswerOf<typeof EvalOutputItem>>(client, path, query);
      for (const item of items) console.log(JSON.stringify(item));
    }),
  );
  return command;
}

function addRun(command: Command): void {
  const list = (value: string, former: string[] = []) => [...former, value];
  addProjectOptions(
    command
      .command("run")
      .description("Run an eval with each model and prompt, wait for the end and compare them")
      .argument("<eval>", OF_EVAL)
      .option("--rows <file>", 'JSON Lines such as {"item": {…}}')
      .addOption(
        new Option("--stored <kind>", "rows are stored answers in place of a file").choices([
          "completions",
          "responses",
        ]),
      )
      .option("--model <model>", "model to ask; repeat it to compare several", list)
      .option("--prompt <prompt>", "stored prompt, also with @version or @label; repeat it to compare several", list)
      .option("--variables <json>", 'values of the prompt, in place of a message, such as {"topic": "{{item.topic}}"}')
      .option("--template <text>", 'message of the user, such as "{{item.question}}"')
      .option("--messages <path>", "part of the row with the messages, such as item.messages")
      .option(
        "--fail-under <share>",
        "exit with 1 if a run passes less than this share of its rows, 0 to 1",
        parseShare,
      ),
  ).action((evalRef: string, options: RunOptions) =>
    withService("project", options, async (client) => {
      const { id } = await find(client, evalRef);
      const body = { data_source: await dataSourceOf(options), variants: variantsOf(options) };
      const started = await client.read<AnswerOf<typeof EvalComparison>>("POST", `${EVALS}/${id}/comparisons`, body);
      const runs = await untilEnded(client, id, started.id);
      print(options, runs, formatRuns(runs));
      for (const { name, error } of runs) if (error !== null) console.error(`${name}: ${error.message}`);
      const { failUnder = 0 } = options;
      if (runs.some((run) => run.status !== "completed" || passedShare(run) < failUnder)) process.exitCode = FAILURE;
    }),
  );
}

async function dataSourceOf({ rows, stored, template, messages }: RunOptions): Promise<object> {
  const input = {
    ...(template !== undefined && {
      input_messages: { type: "template", template: [{ role: "user", content: template }] },
    }),
    ...(messages !== undefined && { input_messages: { type: "item_reference", item_reference: messages } }),
  };
  if (stored === "responses") return { type: "responses", source: { type: "responses" }, ...input };
  if (stored === "completions") return { type: "completions", source: { type: "stored_completions" }, ...input };
  if (rows === undefined) throw invalidRequest("Name the rows: a file with --rows, or stored answers with --stored.");
  return { type: "completions", source: { type: "file_content", content: await readLines(rows) }, ...input };
}

async function readLines(file: string): Promise<unknown[]> {
  const lines = (await readInput(file)).toString().split("\n");
  return lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      return [JSON.parse(line)];
    } catch {
      throw invalidRequest(`Line ${index + 1} of ${file} is not JSON.`);
    }
  });
}

/** Without models and prompts, one run grades the answers that the rows have. */
function variantsOf({ model = [], prompt = [], variables }: RunOptions): object[] {
  const values = variables === undefined ? {} : { variables: parseVariables(variables) };
  const prompts = prompt.map((each) => {
    const [, id = each, version] = /^(.+)@([^@]+)$/.exec(each) ?? [];
    const reference = { id, ...(version !== undefined && { version }), ...values };
    // A prompt with variables has what the message says in them.
    return { name: each, prompt: reference, ...(variables !== undefined && { input_messages: null }) };
  });
  const variants = [...model.map((each) => ({ name: each, model: each })), ...prompts];
  return variants.length === 0 ? [{}] : variants;
}

function parseVariables(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest("--variables must be a JSON object.");
  }
}

function parseShare(text: string): number {
  const share = Number(text);
  if (text !== "" && share >= 0 && share <= 1) return share;
  throw invalidRequest("--fail-under must be a number from 0 to 1.");
}

async function find(client: ServiceClient, idOrName: string): Promise<Eval> {
  return pick(await allEntries<Eval>(client, EVALS), idOrName, "eval");
}

async function untilEnded(client: ServiceClient, evalId: string, comparison: string): Promise<EvalRun[]> {
  using spinner = startSpinner(process.stderr, "running");
  const query = { comparison_id: comparison };
  const ended = async () => {
    const runs = await allEntries<EvalRun>(client, `${EVALS}/${evalId}/runs`, query);
    if (runs.length === 0) throw new Fault("not-found", "The runs were deleted.");
    const total = runs.reduce((sum, { result_counts: counts }) => sum + counts.total, 0);
    spinner.show(`${runs.reduce((sum, run) => sum + gradedRows(run), 0)}/${total} rows`);
    return runs.every(({ status }) => ENDED.has(status)) && runs;
  };
  return (await until(ended, { everyMs: POLL_MS })) as EvalRun[];
}

function gradedRows({ result_counts: { passed, failed, errored } }: EvalRun): number {
  return passed + failed + errored;
}

function passedShare(run: EvalRun): number {
  const { passed, total } = run.result_counts;
  return total === 0 ? 0 : passed / total;
}

/** One line per run; a column per grader has its mean score. */
function formatRuns(runs: readonly EvalRun[]): string {
  const graders = runs[0]?.per_testing_criteria_results.map((each) => each.testing_criteria) ?? [];
  const rows = runs.map((run) => {
    const { passed, failed, errored, total } = run.result_counts;
    const scores = run.per_testing_criteria_results.map(({ mean_score: score }) => score?.toFixed(2) ?? "-");
    const { cost_usd: cost, mean_duration_ms: duration } = run.sampling;
    return [
      ...[run.id, run.name, run.status, `${passed}/${total}`, String(failed), String(errored), ...scores],
      ...[cost === null ? "-" : `$${cost.toFixed(6)}`, duration === null ? "-" : `${Math.round(duration)} ms`],
    ];
  });
  const titles = graders.map((name) => name.toUpperCase());
  return formatTable(["ID", "NAME", "STATUS", "PASSED", "FAILED", "ERRORS", ...titles, "COST", "TIME"], rows);
}
