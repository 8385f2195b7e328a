/** What administrators configure through the API: entries that are laid over the configuration file. */

import type { Path } from "./config-errors.ts";
import { asMapping, listAt } from "./parse-file.ts";

/** Kinds of entries in messages. */
export const KIND_NAMES: Readonly<Record<EntryKind, string>> = {
  connection: "connection",
  setting: "setting",
  mcp_server: "MCP server",
  model: "model",
};

/** In the order in which they are laid over the file: models come after what they use. */
const ENTRY_KINDS = ["connection", "setting", "mcp_server", "model"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Settings that the API can change, by their keys in the file. */
export const LIVE_SETTINGS: readonly string[] = [
  "prices",
  "guardrails",
  "limits.project_model",
  "limits.organization",
  "limits.key",
  "limits.user",
  "webhooks",
];

export interface LayerEntry {
  kind: EntryKind;
  /** ID of a model, name of a connection or MCP server, key of a setting. */
  name: string;
  /** As the file would write it, with its secrets. */
  value: unknown;
  /** Secrets within the value, which no message shows. */
  secrets: readonly string[];
  /** Why the entry cannot be used at all, such as a missing encryption key; undefined: it can. */
  problem?: string | undefined;
}

export interface Layer {
  /** Increases with every change. */
  version: number;
  entries: readonly LayerEntry[];
}

export const NO_LAYER: Layer = { version: 0, entries: [] };

/** What became of an entry. */
export interface EntryStatus {
  kind: EntryKind;
  name: string;
  /** `shadowed`: the file has an entry of this name, which applies. `invalid`: it is kept but not applied. `ignored`: the file allows no changes by the API. */
  status: "in_force" | "shadowed" | "invalid" | "ignored";
  /** Why it is not in force. */
  problem: string | undefined;
}

export interface LayerReport {
  version: number;
  entries: readonly EntryStatus[];
}

/** The file's value with entries laid over it. */
export interface Placed {
  value: unknown;
  /** Where each entry is in `value`; those that the file shadows are missing. */
  paths: ReadonlyMap<LayerEntry, Path>;
}

/** Entries in the order of ENTRY_KINDS. */
export function inOrder<Entry extends { kind: EntryKind }>(entries: readonly Entry[]): Entry[] {
  return [...entries].sort((a, b) => ENTRY_KINDS.indexOf(a.kind) - ENTRY_KINDS.indexOf(b.kind));
}

/** Adds entries to the file's value. What the file sets, an entry never changes. */
export function placeEntries(file: unknown, entries: readonly LayerEntry[]): Placed {
  const paths = new Map<LayerEntry, Path>();
  const root = asMapping(file);
  if (root === undefined || entries.length === 0) return { value: file, paths };
  const value: Record<string, unknown> = { ...root };
  const models = new NamedList(listAt(root, "models"), "id");
  const servers = new NamedList(listAt(root, "mcp_servers"), "name");
  const connections = { ...asMapping(root.connections) };
  const place: Record<EntryKind, (entry: LayerEntry) => Path | undefined> = {
    model: (entry) => models.add("models", entry),
    mcp_server: (entry) => servers.add("mcp_servers", entry),
    connection: ({ name, value: connection }) => {
      if (Object.hasOwn(connections, name)) return undefined;
      connections[name] = connection;
      return ["connections", name];
    },
    setting: ({ name, value: setting }) => (setAt(value, name.split("."), setting) ? name.split(".") : undefined),
  };
  for (const entry of entries) {
    const path = place[entry.kind](entry);
    if (path !== undefined) paths.set(entry, path);
  }
  if (models.entries.length > 0) value.models = models.entries;
  if (servers.entries.length > 0) value.mcp_servers = servers.entries;
  if (Object.keys(connections).length > 0) value.connections = connections;
  return { value, paths };
}

/** A list of the file with entries behind it, whose names the file does not have. */
class NamedList {
  readonly entries: unknown[];
  readonly #fileNames: ReadonlySet<unknown>;

  constructor(file: readonly unknown[], nameField: string) {
    this.entries = [...file];
    this.#fileNames = new Set(file.map((each) => asMapping(each)?.[nameField]));
  }

  /** Undefined when the file has the name. */
  add(section: string, { name, value }: LayerEntry): Path | undefined {
    if (this.#fileNames.has(name)) return undefined;
    return [section, this.entries.push(value) - 1];
  }
}

/** Whether the file itself sets what an entry of this name would. */
export function isInFile(file: unknown, kind: EntryKind, name: string): boolean {
  if (kind === "model") return listAt(file, "models").some((model) => asMapping(model)?.id === name);
  if (kind === "mcp_server") return listAt(file, "mcp_servers").some((server) => asMapping(server)?.name === name);
  if (kind === "connection") return Object.hasOwn(asMapping(asMapping(file)?.connections) ?? {}, name);
  return name.split(".").reduce<unknown>((value, key) => asMapping(value)?.[key], file) !== undefined;
}

/** Sets a key of nested mappings, which it copies; false where the file sets it. */
function setAt(target: Record<string, unknown>, [key = "", ...rest]: readonly string[], value: unknown): boolean {
  if (rest.length === 0) {
    if (target[key] !== undefined) return false;
    target[key] = value;
    return true;
  }
  const inner = { ...asMapping(target[key]) };
  target[key] = inner;
  return setAt(inner, rest, value);
}
