/** Operations of administrators on the configuration: list, create, replace, remove, compare, restore. */

import { type EntryKind, type EntryStatus, KIND_NAMES, LIVE_SETTINGS } from "../../config/layer.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { ShownEntry } from "../../wire/openai/organization/organization-entries.ts";
import type { Actor } from "../accounts/index.ts";
import { type ConfigurationStore, keyOf, type Stored, type StoredEntry } from "./configuration-store.ts";
import type { ConnectionAddress } from "./connections/test-connection.ts";
import { keepSecrets, type SplitValue, splitSecrets } from "./entry-secrets.ts";
import { fullValue, type LiveConfiguration } from "./live-configuration.ts";

/** What routes use. */
export interface OpenConfiguration {
  live: LiveConfiguration;
  store: ConfigurationStore;
  entries: ConfigurationEntries;
}

/** One entry of the file or of the API, without its secrets. */

export interface ChangeRequest {
  actor: Actor;
  organizationId: string;
  reason: string | undefined;
  /** Version that the entry must have; undefined: any. */
  ifVersion: number | undefined;
}

export interface ShownDifference {
  kind: EntryKind;
  name: string;
  /** Paths that differ. */
  fields: readonly string[];
  before: unknown;
  after: unknown;
}

const MAX_VALUE_CHARACTERS = 256 * 1024;

export class ConfigurationEntries {
  readonly #live: LiveConfiguration;
  readonly #store: ConfigurationStore;

  constructor(live: LiveConfiguration, store: ConfigurationStore) {
    this.#live = live;
    this.#store = store;
  }

  /** Entries of the file, then those of the API. */
  list(kind?: EntryKind): ShownEntry[] {
    const { current, stored } = this.#live;
    const reports = new Map(current.layer.entries.map((report) => [keyOf(report), report]));
    const all = [...fileEntries(current), ...stored.entries.map((entry) => toShown(entry, reports.get(keyOf(entry))))];
    return kind === undefined ? all : all.filter((entry) => entry.kind === kind);
  }

  /** Address and key of a connection in force. Throws a Fault when there is no such connection. */
  connectionAddress(name: string): ConnectionAddress {
    const { connections } = this.#live.current;
    const connection = Object.hasOwn(connections, name) ? connections[name] : undefined;
    if (connection === undefined) throw noEntry("connection", name);
    const headers = Object.entries(connection.headers).map(([key, value]) => [key, value.reveal()]);
    return {
      baseUrl: connection.base_url,
      apiKey: connection.api_key?.reveal(),
      headers: Object.fromEntries(headers),
    };
  }

