/** `parlance doctor`: what this machine has, what is missing, and what will run how fast. */

import { styleText } from "node:util";
import { Command } from "commander";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load-config.ts";
import { Fault } from "../kernel/faults.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import { type Recommendation, recommendModels } from "../model-store/recommend-models.ts";
import { openLog } from "../observability/open-log.ts";
import { configSources } from "./config-sources.ts";
import {
  type Check,
  checkDatabase,
  checkDirectories,
  checkGpu,
  checkMachine,
  checkNetwork,
  checkPort,
  checkPrograms,
  checkRedis,
  checkSandbox,
} from "./doctor-checks.ts";
import { inspectMachine, type Machine } from "./machine.ts";
import { readEvents } from "./read-events.ts";
import { formatRecommendations } from "./recommend.ts";
import type { ServiceClient } from "./service-client.ts";
import { findOrigin, withService } from "./with-service.ts";

interface Options {
  measure?: true;
  json?: true;
}

interface Chunk {
  error?: { message: string };
  choices?: unknown[];
  usage?: { completion_tokens: number } | null;
}

const FAILURE = 1;
const MEASURED_TOKENS = 64;

export function doctorCommand(): Command {
  return new Command("doctor")
    .option("--measure", "also measure the speed of the running service's chat models that are on this machine")
    .option("--json", "print the result as JSON")
    .addHelpText("after", "\nExits with 1 when something keeps the service from working.")
    .action(examine);
}

async function examine({ measure, json }: Options): Promise<void> {
  const config = await loadConfig(configSources());
  const machine = await inspectMachine(config.local);
  const checks = await runChecks(config, machine);
  const models = await recommend(config, machine);
  const measured = measure === true ? await measureSpeeds(models) : models;
  if (json === true) console.log(JSON.stringify({ machine, checks, models: measured }, undefined, 2));
  else console.log(`${checks.map(formatCheck).join("\n")}\n\n${formatRecommendations(measured, machine)}`);
  if (checks.some(({ state }) => state === "error")) process.exitCode = FAILURE;
}

async function runChecks(config: Config, machine: Machine): Promise<Check[]> {
  const origin = await findOrigin({});
  const checks = await Promise.all([
    checkMachine(machine),
    checkGpu(machine),
    checkPrograms(config),
    checkSandbox(config),
    checkNetwork(config),
    checkDirectories(config),
    checkDatabase(config),
    checkRedis(config.environment.REDIS_URL),
    checkPort(config, origin),
  ]);
  const warnings = config.warnings.map((detail): Check => ({ name: "Configuration", state: "warning", detail }));
  return [...checks.flat(), ...warnings];
}

async function recommend(config: Config, machine: Machine): Promise<Recommendation[]> {
  const store = createModelStore(config, openLog("silent"));
  const pulled = new Set((await store.list()).map(({ id }) => id));
  return recommendModels(store.manifest, machine, (id) => pulled.has(id));
}

/** Throws a Fault where no service runs. */
async function measureSpeeds(models: readonly Recommendation[]): Promise<Recommendation[]> {
  return withService("project", {}, async (client) => {
    const measured: Recommendation[] = [];
    for (const model of models) {
      const speed =
        model.isPulled && model.fits ? await measureSpeed(client, model.id).catch(reportUnmeasured) : undefined;
      measured.push(speed === undefined ? model : { ...model, tokensPerSecond: speed, isMeasured: true });
    }
    return measured;
  });
}

/** A model that cannot answer now keeps its estimate, and the others are measured. */
function reportUnmeasured(failure: unknown): undefined {
  if (!(failure instanceof Fault)) throw failure;
  console.error(`not measured: ${failure.message}`);
}

/** Tokens per second after the first; undefined for an answer of one token. */
async function measureSpeed(client: ServiceClient, model: string): Promise<number | undefined> {
  const messages = [{ role: "user", content: "Count from one to one hundred in words." }];
  const limits = { max_completion_tokens: MEASURED_TOKENS, temperature: 0 };
  const body = { model, messages, ...limits, stream: true, stream_options: { include_usage: true } };
  const response = await client.send("POST", "/v1/chat/completions", body);
  let firstAt: number | undefined;
  let lastAt = 0;
  let tokens = 0;
  for await (const event of readEvents(response)) {
    const { error, choices, usage } = event as Chunk;
    if (error !== undefined) throw new Fault("upstream-failed", error.message);
    tokens = usage?.completion_tokens ?? tokens;
    if (choices?.length !== 1) continue;
    lastAt = performance.now();
    firstAt ??= lastAt;
  }
  return tokens > 1 && firstAt !== undefined ? ((tokens - 1) * 1000) / (lastAt - firstAt) : undefined;
}

const MARKS = {
  ok: styleText("green", "ok"),
  warning: styleText("yellow", "warning"),
  error: styleText("red", "error"),
};
const MARK_WIDTH = "warning".length;
const NAME_WIDTH = "Data directory".length;

function formatCheck({ name, state, detail }: Check): string {
  return `${MARKS[state]}${" ".repeat(MARK_WIDTH - state.length)}  ${name.padEnd(NAME_WIDTH)}  ${detail}`;
}
