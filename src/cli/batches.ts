/** `parlance batches`: runs files of requests, and shows and cancels batches. */

import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import { Command } from "commander";
import { until } from "../kernel/async/retry.ts";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import type { Batch as BatchAnswer } from "../wire/openai/batches.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import { allEntries } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { readInput } from "./project-options.ts";
import type { ServiceClient } from "./service-client.ts";
import { startSpinner } from "./spinner.ts";
import { keyInEnvironment, type ServiceOptions, withService } from "./with-service.ts";

interface Options extends ServiceOptions {
  json?: true;
}

interface CreateOptions extends Options {
  endpoint?: string;
  wait?: true;
}

type Batch = AnswerOf<typeof BatchAnswer>;

const BATCHES = "/v1/batches";
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "expired", "cancelled"]);
const POLL_MS = 1_000;
const FAILURE = 1;

export function batchesCommand(): Command {
  const command = new Command("batches");
  addKeyOptions(
    command
      .command("list")
      .description("List the batches of the project")
      .option("--json", "print the batches as JSON"),
  ).action((options: Options) => withService("project", options, (client) => list(client, options)));
  addKeyOptions(
    command
      .command("create")
      .description("Run a file of requests")
      .argument("<file>", "JSON Lines with one request each, or `-` for standard input")
      .option("--endpoint <path>", "path of all requests; default: the `url` of the first one")
      .option("--wait", "wait for the end and print the answers")
      .option("--json", "print the batch as JSON"),
  ).action((file: string, options: CreateOptions) => {
    if (options.wait !== true && options.key === undefined && keyInEnvironment("project") === undefined) {
      throw invalidRequest(
        "A batch runs with the key that creates it, and a temporary key ends with this command. Pass --wait or --key, or set PARLANCE_KEY.",
      );
    }
    return withService("project", options, (client) => create(client, file, options));
  });
  addKeyOptions(
    command
      .command("results")
      .description("Print the answers of a batch as JSON Lines, in the order of their ends")
      .argument("<batch>", "ID of the batch")
      .option("--errors", "print the requests that failed instead"),
  ).action((id: string, options: ServiceOptions & { errors?: true }) =>
    withService("project", options, async (client) => printResults(client, await find(client, id), options.errors)),
  );
  addKeyOptions(
    command
      .command("cancel")
      .description("Cancel a batch; what has been answered stays")
      .argument("<batch>", "ID of the batch")
      .option("--json", "print the batch as JSON"),
  ).action((id: string, options: Options) =>
    withService("project", options, async (client) =>
      print(await client.read<Batch>("POST", `${BATCHES}/${encodeURIComponent(id)}/cancel`), options),
    ),
  );
  return command;
}

function addKeyOptions(command: Command): Command {
  return command
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option("--key <key>", "API key of the project; default: $PARLANCE_KEY, or a temporary one of the default project");
}

async function find(client: ServiceClient, id: string): Promise<Batch> {
  return client.read<Batch>("GET", `${BATCHES}/${encodeURIComponent(id)}`);
}

async function list(client: ServiceClient, { json }: Options): Promise<void> {
  const batches = await allEntries<Batch>(client, BATCHES);
  if (json === true) {
    console.log(JSON.stringify(batches, undefined, 2));
    return;
  }
  const rows = batches.map(({ id, status, endpoint, created_at, request_counts: { total, completed, failed } }) => [
    id,
    status,
    `${completed + failed}/${total}`,
    String(failed),
    endpoint,
    formatTime(created_at),
  ]);
  console.log(formatTable(["ID", "STATUS", "DONE", "FAILED", "ENDPOINT", "CREATED"], rows));
}

async function create(client: ServiceClient, file: string, options: CreateOptions): Promise<void> {
  const input = file === "-" ? await buffer(process.stdin) : await readInput(file);
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new File([new Uint8Array(input)], file === "-" ? "input.jsonl" : basename(file)));
  const endpoint = options.endpoint ?? endpointIn(input);
  const { id } = await client.read<{ id: string }>("POST", "/v1/files", form);
  const body = { input_file_id: id, endpoint, completion_window: "24h" };
  const batch = await client.read<Batch>("POST", BATCHES, body);
  if (options.wait !== true) {
    print(batch, options);
    return;
  }
  const ended = await untilEnded(client, batch);
  const { total, completed, failed } = ended.request_counts;
  console.error(`${ended.id} ${ended.status}: ${completed} of ${total} requests succeeded, ${failed} failed.`);
  if (options.json === true) print(ended, options);
  else await printResults(client, ended);
  if (ended.status !== "completed" || failed > 0) process.exitCode = FAILURE;
}

/** Throws a Fault for a first line without a `url`. */
function endpointIn(input: Buffer): string {
  const end = input.indexOf("\n");
  try {
    const { url } = JSON.parse(input.subarray(0, end === -1 ? input.length : end).toString());
    if (typeof url === "string") return url;
  } catch {
    // Reported below.
  }
  throw invalidRequest("The first line is not a request with a `url`. Name the path of the requests with --endpoint.");
}

async function untilEnded(client: ServiceClient, batch: Batch): Promise<Batch> {
  using spinner = startSpinner(process.stderr, batch.id);
  const ended = async () => {
    const latest = await find(client, batch.id);
    const { total, completed, failed } = latest.request_counts;
    spinner.show(`${latest.status} ${completed + failed}/${total}`);
    return ENDED.has(latest.status) && latest;
  };
  return (await until(ended, { everyMs: POLL_MS })) as Batch;
}

async function printResults(client: ServiceClient, batch: Batch, wantsErrors?: true): Promise<void> {
  const id = wantsErrors === true ? batch.error_file_id : batch.output_file_id;
  if (!id) {
    const what = wantsErrors === true ? "failed requests" : "answers";
    throw new Fault("not-found", `The batch \`${batch.id}\` (${batch.status}) has no ${what} yet.`);
  }
  const { body } = await client.send("GET", `/v1/files/${id}/content`);
  for await (const chunk of body ?? []) process.stdout.write(chunk);
}

function print(batch: Batch, { json }: Options): void {
  console.log(json === true ? JSON.stringify(batch, undefined, 2) : `${batch.id} ${batch.status}`);
}
