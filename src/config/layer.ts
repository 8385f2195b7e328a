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
  const models = [...listAt(root, "models")];
  const fileModels = new Set(models.map((model) => asMapping(model)?.id));
  const servers = [...listAt(root, "mcp_servers")];
  const fileServers = new Set(servers.map((server) => asMapping(server)?.name));
  const connections = { ...asMapping(root.connections) };
  const fileConnections = new Set(Object.keys(connections));
  for (const entry of entries) {
    const { kind, name } = entry;
    if (kind === "model" && !fileModels.has(name)) {
      paths.set(entry, ["models", models.length]);
      models.push(entry.value);
    } else if (kind === "mcp_server" && !fileServers.has(name)) {
      paths.set(entry, ["mcp_servers", servers.length]);
      servers.push(entry.value);
    } else if (kind === "connection" && !fileConnections.has(name)) {
      paths.set(entry, ["connections", name]);
      connections[name] = entry.value;
    } else if (kind === "setting") {
      const path = name.split(".");
      if (setAt(value, path, entry.value)) paths.set(entry, path);
    }
  }
  if (models.length > 0) value.models = models;
  if (servers.length > 0) value.mcp_servers = servers;
  if (Object.keys(connections).length > 0) value.connections = connections;
  return { value, paths };
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
