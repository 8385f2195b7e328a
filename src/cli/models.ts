/** `parlance models`: lists, downloads, loads and removes models. */

import { Command } from "commander";
import { loadConfig } from "../config/load-config.ts";
import { Fault } from "../kernel/faults.ts";
import { BUNDLED_MODELS } from "../model-store/manifest/bundled-models.ts";
import { MeasuredSpeeds } from "../model-store/measured-speeds.ts";
import type { ModelStore, StoredModel } from "../model-store/model-store.ts";
import { recommendModels } from "../model-store/recommend-models.ts";
import { configSources } from "./config-sources.ts";
import { openConfiguredStore } from "./configured-store.ts";
import { formatBytes } from "./format-bytes.ts";
import { formatTable } from "./format-table.ts";
import { inspectMachine } from "./machine.ts";
import { measureSpeed } from "./measure-speed.ts";
import { pullModel, removeModel, SERVICE_COMMANDS } from "./model-routes.ts";
import { formatRecommendations } from "./recommend.ts";

interface ListOptions {
  all?: true;
  verify?: true;
  json?: true;
}

export function modelsCommand(): Command {
  const command = new Command("models");
  command
    .command("list")
    .description("List the models on this machine with size, license and source")
    .option("--all", "include models that can be pulled and models installed with Parlance")
    .option("--verify", "verify the SHA-256 checksum of every file")
    .option("--json", "print the models as JSON")
    .action(async (options: ListOptions) => list(await openConfiguredStore("read"), options));
  command
    .command("pull")
    .description("Download a model and verify its checksums")
    .argument(
      "<model>",
      "ID of a built-in model, hf:owner/repo/path/file.gguf[@revision], or piper:language_COUNTRY-name-quality",
    )
    .option("--url <url>", "URL of the service that downloads it; default: the one that runs with this data directory")
    .option("--key <key>", "admin key; default: $PARLANCE_ADMIN_KEY, or a temporary one")
    .action(pullModel);
  command
    .command("export")
    .description("Write models of this machine to one file, for a machine that cannot download them")
    .argument("<file>", "file to write, such as models.tar")
    .argument("[models...]", "IDs of the models, from `parlance models list`; default: all")
    .action(exportModels);
  command
    .command("import")
    .description("Bring in the models of a file that `parlance models export` wrote, and verify their checksums")
    .argument("<file>", "the file")
    .action(importModels);
  command
    .command("remove")
    .description("Delete a model's files from this machine")
    .argument("<model>", "ID of the model, from `parlance models list`")
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option("--key <key>", "admin key; default: $PARLANCE_ADMIN_KEY, or a temporary one")
    .action(removeModel);
  for (const { name, description, action } of SERVICE_COMMANDS) {
    const added = command.command(name).description(description);
    if (name !== "ps") added.argument("<model>", "ID or alias of the model");
    added
      .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
      .option("--key <key>", "key; default: $PARLANCE_ADMIN_KEY, or a temporary one")
      .option("--json", "print the result as JSON")
      .action(action);
  }
  command
    .command("recommend")
    .description("Show which chat models this machine can run, how fast, and the command that pulls each")
    .option("--json", "print the models as JSON")
    .option("--measure", "measure the installed models again, with a short answer of each")
    .option("--no-measure", "measure nothing: show earlier results, and estimates for the other models")
    .action(printRecommendations);
  return command;
}

async function list(store: ModelStore, { all, verify, json }: ListOptions): Promise<void> {
  const models = await store.list();
  const problems = verify === true ? await verifyAll(store, models) : [];
  const missing = all === true ? store.manifest.filter(({ id }) => !models.some((model) => model.id === id)) : [];
  const bundled = all === true ? BUNDLED_MODELS : [];
  if (json === true) {
    const pulled = models.map(({ isIntact, pulledAt, ...model }) => ({
      ...model,
      pulled_at: pulledAt,
      intact: isIntact,
    }));
    const others = [...missing, ...bundled].map(({ id, task, license, description }) => ({
      id,
      task,
      license,
      description,
    }));
    console.log(JSON.stringify([...pulled, ...others], undefined, 2));
  } else if (models.length + missing.length === 0) {
    console.log("No models have been pulled. Run `parlance models list --all` to see the available models.");
  } else {
    const rows = [
      ...models.map((model) => [
        model.id,
        model.task ?? "",
        formatBytes(model.bytes),
        model.license ?? "see its page",
        model.isIntact ? model.source : "damaged; will be downloaded again",
      ]),
      ...missing.map(({ id, task, license, description }) => [id, task, "not pulled", license, description]),
      ...bundled.map(({ id, task, license, description, requires }) => {
        const isReady = requires === undefined || models.some((model) => model.id === requires);
        return [id, task, isReady ? "installed" : "not pulled", license, description];
      }),
    ];
    console.log(formatTable(["ID", "TASK", "SIZE", "LICENSE", "FROM"], rows));
  }
  if (problems.length > 0)
    throw new Fault("unavailable", `Verification failed:\n${problems.join("\n")}\nPull these models again.`);
}

async function exportModels(file: string, chosen: readonly string[]): Promise<void> {
  const store = await openConfiguredStore("read");
  const stored = (await store.list()).filter(({ isIntact }) => isIntact).map(({ id }) => id);
  const ids = chosen.length > 0 ? chosen : stored;
  if (ids.length === 0)
    throw new Fault("not-found", "No models are stored here. Pull some: `parlance models pull ID`.");
  await store.export(ids, file, new AbortController().signal);
  console.log(`Wrote ${ids.join(", ")} to ${file}. Bring them in with: parlance models import ${file}`);
}

async function importModels(file: string): Promise<void> {
  const ids = await (await openConfiguredStore("write")).import(file, new AbortController().signal);
  console.log(`Brought in ${ids.join(", ")}.`);
}

async function verifyAll(store: ModelStore, models: readonly StoredModel[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { id } of models) {
    for (const problem of await store.verify(id, new AbortController().signal)) problems.push(`  ${id}: ${problem}`);
  }
  return problems;
}

interface RecommendFlags {
  json?: true;
  /** Undefined: models without a result are measured. */
  measure?: boolean;
}

async function printRecommendations({ json, measure }: RecommendFlags): Promise<void> {
  const { local, dataDirectory } = await loadConfig(configSources());
  const store = await openConfiguredStore("read");
  const machine = await inspectMachine(local);
  const pulled = new Set((await store.list()).map(({ id }) => id));
  const recommend = (speeds: ReadonlyMap<string, number>) =>
    recommendModels(store.manifest, machine, (id) => pulled.has(id), { speeds });
  const file = new MeasuredSpeeds(dataDirectory);
  const speeds = measure === true ? new Map<string, number>() : await file.read();
  const unmeasured = recommend(speeds).filter(({ id, isPulled, fits }) => isPulled && fits && !speeds.has(id));
  for (const { id } of measure === false ? [] : unmeasured) {
    console.error(`Measuring ${id}…`);
    const speed = await measureSpeed((await store.findPulled(id))?.path ?? "");
    if (speed === undefined) console.error(`${id} could not be measured: \`parlance doctor\` checks this machine.`);
    else await file.write(speeds.set(id, speed));
  }
  const models = recommend(speeds);
  console.log(
    json === true ? JSON.stringify({ machine, models }, undefined, 2) : formatRecommendations(models, machine),
  );
}
