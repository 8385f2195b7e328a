/** The configuration in force: the file, and what administrators configured through the API. */

import { type EntryKind, type EntryStatus, inOrder, isInFile, KIND_NAMES, type Layer } from "../../config/layer.ts";
import { newlyInvalid, type Reloaded } from "../../config/reload-config.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import {
  type Commit,
  type ConfigurationStore,
  type EntryChange,
  keyOf,
  type Stored,
  type StoredEntry,
  toLayerEntries,
} from "./configuration-store.ts";
import { joinSecrets, splitSecrets } from "./entry-secrets.ts";

/** A change reaches the other replicas within this time and that of applying it. */
const POLL_MS = 250;
const MAX_ATTEMPTS = 8;
const MAX_ENTRIES = 10_000;

/** Builds configurations; throws a Fault that lists the errors. */
export interface ConfigurationSources {
  /** Reads the file again. */
  reload: (current: Settings, layer: Layer) => Promise<Reloaded>;
  /** Other entries over the file as it was read last. */
  withLayer: (current: Settings, layer: Layer) => Settings;
}

export interface LiveConfigurationOptions {
  config: Settings;
  sources: ConfigurationSources;
  store: ConfigurationStore;
  /** Throws for a configuration that could not be applied. */
  check: (config: Settings) => Promise<unknown>;
  /** Applies a configuration in this process and its workers. Running requests keep what they began with. */
  apply: (config: Settings) => Promise<void>;
  logger: Logger;
}

/** Computes changes from what is stored. Throws a Fault. */
type Edit = (stored: Stored) => Promise<readonly EntryChange[]> | readonly EntryChange[];

export class LiveConfiguration {
  readonly #options: LiveConfigurationOptions;
  #current: Settings;
  #stored: Stored = { version: 0, entries: [] };
  #isLoaded = false;
  #poll: Poll | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #hasFailed = false;

  constructor(options: LiveConfigurationOptions) {
    this.#options = options;
    this.#current = options.config;
  }

  get current(): Settings {
    return this.#current;
  }

  /** Entries as this process applied them last. */
  get stored(): Stored {
    return this.#stored;
  }