  /** Returns the configuration with an entry that is not stored. Throws a Fault as creating or replacing it would. */
  preview(kind: EntryKind, name: string, value: unknown): Promise<Settings> {
    checkName(kind, name);
    checkValue(kind, name, value);
    return this.#live.preview(({ entries }) => {
      const before = entries.find((entry) => entry.kind === kind && entry.name === name);
      return [{ kind, name, value: keepSecrets(value, before) }];
    });
  }

  /** Throws a Fault when there is no such entry. */
  find(kind: EntryKind, name: string): ShownEntry {
    const entry = this.list(kind).find((each) => each.name === name);
    if (entry === undefined) throw noEntry(kind, name);
    return entry;
  }

  /** Throws a Fault when the entry exists. */
  async create(request: ChangeRequest, kind: EntryKind, name: string, value: unknown): Promise<ShownEntry> {
    return this.#put(request, kind, name, value, (before) => {
      if (before === undefined) return;
      throw new Fault("conflict", `The ${KIND_NAMES[kind]} \`${name}\` exists. Change it, or choose another name.`, {
        code: "entry_exists",
      });
    });
  }

  /** Throws a Fault when the entry does not exist, except for settings, which every installation has. */
  async replace(request: ChangeRequest, kind: EntryKind, name: string, value: unknown): Promise<ShownEntry> {
    return this.#put(request, kind, name, value, (before) => {
      if (before === undefined && kind !== "setting") throw noEntry(kind, name);
    });
  }

  async remove(request: ChangeRequest, kind: EntryKind, name: string): Promise<void> {
    this.#live.requireUnlocked(kind, name);
    await this.#live.change({ ...request, action: "change" }, ({ entries }) => {
      const before = entries.find((entry) => entry.kind === kind && entry.name === name);
      if (before === undefined) throw noEntry(kind, name);
      requireVersion(request.ifVersion, before.version);
      return [{ kind, name, value: undefined }];
    });
  }

  /** What changed after the version `from` until `to`. */
  async compare(from: number, to: number): Promise<ShownDifference[]> {
    const differences = await this.#store.differences(from, to);
    return differences.flatMap(({ kind, name, before, after }) => {
      const fields = changedPaths(before, after);
      return fields.length === 0 ? [] : [{ kind, name, fields, before: before?.open, after: after?.open }];
    });
  }

  /** Returns to the entries of an earlier version, as a new one. Resolves with the new version. */
  async restore(request: ChangeRequest, version: number): Promise<number> {
    const commit = { ...request, action: "restore" as const };
    const stored = await this.#live.change(commit, async (stored) => {
      requireVersion(request.ifVersion, stored.version);
      const differences = await this.#store.differences(version, stored.version);
      return differences
        .filter(({ before, after }) => changedPaths(before, after).length > 0)
        .map(({ kind, name, position, before }) => {
          return { kind, name, position, value: before === undefined ? undefined : fullValue(before) };
        });
    });
    return stored.version;
  }

  /** Puts and removes many entries as one version. */
  async import(
    request: ChangeRequest,
    entries: readonly { kind: EntryKind; name: string; value: unknown }[],
    replacesAll: boolean,
  ): Promise<number> {
    for (const { kind, name, value } of entries) {
      this.#live.requireUnlocked(kind, name);
      checkName(kind, name);
      checkValue(kind, name, value);
    }
    const stored = await this.#live.change({ ...request, action: "import" }, (stored) => {
      requireVersion(request.ifVersion, stored.version);
      const before = new Map(stored.entries.map((entry) => [keyOf(entry), entry]));
      const changed = entries
        .map((entry) => ({ ...entry, value: keepSecrets(entry.value, before.get(keyOf(entry))) }))
        .filter((entry) => changedPaths(before.get(keyOf(entry)), splitSecrets(entry.value)).length > 0);
      const names = new Set(entries.map(keyOf));
      const removed = stored.entries.filter((entry) => replacesAll && !names.has(keyOf(entry)));
      return [...changed, ...removed.map(({ kind, name }) => ({ kind, name, value: undefined }))];
    });
    return stored.version;
  }

  async #put(
    request: ChangeRequest,
    kind: EntryKind,
    name: string,
    value: unknown,
    check: (before: StoredEntry | undefined) => void,
  ): Promise<ShownEntry> {
    this.#live.requireUnlocked(kind, name);
    checkName(kind, name);
    checkValue(kind, name, value);
    const stored: Stored = await this.#live.change({ ...request, action: "change" }, ({ entries }) => {
      const before = entries.find((entry) => entry.kind === kind && entry.name === name);
      check(before);
      requireVersion(request.ifVersion, before?.version ?? 0);
      const complete = keepSecrets(value, before);
      if (before !== undefined && changedPaths(before, splitSecrets(complete)).length === 0) return [];
      return [{ kind, name, value: complete }];
    });
    const entry = stored.entries.find((each) => each.kind === kind && each.name === name);
    if (entry === undefined) throw noEntry(kind, name);
    return toShown(
      entry,
      this.#live.current.layer.entries.find((each) => keyOf(each) === keyOf(entry)),
    );
  }
}

function toShown(
  { kind, name, open: value, version, updatedAt }: StoredEntry,
  report: EntryStatus | undefined,
): ShownEntry {
  const { status, problem } = report ?? { status: "in_force" as const, problem: undefined };
  return { kind, name, source: "api", status, problem, value, version, updatedAt };
}

