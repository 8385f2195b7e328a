/** Entries of the API as settings of parlance.yaml, and back. */

import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseDocument, stringify } from "yaml";
import type { Config } from "../config/config.ts";
import { ConfigErrors } from "../config/config-errors.ts";
import { type EntryKind, inOrder, isInFile, LIVE_SETTINGS, placeEntries } from "../config/layer.ts";
import { loadConfig } from "../config/load-config.ts";
import { asMapping, listAt } from "../config/parse-file.ts";
import { substituteVariables } from "../config/substitute-variables.ts";
import { ConfigurationStore, toLayerEntries } from "../features/configuration/configuration-store.ts";
import { REDACTED, splitSecrets } from "../features/configuration/entry-secrets.ts";
import { SealedEntries } from "../features/configuration/sealed-entries.ts";
import { openKeyring } from "../kernel/encryption/open-keyring.ts";
import { Fault } from "../kernel/faults.ts";
import { openLog } from "../observability/open-log.ts";
import { openConfiguredDatabase } from "../storage/configured-database.ts";
import { configSources } from "./config-sources.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

export interface ExportOptions {
  output?: string;
  secrets?: true;
}

/** Writes the file with the entries of the API as one file. Without `secrets`, keys of the API become variables. */
export async function exportConfiguration({ output, secrets }: ExportOptions): Promise<void> {
  const config = await loadConfig(configSources());
  const { entries } = await readEntries(config);
  const variables: string[] = [];
  const written = toLayerEntries(entries).map((entry) => {
    // The file reads ${ as a reference to a variable.
    const shown = secrets === true ? entry.value : withVariables(entry.kind, entry.name, entry.value, variables);
    return { ...entry, value: secrets === true ? escapeReferences(shown) : shown };
  });
  const { value } = placeEntries(config.read.raw.value ?? {}, written);
  const { configuration: _mode, ...settings } = asMapping(value) ?? {};
  const head = variables.length === 0 ? "" : `# Set these variables: ${variables.join(", ")}\n`;
  const text = `${head}${stringify(settings)}`;
  if (output === undefined) process.stdout.write(text);
  else await writeFile(resolve(output), text, { mode: 0o600 });
}

/** Sends the models, connections, MCP servers and live settings of a file to the running service, as one version. */
export async function importConfiguration(
  file: string,
  { replace, reason, ...service }: ServiceOptions & { replace?: true; reason?: string },
): Promise<void> {
  const document = parseDocument(await readText(resolve(file)), { merge: true });
  if (document.errors.length > 0) throw new Fault("invalid-request", `${file}: ${document.errors[0]?.message}`);
  const written: unknown = document.toJS() ?? {};
  const errors = new ConfigErrors();
  const { value } = substituteVariables(written, process.env, errors);
  // A variable of an export that is not set stands for a key that the service has.
  const complete = errors.isEmpty ? value : keepStored(written, value);
  const result = await withService("admin", service, async (client) => {
    const locked = await lockedEntries(client.read.bind(client));
    const entries = toEntries(complete).filter(({ kind, name }) => !locked.has(`${kind} ${name}`));
    const query = reason === undefined ? "" : `?reason=${encodeURIComponent(reason)}`;
    const { version } = await client.read<{ version: number }>(
      "POST",
      `/v1/organization/configuration/import${query}`,
      {
        entries,
        replace: replace === true,
      },
    );
    return { version, count: entries.length, locked: [...locked].filter((each) => namesOf(complete).has(each)).length };
  });
  console.log(
    `Version ${result.version} is in force: ${result.count} entries imported${result.locked === 0 ? "" : `, ${result.locked} are set in the service's parlance.yaml and were left out`}.`,
  );
  const others = Object.keys(asMapping(written) ?? {}).filter((key) => !IMPORTED.has(key));
  if (others.length > 0) console.error(`Not imported, because it belongs to parlance.yaml: ${others.join(", ")}.`);
}

const IMPORTED: ReadonlySet<string> = new Set([
  ...["models", "connections", "mcp_servers"],
  ...["prices", "guardrails", "limits", "webhooks"],
]);

