/** `parlance webhooks`: endpoints of webhooks, their latest deliveries, tests and retries. */

import { Command, InvalidArgumentError } from "commander";
import { until } from "../kernel/async/retry.ts";
import { Fault } from "../kernel/faults.ts";
import type { Webhook as WebhookAnswer, WebhookDelivery } from "../wire/openai/organization/organization-webhooks.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import type { ServiceClient } from "./service-client.ts";
import { startSpinner } from "./spinner.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

interface Options extends ServiceOptions {
  json?: true;
}

interface DeliveryOptions extends Options {
  endpoint?: string;
  state?: string;
  limit: string;
}

type Webhook = AnswerOf<typeof WebhookAnswer>;
type Delivery = AnswerOf<typeof WebhookDelivery>;

const PATH = "/v1/organization/webhooks";
const STATES = ["delivered", "retrying", "failed"];
const POLL_MS = 250;
const OUTCOME_MS = 20_000;
const MAX_LIMIT = 100;
const FAILURE = 1;

export function webhooksCommand(): Command {
  const command = new Command("webhooks");
  addOptions(
    command.command("list").description("List the endpoints with the outcome of their deliveries"),
    "print the endpoints as JSON",
  ).action((options: Options) => withService("admin", options, (client) => list(client, options)));
  addOptions(
    command
      .command("deliveries")
      .description("List the latest deliveries with the answers of the endpoints")
      .option("--endpoint <url>", "only deliveries to this endpoint")
      .option("--state <state>", STATES.join(", "), parseState)
      .option("--limit <count>", "number of deliveries, at most 100", parseLimit, "20"),
    "print the deliveries as JSON, with their bodies",
  ).action((options: DeliveryOptions) => withService("admin", options, (client) => deliveries(client, options)));
  addOptions(
    command
      .command("test")
      .description("Send a test event and show the answer")
      .argument("<url>", "URL of an endpoint"),
    "print the delivery as JSON",
  ).action((url: string, options: Options) =>
    withService("admin", options, async (client) => {
      const { delivery_id: id } = await client.read<{ delivery_id: string }>("POST", `${PATH}/test`, { url });
      showOutcome(await outcomeOf(client, id, () => true), options);
    }),
  );
  addOptions(
    command
      .command("retry")
      .description("Send a delivery again and show the answer")
      .argument("<delivery>", "ID of the delivery"),
    "print the delivery as JSON",
  ).action((id: string, options: Options) =>
    withService("admin", options, async (client) => {
      const before = await client.read<Delivery>("POST", `${PATH}/deliveries/${encodeURIComponent(id)}/retry`);
      const isLater = (now: Delivery) =>
        now.attempted_at !== before.attempted_at || now.attempts !== before.attempts || now.state !== before.state;
      showOutcome(await outcomeOf(client, id, isLater), options);
    }),
  );
  return command;
}

function addOptions(command: Command, json: string): Command {
  return command
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option("--key <key>", "admin key; default: $PARLANCE_ADMIN_KEY, or a temporary one")
    .option("--json", json);
}

async function list(client: ServiceClient, { json }: Options): Promise<void> {
  const { data } = await client.read<{ data: Webhook[] }>("GET", PATH);
  if (json === true) {
    console.log(JSON.stringify(data, undefined, 2));
    return;
  }
  const rows = data.map(({ url, delivered, retrying, failed, pending, last_attempt_at: last, events }) => [
    url,
    String(delivered),
    String(retrying),
    String(failed),
    String(pending),
    formatTime(last, "never"),
    events.join(","),
  ]);
  console.log(formatTable(["ENDPOINT", "DELIVERED", "RETRYING", "FAILED", "PENDING", "LAST", "EVENTS"], rows));
}

async function deliveries(client: ServiceClient, options: DeliveryOptions): Promise<void> {
  const { endpoint, state, limit, json } = options;
  const query = new URLSearchParams({ limit, ...(endpoint && { url: endpoint }), ...(state && { state }) });
  const { data } = await client.read<{ data: Delivery[] }>("GET", `${PATH}/deliveries?${query}`);
  if (json === true) console.log(JSON.stringify(data, undefined, 2));
  else console.log(formatTable(HEADER, data.map(toRow)));
}

/** Resolves with the delivery once `isOver` and it was attempted. Throws a Fault when that takes too long. */
async function outcomeOf(
  client: ServiceClient,
  id: string,
  isOver: (delivery: Delivery) => boolean,
): Promise<Delivery> {
  using spinner = startSpinner(process.stderr, "Sending");
  const signal = AbortSignal.timeout(OUTCOME_MS);
  const read = async () => {
    const { data } = await client.read<{ data: Delivery[] }>("GET", `${PATH}/deliveries?limit=${MAX_LIMIT}`);
    const delivery = data.find((each) => each.id === id);
    if (delivery !== undefined && isOver(delivery)) return delivery;
    if (!signal.aborted) return false;
    spinner.stop();
    throw new Fault("upstream-timeout", `${id} has had no answer for ${OUTCOME_MS / 1000} s. It is repeated later.`);
  };
  return (await until(read, { everyMs: POLL_MS })) as Delivery;
}

function showOutcome(delivery: Delivery, { json }: Options): void {
  if (json === true) console.log(JSON.stringify(delivery, undefined, 2));
  else console.log(formatTable(HEADER, [toRow(delivery)]));
  if (delivery.state !== "delivered") process.exitCode = FAILURE;
}

const HEADER = ["DELIVERY", "TIME", "EVENT", "STATE", "STATUS", "MS", "ATTEMPTS", "ENDPOINT", "ANSWER"];
const ANSWER_WIDTH = 60;

function toRow(delivery: Delivery): string[] {
  return [
    delivery.id,
    formatTime(delivery.attempted_at),
    delivery.type,
    delivery.state,
    delivery.status === null ? "" : String(delivery.status),
    String(delivery.duration_ms),
    String(delivery.attempts),
    delivery.url,
    delivery.answer.slice(0, ANSWER_WIDTH),
  ];
}

function parseState(text: string): string {
  if (STATES.includes(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${STATES.join(", ")}.`);
}

function parseLimit(text: string): string {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= MAX_LIMIT) return text;
  throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_LIMIT}.`);
}