/** Entries as the file writes them, so that references to variables stay what they are. */
function fileEntries({ read }: Settings): ShownEntry[] {
  const raw = (read.raw.value ?? {}) as Readonly<Record<string, unknown>>;
  const models = Array.isArray(raw.models) ? (raw.models as { id: string }[]) : [];
  const connections = Object.entries((raw.connections ?? {}) as object);
  const servers = Array.isArray(raw.mcp_servers) ? (raw.mcp_servers as { name: string }[]) : [];
  const show = (kind: EntryKind, name: string, value: unknown): ShownEntry => {
    const shown = splitSecrets(value).open;
    const unchanged = { problem: undefined, version: undefined, updatedAt: undefined };
    return { kind, name, source: "file", status: "in_force", value: shown, ...unchanged };
  };
  return [
    ...models.map((model) => show("model", model.id, model)),
    ...connections.map(([name, value]) => show("connection", name, value)),
    ...servers.map((server) => show("mcp_server", server.name, server)),
    ...LIVE_SETTINGS.flatMap((key) => {
      const value = key.split(".").reduce<unknown>((inner, part) => (inner as Record<string, unknown>)?.[part], raw);
      return value === undefined ? [] : [show("setting", key, value)];
    }),
  ];
}

/** Paths at which two values differ, secrets included. */
function changedPaths(before: SplitValue | undefined, after: SplitValue | undefined): string[] {
  const secrets = new Set([...Object.keys(before?.secrets ?? {}), ...Object.keys(after?.secrets ?? {})]);
  const ofSecrets = [...secrets].filter((path) => before?.secrets[path] !== after?.secrets[path]);
  return [...new Set([...differences(before?.open, after?.open, ""), ...ofSecrets.map(toDots)])].sort();
}

function toDots(path: string): string {
  return path.replaceAll("/", ".");
}

function differences(before: unknown, after: unknown, path: string): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const isMapping = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
  if (!isMapping(before) || !isMapping(after)) return [path];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => differences(before[key], after[key], path === "" ? key : `${path}.${key}`));
}

/** Names that are addresses of the API. */
const RESERVED_NAMES: Partial<Record<EntryKind, readonly string[]>> = {
  connection: ["test", "discover"],
  mcp_server: ["test"],
};

function checkName(kind: EntryKind, name: string): void {
  if (kind === "setting" && !LIVE_SETTINGS.includes(name)) {
    const message = `\`${name}\` cannot be set through the API, only ${LIVE_SETTINGS.join(", ")}. Other settings belong to parlance.yaml.`;
    throw new Fault("not-found", message, { param: "key" });
  }
  if (RESERVED_NAMES[kind]?.includes(name) === true) {
    const message = `Invalid value for 'name': \`${name}\` cannot be the name of a ${KIND_NAMES[kind]}.`;
    throw invalidRequest(message, "name", "invalid_value");
  }
}

/** Keys of values that have the entry's name, as in the file. */
const NAME_KEYS: Partial<Record<EntryKind, string>> = { model: "id", mcp_server: "name" };

function checkValue(kind: EntryKind, name: string, value: unknown): void {
  const key = NAME_KEYS[kind];
  if (key !== undefined && (value as Record<string, unknown> | null)?.[key] !== name) {
    const message = `Invalid value for '${key}': the entry \`${name}\` must have this ${key === "id" ? "ID" : key}.`;
    throw invalidRequest(message, key, "invalid_value");
  }
  const { length } = JSON.stringify(value) ?? "";
  if (length <= MAX_VALUE_CHARACTERS) return;
  throw invalidRequest(`The entry has ${length} characters as JSON; the maximum is ${MAX_VALUE_CHARACTERS}.`);
}

function requireVersion(required: number | undefined, actual: number): void {
  if (required === undefined || required === actual) return;
  const message = `Somebody else has changed it: it is at version ${actual}, not ${required}. Read it again, then repeat the change.`;
  throw new Fault("precondition-failed", message, { code: "version_conflict" });
}

function noEntry(kind: EntryKind, name: string): Fault {
  const message = `There is no ${KIND_NAMES[kind]} \`${name.slice(0, 200)}\` in the configuration.`;
  return new Fault("not-found", message, { code: kind === "model" ? "model_not_found" : undefined });
}
