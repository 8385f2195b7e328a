/** Entries of the API and their history in the database. Secrets are encrypted. */

import type { EntryKind, LayerEntry } from "../../config/layer.ts";
import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import { type Actor, recordAudit } from "../accounts/audit/audit.ts";
import {
  advanceConfigurationVersion,
  deleteConfigurationEntry,
  deleteConfigurationVersions,
  findConfigurationVersion,
  insertConfigurationVersion,
  listConfigurationChanges,
  listConfigurationEntries,
  listConfigurationVersions,
  putConfigurationEntry,
  readConfigurationVersion,
} from "./configuration-queries.ts";
import type { ConfigurationChangeRow, ConfigurationEntryRow, ConfigurationVersionRow } from "./configuration-rows.ts";
import { joinSecrets, type Secrets, type SplitValue, splitSecrets } from "./entry-secrets.ts";

/** Versions that can be compared and restored; older ones are deleted. */
const MAX_VERSIONS = 1_000;

interface EntryName {
  kind: EntryKind;
  name: string;
}

/** One entry as stored. */
export interface StoredEntry extends EntryName, SplitValue {
  position: number;
  version: number;
  updatedAt: number;
  /** Why its secrets cannot be read; undefined: they can. */
  problem: string | undefined;
}

/** New state of an entry; without `value`, it is removed. */
export interface EntryChange extends EntryName {
  /** With its secrets. */
  value: unknown;
  position?: number | undefined;
}

export interface Stored {
  version: number;
  entries: readonly StoredEntry[];
}

export interface Commit {
  actor: Actor;
  organizationId: string;
  action: ConfigurationVersionRow["action"];
  reason: string | undefined;
}

/** An entry before and after some versions; undefined: it did not exist. */
export interface EntryDifference extends EntryName {
  position: number;
  before: SplitValue | undefined;
  after: SplitValue | undefined;
}

export class ConfigurationStore {
  readonly #database: Database;
  readonly #openKeyring: () => Keyring | undefined;
  #keyring: { opened: Keyring | undefined } | undefined;

  /** `openKeyring`: called when the first secret is read or written. */
  constructor(database: Database, openKeyring: () => Keyring | undefined) {
    this.#database = database;
    this.#openKeyring = openKeyring;
  }

  /** Whether other replicas may write the same database. */
  get isShared(): boolean {
    return this.#database.kind === "postgresql";
  }

  readVersion(): Promise<number> {
    return this.#database.run(readConfigurationVersion);
  }

