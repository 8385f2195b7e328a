/** `parlance launch`: starts a client with the settings and the key that it needs for the running service. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { Command } from "commander";
import { DAY_SECONDS } from "../kernel/durations.ts";
import { Fault } from "../kernel/faults.ts";
import { agentModel, readModel, suitsAgents } from "./agent-model.ts";
import { firstChatModel } from "./first-chat-model.ts";
import { LAUNCH_CLIENTS, type LaunchClient, type LaunchTarget } from "./launch-clients.ts";
import type { ServiceClient } from "./service-client.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

interface LaunchOptions extends ServiceOptions {
  model?: string;
  print?: true;
}

/** A client may run for days; its key is revoked when it ends. */
const KEY = { name: "parlance launch", lifetimeSeconds: 30 * DAY_SECONDS };
const SIGNAL_BASE = 128;

export function launchCommand(): Command {
  const clients = Object.entries(LAUNCH_CLIENTS).map(([name, { title }]) => `  ${name.padEnd(12)}${title}`);
  return new Command("launch")
    .argument("<client>", `${Object.keys(LAUNCH_CLIENTS).join(", ")}`)
    .argument("[parameters...]", "parameters of the client, after `--`")
    .option(
      "--model <model>",
      "ID or alias of a chat model; default: the aliases of the client's models, or for coding agents the one with tools and the largest context window",
    )
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option("--key <key>", "API key; default: $PARLANCE_KEY, or one that is revoked when the client ends")
    .option("--print", "print the variables and the command instead of starting the client")
    .addHelpText("after", `\nClients:\n${clients.join("\n")}`)
    .action((name: string, parameters: string[], options: LaunchOptions) => {
      const client = Object.hasOwn(LAUNCH_CLIENTS, name) ? LAUNCH_CLIENTS[name] : undefined;
      if (client === undefined) {
        const names = Object.keys(LAUNCH_CLIENTS).join(", ");
        throw new Fault("not-found", `There is no client \`${name}\`. The clients are ${names}.`);
      }
      const work = async (service: ServiceClient) => {
        const target = await targetOf(service, client, options);
        if (options.print === true)
          console.log(describe(client, parameters, { ...target, key: options.key ?? "YOUR_API_KEY" }));
        else process.exitCode = await run(client, parameters, target);
      };
      return withService("project", options, work, KEY);
    });
}

async function targetOf(
  service: ServiceClient,
  client: LaunchClient,
  { model: requested }: LaunchOptions,
): Promise<LaunchTarget> {
  const { origin, key } = service;
  if (requested === undefined && (await hasOwnModel(service, client))) {
    return { origin, key, model: undefined, contextWindow: undefined };
  }
  const { id, metadata } =
    requested === undefined && client.isAgent
      ? await agentModel(service, client.title)
      : await readModel(service, requested ?? (await firstChatModel(service)));
  if (metadata !== undefined && metadata.task !== "chat") {
    throw new Fault(
      "invalid-request",
      `The model \`${id}\` performs ${metadata.task}. Name a chat model with --model.`,
    );
  }
  return { origin, key, model: id, contextWindow: metadata?.context_window ?? undefined };
}

/** Whether the names that the client asks for by itself stand for a model that suits it. */
async function hasOwnModel(service: ServiceClient, { ownModel }: LaunchClient): Promise<boolean> {
  if (ownModel === undefined) return false;
  return readModel(service, ownModel).then(suitsAgents, () => false);
}

/** Resolves with the exit code of the client. Ctrl-C reaches it, not this command, which ends the key afterwards. */
async function run(client: LaunchClient, parameters: readonly string[], target: LaunchTarget): Promise<number> {
  const { parameters: own, environment } = client.start(target);
  const ignore = () => {};
  const child = spawn(client.program, [...own, ...parameters], {
    stdio: "inherit",
    env: { ...process.env, ...environment },
  });
  const end = () => void child.kill("SIGTERM");
  process.on("SIGINT", ignore).on("SIGTERM", end);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? SIGNAL_BASE + (signal === null ? 0 : constants.signals[signal]);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== "ENOENT") throw failure;
    const message = `${client.title} is not installed: there is no \`${client.program}\` in PATH. Install it: ${client.install}`;
    throw new Fault("not-found", message, { cause: failure });
  } finally {
    process.off("SIGINT", ignore).off("SIGTERM", end);
  }
}

function describe(client: LaunchClient, parameters: readonly string[], target: LaunchTarget): string {
  const { parameters: own, environment } = client.start(target);
  const variables = Object.entries(environment).map(([name, value]) =>
    value === undefined ? `unset ${name}` : `export ${name}=${quote(value)}`,
  );
  return [...variables, [client.program, ...own, ...parameters].map(quote).join(" ")].join("\n");
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