  /** Applies the first configuration. Without a database, it is that of the file until the database answers. */
  async open(): Promise<void> {
    await this.#inTurn(async () => {
      const stored = await this.#read();
      if (stored === undefined) await this.#options.apply(this.#current);
      else await this.#applyStored(stored, true);
    });
    if (!this.#isLoaded || this.#options.store.isShared) this.#startPoll();
  }

  #startPoll(): void {
    this.#poll ??= new Poll(() => this.refresh(), { everyMs: POLL_MS });
  }

  /** Applies what other replicas have changed. */
  refresh(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        if (this.#isLoaded && (await this.#options.store.readVersion()) === this.#stored.version) return;
      } catch {
        // The key cache reports an unavailable database.
        return;
      }
      const stored = await this.#read();
      if (stored !== undefined) await this.#applyStored(stored, !this.#isLoaded);
      if (this.#isLoaded && !this.#options.store.isShared) this.close();
    }).catch((err: unknown) => {
      if (!this.#hasFailed) this.#options.logger.error({ err }, "a change of the configuration could not be applied");
      this.#hasFailed = true;
    });
  }

  /** Reads the file again; an invalid one leaves the old one in force. */
  reloadFile(): Promise<void> {
    const { sources, apply, logger } = this.#options;
    return this.#inTurn(async () => {
      const reloaded = await sources.reload(this.#current, toLayer(this.#stored));
      if (!reloaded.isAccepted) {
        logger.error({ fault: reloaded.fault }, "invalid configuration; the old one stays in force");
        return;
      }
      const { config, needsRestart } = reloaded;
      await apply(config);
      this.#current = config;
      for (const warning of config.warnings) logger.warn(warning);
      if (needsRestart.length > 0) {
        logger.warn({ settings: needsRestart }, "some settings take effect at the next start");
      }
      logger.info({ models: config.models.length }, "configuration reloaded");
    }).catch((err: unknown) => logger.error({ err }, "the new configuration could not be applied"));
  }

  /**
   * Checks, stores and applies changes as one version, and resolves with it. Throws a Fault, after which nothing has
   * changed, for one that is invalid, that names an entry of the file, or that would invalidate another entry.
   */
  change(commit: Commit, edit: Edit): Promise<Stored> {
    return this.#inTurn(async () => {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const stored = await this.#options.store.read();
        const changes = await edit(stored);
        for (const change of changes) this.requireUnlocked(change.kind, change.name);
        // Another replica may have made it a moment ago.
        if (changes.length === 0)
          return stored.version === this.#stored.version ? stored : await this.#applyCommitted();
        const config = this.#check(stored, changes);
        await this.#options.check(config);
        if (!(await this.#options.store.commit(stored, changes, commit))) continue;
        return await this.#applyCommitted();
      }
      throw new Fault("conflict", "The configuration is being changed by others. Try again in a moment.");
    });
  }

  /** Returns the configuration that a change would lead to. Throws a Fault as `change` does; nothing changes. */
  async preview(edit: Edit): Promise<Settings> {
    const stored = await this.#options.store.read();
    const changes = await edit(stored);
    for (const change of changes) this.requireUnlocked(change.kind, change.name);
    const config = this.#check(stored, changes);
    await this.#options.check(config);
    return config;
  }

  /** Throws a Fault for an entry that the file has, and if the file allows no entries at all. */
  requireUnlocked(kind: EntryKind, name: string): void {
    const { read, configuration } = this.#current;
    const code = "configuration_locked";
    if (configuration === "file_only") {
      const message = "parlance.yaml has `configuration: file_only`: change the file and reload it.";
      throw new Fault("conflict", message, { code });
    }
    if (!isInFile(read.raw.value, kind, name)) return;
    const message = `The ${KIND_NAMES[kind]} \`${name}\` is set in parlance.yaml: change the file and reload it.`;
    throw new Fault("conflict", message, { code });
  }

  close(): void {
    this.#poll?.stop();
    this.#poll = undefined;
  }

  /** Applies what is stored. What could not be applied now is applied later, as on other replicas. */
  async #applyCommitted(): Promise<Stored> {
    try {
      const stored = await this.#options.store.read();
      await this.#applyStored(stored, false);
      return stored;
    } catch (failure) {
      this.#isLoaded = false;
      this.#startPoll();
      throw failure;
    }
  }

  /** Throws a Fault for changes that are invalid or invalidate others. */
  #check({ version, entries }: Stored, changes: readonly EntryChange[]): Settings {
    const byName = new Map<string, StoredEntry>(entries.map((entry) => [keyOf(entry), entry]));
    const changed = new Set(changes.map(keyOf));
    const layer = toLayerEntries(entries.filter((entry) => !changed.has(keyOf(entry))));
    const added = changes.flatMap(({ kind, name, value }) => {
      byName.delete(keyOf({ kind, name }));
      const secrets = Object.values(splitSecrets(value).secrets);
      return value === undefined ? [] : [{ kind, name, value, secrets, problem: undefined }];
    });
    if (byName.size + added.length > MAX_ENTRIES) {
      throw invalidRequest(`The configuration can have at most ${MAX_ENTRIES} entries from the API.`);
    }
    const all = inOrder([...layer, ...added]);
    const config = this.#options.sources.withLayer(this.#current, { version: version + 1, entries: all });
    const broken = newlyInvalid(this.#current, config);
    const isChanged = (entry: EntryStatus) => changed.has(keyOf(entry));
    const invalid = config.layer.entries.filter((entry) => entry.status === "invalid" && isChanged(entry));
    const [first] = invalid;
    if (first !== undefined) {
      const lines = invalid.map(({ kind, name, problem }) => `${KIND_NAMES[kind]} \`${name}\`: ${problem}`);
      const param = /^([\w.[\]-]+): /.exec(first.problem ?? "")?.[1];
      throw invalidRequest(`The configuration is not valid. ${lines.join("; ")}.`, param, "invalid_configuration");
    }
    if (broken.length > 0) {
      const lines = broken.map(({ kind, name, problem }) => `${KIND_NAMES[kind]} \`${name}\`: ${problem}`);
      const message = `Other entries need what this change removes. ${lines.join("; ")}.`;
      throw new Fault("conflict", message, { code: "entry_in_use" });
    }
    return config;
  }

  async #read(): Promise<Stored | undefined> {
    try {
      return await this.#options.store.read();
    } catch (error) {
      if (error instanceof Fault && error.kind === "unavailable") return undefined;
      throw error;
    }
  }

  async #applyStored(stored: Stored, isFirst: boolean): Promise<void> {
    const { sources, apply, logger } = this.#options;
    if (stored.entries.length === 0 && this.#stored.entries.length === 0 && !isFirst) {
      this.#stored = stored;
      return;
    }
    const config = sources.withLayer(this.#current, toLayer(stored));
    for (const { kind, name, problem } of newlyInvalid(this.#current, config)) {
      logger.error({ kind, name, problem }, "an entry of the configuration is invalid and not applied");
    }
    await apply(config);
    this.#current = config;
    this.#stored = stored;
    this.#isLoaded = true;
    this.#hasFailed = false;
    if (!isFirst) logger.info({ version: stored.version, models: config.models.length }, "configuration changed");
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}

function toLayer({ version, entries }: Stored): Layer {
  return { version, entries: toLayerEntries(entries) };
}

/** Value of an entry with its secrets. */
export function fullValue({ open, secrets }: Pick<StoredEntry, "open" | "secrets">): unknown {
  return joinSecrets(open, secrets);
}
