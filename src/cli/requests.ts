/** `parlance requests`: single requests with their timing, tokens and cost. */

import { Command, InvalidArgumentError } from "commander";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { RequestDetails, RequestPage } from "../wire/openapi/request-answers.ts";
import { findProject } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { parseSeconds } from "./parse-seconds.ts";
import { readEvents } from "./read-events.ts";
import { addRequestExport } from "./request-export.ts";
import type { ServiceClient } from "./service-client.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

interface RequestOptions extends ServiceOptions {
  follow?: true;
  limit: number;
  project?: string;
  model?: string;
  status?: "succeeded" | "failed";
  since?: number;
  slowerThan?: number;
  costlierThan?: number;
  json?: true;
}

type Entry = AnswerOf<typeof RequestPage>["data"][number];
type Details = AnswerOf<typeof RequestDetails>;

const PATH = "/v1/organization/requests";
const MAX_PAGE = 100;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 10_000;

const HEADER = ["ENDED", "MODEL", "STATUS", "MS", "FIRST MS", "TOKENS IN", "TOKENS OUT", "DOLLARS", "ERROR", "ID"];
/** Widths of the columns of requests that are followed, whose later rows are not known yet. */
const WIDTHS = [20, 28, 6, 7, 8, 9, 10, 9, 24, 0];

export function requestsCommand(): Command {
  const command = addServiceOptions(
    new Command("requests")
      .argument("[id]", "ID of a request (x-request-id), whose stages to show; default: lists the latest requests")
      .option("--follow", "show new requests of the running service as they end, until Ctrl-C")
      .option("--limit <count>", `number of requests to list, at most ${MAX_LIMIT}`, parseLimit, DEFAULT_LIMIT)
      .option("--project <project>", "ID or name of a project")
      .option("--model <model>", "ID of a model")
      .option("--status <status>", "`succeeded` or `failed`", parseStatus)
      .option("--since <time>", "only requests of this time, such as 30m, 2h or 7d", parseSeconds)
      .option("--slower-than <seconds>", "only requests that took longer, such as 2.5", parseNumber)
      .option("--costlier-than <dollars>", "only requests that cost more, such as 0.01", parseNumber)
      .option("--json", "print the requests as JSON, with --follow one per line"),
  ).action((id: string | undefined, options: RequestOptions) =>
    options.follow === true && id === undefined
      ? withService("admin", options, async (client) => follow(client, await toQuery(client, options), options))
      : withAdministration(options, async (client) =>
          id === undefined ? list(client, await toQuery(client, options), options) : showOne(client, id, options),
        ),
  );
  addRequestExport(command);
  return command;
}

async function toQuery(client: ServiceClient, options: RequestOptions): Promise<Record<string, string>> {
  const { project, model, status, since, slowerThan, costlierThan } = options;
  return {
    ...(project !== undefined && { project_ids: (await findProject(client, project)).id }),
    ...(model !== undefined && { models: model }),
    ...(status !== undefined && { status }),
    ...(since !== undefined && { start_time: String(Math.floor(Date.now() / 1000) - since) }),
    ...(slowerThan !== undefined && { min_duration_ms: String(Math.round(slowerThan * 1000)) }),
    ...(costlierThan !== undefined && { min_cost_usd: String(costlierThan) }),
  };
}

async function list(client: ServiceClient, query: Record<string, string>, options: RequestOptions): Promise<void> {
  const entries: Entry[] = [];
  let page: string | null = null;
  do {
    const limit = String(Math.min(MAX_PAGE, options.limit - entries.length));
    const parameters = new URLSearchParams({ ...query, limit, ...(page !== null && { page }) });
    const answer: AnswerOf<typeof RequestPage> = await client.read("GET", `${PATH}?${parameters}`);
    entries.push(...answer.data);
    page = answer.next_page;
  } while (page !== null && entries.length < options.limit);
  // As in a log, the latest one is the last.
  entries.reverse();
  if (options.json === true) console.log(JSON.stringify(entries, undefined, 2));
  else console.log(formatTable(HEADER, entries.map(toRow)));
}

async function follow(client: ServiceClient, query: Record<string, string>, { json }: RequestOptions): Promise<void> {
  await untilInterrupted(async (signal) => {
    const parameters = new URLSearchParams({ ...query, stream: "true" });
    const response = await client.send("GET", `${PATH}?${parameters}`, undefined, signal);
    if (json !== true) console.log(formatFollowed(HEADER));
    for await (const event of readEvents(response))
      console.log(json === true ? JSON.stringify(event) : formatFollowed(toRow(event as Entry)));
  });
}

function formatFollowed(cells: readonly string[]): string {
  // Aligns one row, and removes control characters as in a table.
  const [, row = ""] = formatTable(
    WIDTHS.map((width) => "-".repeat(width)),
    [cells],
  ).split("\n");
  return row;
}

function toRow(entry: Entry): string[] {
  const number = (value: number | null) => (value === null ? "" : String(value));
  return [
    formatTime(Math.floor(entry.ended_at)),
    entry.model ?? entry.operation,
    String(entry.status),
    number(entry.duration_ms),
    number(entry.first_token_ms),
    number(entry.input_tokens),
    number(entry.output_tokens),
    entry.cost_usd === null ? "" : entry.cost_usd.toFixed(6),
    entry.error ?? "",
    entry.id,
  ];
}

async function showOne(client: ServiceClient, id: string, { json }: RequestOptions): Promise<void> {
  const entry = await client.read<Details>("GET", `${PATH}/${encodeURIComponent(id)}`);
  if (json === true) {
    console.log(JSON.stringify(entry, undefined, 2));
    return;
  }
  console.log(formatTable(HEADER, [toRow(entry)]));
  if (entry.error_message !== null) console.log(`\n${entry.error_message}`);
  if (entry.stages.length === 0) return;
  const rows = entry.stages.map((stage) => [
    stage.type,
    stage.deployment,
    String(stage.start_ms),
    String(stage.duration_ms),
    stage.error ?? "",
  ]);
  console.log(`\n${formatTable(["STAGE", "DEPLOYMENT OR TOOL", "BEGAN AFTER MS", "MS", "ERROR"], rows)}`);
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_LIMIT) return Number(text);
  throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_LIMIT}.`);
}

function parseNumber(text: string): number {
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number such as 2.5.");
}

function parseStatus(text: string): string {
  if (text === "succeeded" || text === "failed") return text;
  throw new InvalidArgumentError("It must be `succeeded` or `failed`.");
}
