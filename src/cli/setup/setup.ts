/** `parlance setup`: the first minute, from a machine to an answer. */

import { Command } from "commander";
import { loadConfig } from "../../config/load-config.ts";
import { discoverHosts } from "../../features/configuration/connections/discover-hosts.ts";
import { until } from "../../kernel/async/retry.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import { enableAutostart, isAutostarted } from "../autostart.ts";
import { configSources } from "../config-sources.ts";
import { formatBytes } from "../format-bytes.ts";
import { inspectMachine } from "../machine.ts";
import { serve } from "../serve.ts";
import { answeringOrigin, withAdministration } from "../with-administration.ts";
import { applyPlan } from "./apply.ts";
import { makePlan, type Plan, type SetupOptions } from "./plan.ts";
import { askInTerminal } from "./questions.ts";

const DISCOVER_MS = 15_000;
const START_MS = 60_000;

export function setupCommand(): Command {
  return new Command("setup")
    .option("--connect <address>", "add the models of a server or provider with OpenAI's or Anthropic's API")
    .option("--key-from <variable>", "environment variable with its key")
    .option("--local", "only models that run in Parlance itself")
    .option("--owner <email>", "person who signs in to the console with a password and may do everything")
    .option("--password-from <variable>", "environment variable with the person's password")
    .option("--keys-only", "no person: whoever has a key uses the service")
    .option("--at-login", "start the service at each login, by systemd; otherwise it runs in this terminal")
    .option("--yes", "ask nothing: what no option says is --local, --keys-only, and this terminal")
    .addHelpText("after", "\nWhere a service runs already, it is set up further.")
    .action(setup);
}

/** Throws a Fault for what is missing or refused. */
export async function setup(options: SetupOptions): Promise<void> {
  const config = await loadConfig(configSources());
  const { cores, freeBytes, memoryBytes } = await inspectMachine(config.local);
  console.log(`This machine: ${cores} cores, ${formatBytes(freeBytes)} of ${formatBytes(memoryBytes)} memory free.`);
  const plan = await planOf(options);
  const print = (line: string) => console.log(`\n${line}`);
  const apply = (key?: string) => withAdministration({}, (client) => applyPlan(client, plan, { key, print }));
  if (plan.startsAtLogin) await enableAutostart();
  // One that systemd has just started may not answer yet; a second one could not use its data.
  const timeoutMs = (await isAutostarted()) ? START_MS : 0;
  const origin = await until(() => answeringOrigin(config.dataDirectory), { everyMs: 200, timeoutMs });
  if (origin !== undefined) return apply();
  // Lines about the requests of this setup would interrupt it.
  process.env.PARLANCE_LOG_LEVEL ??= "warn";
  process.exitCode = await serve(process.env, async ({ apiKey }) => {
    await apply(apiKey?.reveal());
    print("The service runs in this terminal; Ctrl-C stops it. Start it again with `parlance serve`.");
  });
}

async function planOf(options: SetupOptions): Promise<Plan> {
  if (options.yes === true) return makePlan(options, [], undefined);
  using ask = askInTerminal();
  const guard = new OutgoingGuard({ reach: "private", connectTimeoutMs: 2_000 });
  try {
    const hosts =
      options.connect === undefined && options.local !== true
        ? await discoverHosts({ guard, signal: AbortSignal.timeout(DISCOVER_MS), except: [] })
        : [];
    return await makePlan(options, hosts, ask);
  } finally {
    await guard.close();
  }
}
