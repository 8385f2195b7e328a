/** `parlance models`: what is in the model store, and how it gets in and out. */

import { Command } from "commander";
import type { ModelReference } from "../engines/engine.ts";
import { Fault } from "../faults.ts";
import { BUNDLED_MODELS } from "../models/bundled-models.ts";
import type { ModelStore, StoredModel } from "../models/model-store.ts";
import { formatBytes } from "./format-bytes.ts";
import { formatTable } from "./format-table.ts";
import { createProgress } from "./progress.ts";

export interface ModelsCommandParts {
  openStore: () => Promise<ModelStore>;
}

interface ListOptions {
  all?: true;
  verify?: true;
  json?: true;
}

export function modelsCommand({ openStore }: ModelsCommandParts): Command {
  const command = new Command("models");
  command
    .command("list")
    .description("List the models on this machine: size, licence and where each came from")
    .option("--all", "the known models that could be pulled, too, and those that come with Parlance")
    .option("--verify", "read every file again and compare its SHA-256")
    .option("--json", "print them as JSON")
    .action(async (options: ListOptions) => list(await openStore(), options));
  command
    .command("pull")
    .description("Fetch a model and verify it")
    .argument("<model>", "a known model's id, or hf:owner/repo/path/file.gguf, with @revision if need be")
    .action(async (model: string) => pull(await openStore(), model));
  command
    .command("remove")
    .description("Remove a model's files from this machine")
    .argument("<model>", "as models list shows it")
    .action(async (model: string) => {
      await (await openStore()).remove(model);
      console.log(`Removed ${model}.`);
    });
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
    const others = [...missing, ...bundled].map(({ id, task, licence, description }) => ({
      id,
      task,
      licence,
      description,
    }));
    console.log(JSON.stringify([...pulled, ...others], undefined, 2));
  } else if (models.length + missing.length === 0) {
    console.log("No model was pulled yet. `parlance models list --all` shows what there is.");
  } else {
    const rows = [
      ...models.map((model) => [
        model.id,
        model.task ?? "",
        formatBytes(model.bytes),
        model.licence ?? "see the hub",
        model.isIntact ? model.source : "damaged: it will be fetched again",
      ]),
      ...missing.map(({ id, task, licence, description }) => [id, task, "not pulled", licence, description]),
      ...bundled.map(({ id, task, licence, description }) => [id, task, "installed", licence, description]),
    ];
    console.log(formatTable(["ID", "TASK", "SIZE", "LICENCE", "FROM"], rows));
  }
  if (problems.length > 0) throw new Fault("unavailable", `These are not as they were pulled:\n${problems.join("\n")}`);
}

async function verifyAll(store: ModelStore, models: readonly StoredModel[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { id } of models) {
    for (const problem of await store.verify(id, new AbortController().signal)) problems.push(`  ${id}: ${problem}`);
  }
  return problems;
}

const INTERRUPTED_EXIT_CODE = 130;

async function pull(store: ModelStore, model: string): Promise<void> {
  const reference: ModelReference = model.startsWith("hf:") ? { hf: model.slice("hf:".length) } : { model };
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  const progress = createProgress(process.stderr);
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    const onProgress = progress.update.bind(progress);
    const { path } = await store.pull(reference, { signal: interruption.signal, onProgress });
    console.log(path);
  } catch (failure) {
    if (!interruption.signal.aborted) throw failure;
    await store.settled();
    progress.stop();
    console.error("Interrupted. A download from the hub goes on from here when the model is pulled again.");
    process.exitCode = INTERRUPTED_EXIT_CODE;
  } finally {
    progress.stop();
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}