interface WrittenEntry {
  kind: EntryKind;
  name: string;
  value: unknown;
}

function toEntries(value: unknown): WrittenEntry[] {
  const models = listAt(value, "models").map((model): WrittenEntry => {
    return { kind: "model", name: String(asMapping(model)?.id), value: model };
  });
  const connections = Object.entries(asMapping(asMapping(value)?.connections) ?? {}).map(
    ([name, each]): WrittenEntry => ({ kind: "connection", name, value: each }),
  );
  const servers = listAt(value, "mcp_servers").map((server): WrittenEntry => {
    return { kind: "mcp_server", name: String(asMapping(server)?.name), value: server };
  });
  const settings = LIVE_SETTINGS.flatMap((key): WrittenEntry[] => {
    const setting = key.split(".").reduce<unknown>((inner, part) => asMapping(inner)?.[part], value);
    return setting === undefined || !isInFile(value, "setting", key)
      ? []
      : [{ kind: "setting", name: key, value: setting }];
  });
  return inOrder([...connections, ...settings, ...servers, ...models]);
}

function namesOf(value: unknown): ReadonlySet<string> {
  return new Set(toEntries(value).map(({ kind, name }) => `${kind} ${name}`));
}

async function lockedEntries(
  read: <Answer>(method: string, path: string) => Promise<Answer>,
): Promise<ReadonlySet<string>> {
  const locked = new Set<string>();
  let after: string | null = null;
  do {
    const page: { data: { kind: string; name: string; source: string }[]; has_more: boolean; last_id: string | null } =
      await read(
        "GET",
        `/v1/organization/configuration/entries?limit=1000${after === null ? "" : `&after=${encodeURIComponent(after)}`}`,
      );
    for (const { kind, name, source } of page.data) if (source === "file") locked.add(`${kind} ${name}`);
    after = page.has_more ? page.last_id : null;
  } while (after !== null);
  return locked;
}

async function readEntries(config: Config) {
  const logger = openLog("warn");
  const database = openConfiguredDatabase(config, logger);
  const file = database.kind === "sqlite" ? join(config.dataDirectory, "encryption.key") : undefined;
  const secrets = config.environment.PARLANCE_ENCRYPTION_KEY;
  try {
    const store = new ConfigurationStore(
      database,
      new SealedEntries(() => openKeyring({ secrets, file, logger, content: "keys" })),
    );
    return await store.read();
  } finally {
    await database.close();
  }
}

/** Replaces secrets by variables named after their place, such as CONNECTION_GPU_API_KEY. */
function withVariables(kind: string, name: string, value: unknown, variables: string[]): unknown {
  const { open, secrets } = splitSecrets(value);
  const names = Object.keys(secrets).map((path) => {
    const variable = `${kind}_${name}_${path}`.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();
    variables.push(variable);
    return [path, variable] as const;
  });
  return mapTexts(open, [], (text, path) => {
    const variable = names.find(([each]) => each === path.join("/"))?.[1];
    return variable === undefined ? text.replaceAll("${", "$$${") : `\${${variable}}`;
  });
}

function escapeReferences(value: unknown): unknown {
  return mapTexts(value, [], (text) => text.replaceAll("${", "$$${"));
}

/** Texts whose variables are not set become `[redacted]`, which keeps what the service has stored. */
function keepStored(written: unknown, value: unknown): unknown {
  return mapTexts(value, [], (text, path) => {
    const source = path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)?.[key], written);
    return source === text && /^\$\{[^}]*\}$/.test(text) ? REDACTED : text;
  });
}

function mapTexts(
  value: unknown,
  path: readonly string[],
  map: (text: string, path: readonly string[]) => string,
): unknown {
  if (typeof value === "string") return map(value, path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, [...path, String(index)], map));
  const mapping = asMapping(value);
  if (mapping === undefined) return value;
  return Object.fromEntries(Object.entries(mapping).map(([key, inner]) => [key, mapTexts(inner, [...path, key], map)]));
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (failure) {
    const code = (failure as NodeJS.ErrnoException).code;
    throw new Fault("invalid-request", `${path} cannot be read (${code}).`, { cause: failure });
  }
}