  /** Reads all entries. They may be newer than `version`, which the next read shows. */
  async read(): Promise<Stored> {
    const { version, rows } = await this.#database.run(async (executor) => ({
      version: await readConfigurationVersion(executor),
      rows: await listConfigurationEntries(executor),
    }));
    return { version, entries: rows.map((row) => this.#toStored(row)) };
  }

  /** Writes a version in one transaction. False: another change came first. Throws a Fault without an encryption key. */
  async commit(stored: Stored, changes: readonly EntryChange[], commit: Commit): Promise<boolean> {
    const version = stored.version + 1;
    const now = Date.now();
    const byName = new Map(stored.entries.map((entry) => [keyOf(entry), entry]));
    const rows = changes.map((change) => {
      const earlier = byName.get(keyOf(change));
      const position = earlier?.position ?? change.position ?? version;
      const after = change.value === undefined ? undefined : this.#toRow(change, { position, version, updatedAt: now });
      return { change, position, after };
    });
    return this.#database.transaction(async (executor) => {
      if (!(await advanceConfigurationVersion(executor, stored.version))) return false;
      const before = new Map((await listConfigurationEntries(executor)).map((row) => [keyOf(row), row]));
      for (const { change, after } of rows) {
        if (after === undefined) await deleteConfigurationEntry(executor, change);
        else await putConfigurationEntry(executor, after);
      }
      await insertConfigurationVersion(
        executor,
        {
          version,
          createdAt: now,
          action: commit.action,
          actorKeyId: commit.actor.keyId ?? null,
          actorUserId: commit.actor.userId ?? null,
          reason: commit.reason ?? null,
        },
        rows.map(({ change: { kind, name }, position, after }) => {
          const earlier = before.get(keyOf({ kind, name }));
          return {
            ...{ version, kind, name, position },
            valueBefore: earlier?.value ?? null,
            secretsBefore: earlier?.secrets ?? null,
            valueAfter: after?.value ?? null,
            secretsAfter: after?.secrets ?? null,
          };
        }),
      );
      await deleteConfigurationVersions(executor, version - MAX_VERSIONS + 1);
      await this.#audit(
        executor,
        rows.map(({ change }) => change),
        version,
        commit,
        now,
      );
      return true;
    });
  }

  async #audit(executor: Executor, changes: readonly EntryChange[], version: number, commit: Commit, now: number) {
    const { actor, organizationId, action, reason } = commit;
    const entries = changes
      .slice(0, 100)
      .map(({ kind, name, value }) => ({ kind, name, ...(value === undefined && { removed: true }) }));
    const details = { action, entries, ...(reason !== undefined && { reason }) };
    const event = { type: "configuration.updated", organizationId, resourceId: String(version), details } as const;
    await recordAudit(executor, actor, event, now);
  }

  /** Lists versions, newest first, below `before` if given. */
  versions(request: { before: number | undefined; limit: number }): Promise<ConfigurationVersionRow[]> {
    return this.#database.run((executor) => listConfigurationVersions(executor, request));
  }

  /** Returns what changed after one version until another one. Throws a Fault for a version that is not kept. */
  async differences(after: number, until: number): Promise<EntryDifference[]> {
    const rows = await this.#database.run(async (executor) => {
      const current = await readConfigurationVersion(executor);
      for (const version of [after, until]) {
        const exists = version === current || version === 0 || (await findConfigurationVersion(executor, version));
        if (!exists || version > current) throw noVersion(version);
      }
      // Without the first of the versions between, what was before them is unknown.
      if (after < until && !(await findConfigurationVersion(executor, after + 1))) throw noVersion(after);
      return listConfigurationChanges(executor, { after, until });
    });
    const firsts = new Map<string, ConfigurationChangeRow>();
    const lasts = new Map<string, ConfigurationChangeRow>();
    for (const row of rows) {
      if (!firsts.has(keyOf(row))) firsts.set(keyOf(row), row);
      lasts.set(keyOf(row), row);
    }
    return [...firsts].map(([key, first]) => {
      const last = lasts.get(key) ?? first;
      const { kind, name, position } = first;
      const before = this.#open(first, first.valueBefore, first.secretsBefore);
      return { kind, name, position, before, after: this.#open(last, last.valueAfter, last.secretsAfter) };
    });
  }

  /** Encrypts secrets with the current key that were encrypted with a former one. Resolves with their number. */
  async reencrypt(): Promise<number> {
    const { entries, changes } = await this.#database.run(async (executor) => {
      const until = await readConfigurationVersion(executor);
      return {
        entries: await listConfigurationEntries(executor),
        changes: await listConfigurationChanges(executor, { after: 0, until }),
      };
    });
    let count = 0;
    const renewed = (name: EntryName, sealed: Buffer | null): Buffer | undefined => {
      if (sealed === null) return undefined;
      const keyring = this.#opened;
      if (keyring === undefined || keyring.isCurrent(sealed)) return undefined;
      try {
        return keyring.encrypt(keyring.decrypt(sealed, placeOf(name)), placeOf(name));
      } catch (error) {
        if (error instanceof DecryptionError) return undefined;
        throw error;
      }
    };
    for (const row of entries) {
      const secrets = renewed(row, row.secrets);
      if (secrets === undefined) continue;
      count += 1;
      await this.#database.run((executor) =>
        executor
          .updateTable("configurationEntries")
          .set({ secrets })
          .where("kind", "=", row.kind)
          .where("name", "=", row.name)
          // A change that came in between has other secrets.
          .where("secrets", "=", row.secrets)
          .execute(),
      );
    }
    for (const row of changes) {
      const secretsBefore = renewed(row, row.secretsBefore);
      const secretsAfter = renewed(row, row.secretsAfter);
      if (secretsBefore === undefined && secretsAfter === undefined) continue;
      count += 1;
      await this.#database.run((executor) =>
        executor
          .updateTable("configurationChanges")
          .set({ ...(secretsBefore && { secretsBefore }), ...(secretsAfter && { secretsAfter }) })
          .where("version", "=", row.version)
          .where("kind", "=", row.kind)
          .where("name", "=", row.name)
          .execute(),
      );
    }
    return count;
  }

  get #opened(): Keyring | undefined {
    this.#keyring ??= { opened: this.#openKeyring() };
    return this.#keyring.opened;
  }

  #toStored(row: ConfigurationEntryRow): StoredEntry {
    const { kind, name, position, version, updatedAt } = row;
    const stored = { kind, name, position, version, updatedAt };
    try {
      const { open, secrets } = this.#decrypted(row, row.value, row.secrets);
      return { ...stored, open, secrets, problem: undefined };
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      const problem = "its secrets cannot be decrypted with PARLANCE_ENCRYPTION_KEY or the key file";
      return { ...stored, open: JSON.parse(row.value), secrets: {}, problem };
    }
  }

  #open(name: EntryName, value: string | null, secrets: Buffer | null): SplitValue | undefined {
    if (value === null) return undefined;
    try {
      return this.#decrypted(name, value, secrets);
    } catch (error) {
      if (error instanceof DecryptionError) return { open: JSON.parse(value), secrets: {} };
      throw error;
    }
  }

  #decrypted(name: EntryName, value: string, sealed: Buffer | null): SplitValue {
    const open: unknown = JSON.parse(value);
    if (sealed === null) return { open, secrets: {} };
    const keyring = this.#opened;
    if (keyring === undefined) throw new DecryptionError(`${placeOf(name)}: no key is set`);
    return { open, secrets: JSON.parse(keyring.decrypt(sealed, placeOf(name))) as Secrets };
  }

  #toRow(
    { kind, name, value }: EntryChange,
    rest: Pick<ConfigurationEntryRow, "position" | "version" | "updatedAt">,
  ): ConfigurationEntryRow {
    const { open, secrets } = splitSecrets(value);
    return { kind, name, value: JSON.stringify(open), secrets: this.#seal({ kind, name }, secrets), ...rest };
  }

  #seal(name: EntryName, secrets: Secrets): Buffer | null {
    if (Object.keys(secrets).length === 0) return null;
    const keyring = this.#opened;
    if (keyring === undefined) {
      const message =
        "Keys of upstreams are stored encrypted, and this service has no key for it. Set PARLANCE_ENCRYPTION_KEY and restart.";
      throw new Fault("conflict", message, { code: "no_encryption_key" });
    }
    return keyring.encrypt(JSON.stringify(secrets), placeOf(name));
  }
}

/** Entries in the form in which they are laid over the file: connections and settings before the models that use them. */
export function toLayerEntries(entries: readonly StoredEntry[]): LayerEntry[] {
  const order = { connection: 0, setting: 1, model: 2 };
  return [...entries]
    .sort((a, b) => order[a.kind] - order[b.kind])
    .map(({ kind, name, open, secrets, problem }) => ({
      ...{ kind, name, problem },
      value: joinSecrets(open, secrets),
      secrets: Object.values(secrets),
    }));
}

export function keyOf({ kind, name }: EntryName): string {
  return `${kind} ${name}`;
}

function placeOf({ kind, name }: EntryName): string {
  return `configuration ${kind} ${name}`;
}

function noVersion(version: number): Fault {
  const message = `There is no version ${version} of the configuration, or it is no longer kept: the last ${MAX_VERSIONS} are.`;
  return new Fault("not-found", message, { param: "version" });
}
