/** Entries of the API and their history in the database. Secrets are encrypted. */

import { inOrder, type LayerEntry } from "../../config/layer.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import { type Actor, checkAuthor, recordAudit } from "../accounts/index.ts";
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
  renewChangeSecrets,
  renewEntrySecrets,
} from "./configuration-queries.ts";
import type {
  ConfigurationChangeRow,
  ConfigurationEntryRow,
  ConfigurationVersionRow,
  EntryName,
} from "./configuration-rows.ts";
import { joinSecrets, type SplitValue } from "./entry-secrets.ts";
import type { SealedEntries } from "./sealed-entries.ts";

/** Versions that can be compared and restored; older ones are deleted. */
const MAX_VERSIONS = 1_000;

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
  readonly #sealed: SealedEntries;

  constructor(database: Database, sealed: SealedEntries) {
    this.#database = database;
    this.#sealed = sealed;
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

  /** Writes a version in one transaction. False: another change came first. Throws a Fault without an encryption key, and if the author lost the key, session or a permission. */
  async commit(stored: Stored, changes: readonly EntryChange[], commit: Commit): Promise<boolean> {
    const version = stored.version + 1;
    const now = Date.now();
    const byName = new Map(stored.entries.map((entry) => [keyOf(entry), entry]));
    const rows = changes.map((change) => {
      const earlier = byName.get(keyOf(change));
      const position = earlier?.position ?? change.position ?? version;
      const { kind, name, value } = change;
      const rest = { kind, name, position, version, updatedAt: now };
      const after = value === undefined ? undefined : { ...rest, ...this.#sealed.seal(change, value) };
      return { change, position, after };
    });
    return this.#database.transaction(async (executor) => {
      if (!(await advanceConfigurationVersion(executor, stored.version))) return false;
      // Below the lock of the version: the change may have waited for others.
      await checkAuthor(executor, commit.actor);
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
      const before = this.#valueOf(first, first.valueBefore, first.secretsBefore);
      return { kind, name, position, before, after: this.#valueOf(last, last.valueAfter, last.secretsAfter) };
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
    for (const row of entries) {
      const secrets = this.#sealed.renewed(row, row.secrets);
      if (secrets === undefined) continue;
      count += 1;
      await this.#database.run((executor) => renewEntrySecrets(executor, row, secrets));
    }
    for (const row of changes) {
      const secretsBefore = this.#sealed.renewed(row, row.secretsBefore);
      const secretsAfter = this.#sealed.renewed(row, row.secretsAfter);
      if (secretsBefore === undefined && secretsAfter === undefined) continue;
      count += 1;
      const secrets = { ...(secretsBefore && { secretsBefore }), ...(secretsAfter && { secretsAfter }) };
      await this.#database.run((executor) => renewChangeSecrets(executor, row, secrets));
    }
    return count;
  }

  #toStored(row: ConfigurationEntryRow): StoredEntry {
    const { kind, name, position, version, updatedAt } = row;
    return { kind, name, position, version, updatedAt, ...this.#sealed.open(row, row) };
  }

  #valueOf(name: EntryName, value: string | null, secrets: Buffer | null): SplitValue | undefined {
    if (value === null) return undefined;
    const { problem: _unreadable, ...split } = this.#sealed.open(name, { value, secrets });
    return split;
  }
}

/** Entries in the form and order in which they are laid over the file. */
export function toLayerEntries(entries: readonly StoredEntry[]): LayerEntry[] {
  return inOrder(entries).map(({ kind, name, open, secrets, problem }) => ({
    ...{ kind, name, problem },
    value: joinSecrets(open, secrets),
    secrets: Object.values(secrets),
  }));
}

export function keyOf({ kind, name }: EntryName): string {
  return `${kind} ${name}`;
}

function noVersion(version: number): Fault {
  const message = `There is no version ${version} of the configuration, or it is no longer kept: the last ${MAX_VERSIONS} are.`;
  return new Fault("not-found", message, { param: "version" });
}
