/** `parlance import`: writes a configuration from that of another program, and takes over its keys. */

import { readFile, writeFile } from "node:fs/promises";
import { Command } from "commander";
import { parse, stringify } from "yaml";
import { Fault } from "../kernel/faults.ts";
import type { Imported, Note } from "./import/imported.ts";
import { importKeys } from "./import/litellm-keys.ts";

interface OutputOptions {
  output?: string;
}

const TIMEOUT_MS = 10_000;

export function importCommand(): Command {
  const command = new Command("import");
  const withOutput = (subcommand: Command) =>
    subcommand.option("-o, --output <file>", "file to write; it must not exist. Default: standard output");
  withOutput(
    command
      .command("litellm")
      .description("Write parlance.yaml from LiteLLM's config.yaml; names what was not carried over")
      .argument("<file>", "LiteLLM's config.yaml"),
  ).action(async (file: string, options: OutputOptions) => {
    const { fromLiteLlm } = await import("./import/litellm-config.ts");
    await write(fromLiteLlm(await readYaml(file)), options);
  });
  withOutput(
    command
      .command("llama-swap")
      .description("Write parlance.yaml from llama-swap's config.yaml")
      .argument("<file>", "llama-swap's config.yaml"),
  ).action(async (file: string, options: OutputOptions) => {
    const { fromLlamaSwap } = await import("./import/llama-swap-config.ts");
    await write(fromLlamaSwap(await readYaml(file)), options);
  });
  withOutput(
    command
      .command("ollama")
      .description("Write parlance.yaml with the models of an Ollama server as upstreams")
      .argument("[url]", "address of the server", "http://127.0.0.1:11434"),
  ).action(async (url: string, options: OutputOptions) => {
    const { fromOllama } = await import("./import/ollama-models.ts");
    await write(fromOllama(url, await readTags(url)), options);
  });
  command
    .command("litellm-keys")
    .description(
      "Take over LiteLLM's virtual keys by their hashes, with their models and budgets, and teams as projects",
    )
    .argument("<file>", "answer of LiteLLM's GET /key/list?return_full_object=true as JSON")
    .action(async (file: string) => {
      const { keys, notes } = await importKeys(await readJson(file));
      report(notes);
      console.log(`${keys} ${keys === 1 ? "key works" : "keys work"} from the next request on.`);
    });
  return command;
}

async function write({ config, notes }: Imported, { output }: OutputOptions): Promise<void> {
  const text = stringify(config, { lineWidth: 0 });
  if (output === undefined) process.stdout.write(text);
  else await create(output, text);
  report(notes);
  if (output !== undefined) console.error(`\nWrote ${output}. Check it with: parlance config check ${output}`);
}

async function create(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    const isThere = error.code === "EEXIST";
    throw new Fault("invalid-request", `Cannot write ${file}: ${isThere ? "it exists already" : error.message}.`);
  });
}

/** Standard error, so that the configuration can be piped. */
function report(notes: readonly Note[]): void {
  if (notes.length === 0) return;
  console.error("Not carried over, or to be checked:");
  for (const { path, reason } of notes) console.error(`  ${path}: ${reason}`);
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Fault("invalid-request", `Cannot read ${file}: ${error.message}.`);
  });
}

async function readYaml(file: string): Promise<unknown> {
  try {
    return parse(await readText(file));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault("invalid-request", `${file} is not valid YAML: ${(error as Error).message.split("\n", 1)[0]}`);
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(file));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault("invalid-request", `${file} is not valid JSON: ${(error as Error).message}`);
  }
}

async function readTags(url: string): Promise<unknown> {
  const address = `${url.replace(/\/+$/, "")}/api/tags`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return await response.json();
  } catch (error) {
    throw new Fault("invalid-request", `Cannot read ${address}: ${(error as Error).message}. Is Ollama running?`);
  }
}
