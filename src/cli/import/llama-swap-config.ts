/** Converts llama-swap's config.yaml, whose models are commands, most of them of llama-server. */

import { asFields, asList, asPositive, asText, compact, type Fields, type Imported, type Note } from "./imported.ts";

/** Options of llama-server that are settings of a deployment. */
const SETTINGS: Readonly<
  Record<
    string,
    "file" | "repository" | "repository_file" | "context_size" | "slots" | "threads" | "gpu_layers" | "projector_file"
  >
> = {
  "-m": "file",
  "--model": "file",
  "-hf": "repository",
  "-hfr": "repository",
  "--hf-repo": "repository",
  "-hff": "repository_file",
  "--hf-file": "repository_file",
  "-c": "context_size",
  "--ctx-size": "context_size",
  "-np": "slots",
  "--parallel": "slots",
  "-t": "threads",
  "--threads": "threads",
  "-ngl": "gpu_layers",
  "--gpu-layers": "gpu_layers",
  "--n-gpu-layers": "gpu_layers",
  "-mm": "projector_file",
  "--mmproj": "projector_file",
};

/** Options that the service sets itself. */
const OWN_OPTIONS = new Set(["--port", "--host", "--alias", "-a", "--api-key"]);

const READ_FIELDS = new Set(["cmd", "ttl", "aliases", "unlisted", "name", "description", "useModelName", "proxy"]);

export function fromLlamaSwap(source: unknown): Imported {
  const fields = asFields(source);
  const notes: Note[] = [];
  const macros = asFields(fields.macros);
  const models = Object.entries(asFields(fields.models)).flatMap(([id, model]) => {
    const converted = toModel(id, asFields(model), macros, notes);
    return converted === undefined ? [] : [converted];
  });
  for (const name of Object.keys(fields)) {
    if (name === "models" || name === "macros" || name === "logLevel") continue;
    const reason =
      name === "groups" || name === "profiles"
        ? "is decided by local.memory here: idle models are unloaded."
        : "has no counterpart.";
    notes.push({ path: name, reason });
  }
  return { config: { builtin_models: false, local: { load: "on_demand" }, models }, notes };
}

function toModel(id: string, model: Fields, macros: Fields, notes: Note[]): Record<string, unknown> | undefined {
  const path = `models.${id}`;
  const note = (field: string, reason: string) => notes.push({ path: `${path}.${field}`, reason });
  for (const name of Object.keys(model)) if (!READ_FIELDS.has(name)) note(name, "has no counterpart.");
  const words = splitWords(expand(asText(model.cmd) ?? "", { ...macros, ...asFields(model.macros) }));
  const [binary = "", ...options] = words;
  if (!/(^|\/)llama-server(\.exe)?$/.test(binary)) {
    note(
      "cmd",
      `starts ${binary || "nothing"}. Start it yourself and add it as engine: openai-compatible; the model was left out.`,
    );
    return undefined;
  }
  const { settings, rest } = readOptions(options, note);
  const { repository, repository_file: repositoryFile, ...settingsOfDeployment } = settings;
  const hf = repository !== undefined && repositoryFile !== undefined ? `${repository}/${repositoryFile}` : undefined;
  if (settingsOfDeployment.file === undefined && hf === undefined) {
    const problem = repository === undefined ? "names no model file" : `names no file of ${repository} (--hf-file)`;
    note("cmd", `${problem}; the model was left out.`);
    return undefined;
  }
  const isEmbedding = rest.some((option) => /^--(embeddings?|reranking|rerank)$/.test(option));
  const unload = { unload_after_seconds: asPositive(model.ttl) };
  const deployment = isEmbedding
    ? // llama-server runs chat models; embedding models run in the service's own engine.
      { engine: "llama-cpp", file: settingsOfDeployment.file, hf, ...unload }
    : { engine: "llama-server", binary: binaryOf(binary), ...settingsOfDeployment, hf, ...unload, options: rest };
  return compact({
    id: id.replace(/[^\x21-\x29\x2b-\x7e]/g, "-"),
    task: isEmbedding ? "embedding" : "chat",
    aliases: asList(model.aliases).map(String),
    hidden: model.unlisted === true ? true : undefined,
    deployments: [compact(deployment)],
  });
}

/** Undefined for the one of the PATH, which is the default. */
function binaryOf(binary: string): string | undefined {
  return binary === "llama-server" ? undefined : binary;
}

function readOptions(options: readonly string[], note: (field: string, reason: string) => void) {
  const settings: Record<string, unknown> = {};
  const rest: string[] = [];
  for (let place = 0; place < options.length; place += 1) {
    const option = options[place] ?? "";
    const [name, inline] = splitOption(option);
    const setting = SETTINGS[name];
    if (setting === undefined && !OWN_OPTIONS.has(name)) {
      rest.push(option);
      continue;
    }
    if (inline === undefined) place += 1;
    if (setting !== undefined) Object.assign(settings, toSetting(setting, inline ?? options[place] ?? ""));
    else if (name === "--api-key") note("cmd", "--api-key is set by the service itself.");
  }
  const slots = asPositive(settings.slots);
  // llama-server divides its context among the slots; here it is that of each.
  if (slots !== undefined && typeof settings.context_size === "number")
    settings.context_size = Math.floor(settings.context_size / slots);
  return { settings, rest };
}

function toSetting(setting: string, value: string): Record<string, unknown> {
  if (setting !== "slots" && !/^(context_size|threads|gpu_layers)$/.test(setting)) return { [setting]: value };
  const number = Number(value);
  return Number.isInteger(number) && number > 0 ? { [setting]: number } : {};
}

function splitOption(option: string): [name: string, value?: string] {
  const place = option.startsWith("--") ? option.indexOf("=") : -1;
  return place === -1 ? [option] : [option.slice(0, place), option.slice(place + 1)];
}

function expand(command: string, macros: Fields): string {
  let text = command;
  // Macros may contain others.
  for (let depth = 0; depth < 5; depth += 1)
    text = text.replace(/\$\{([^}]+)\}/g, (whole, name: string) => asText(macros[name]) ?? whole);
  return text;
}

/** Splits a command as a shell does: quotes, comments and lines that a backslash continues. */
function splitWords(command: string): string[] {
  const lines = command.split("\n").filter((line) => !line.trim().startsWith("#"));
  const words =
    lines
      .join("\n")
      .replace(/\\\n/g, " ")
      .match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+/g) ?? [];
  return words.map((word) => word.replace(/^(["'])([\s\S]*)\1$/, "$2"));
}
