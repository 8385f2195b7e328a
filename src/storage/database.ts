/** The database that accounts and usage keep their records in: SQLite or, by its URL, PostgreSQL. */

import { setTimeout as pause } from "node:timers/promises";
import { CamelCasePlugin, Kysely, type Transaction } from "kysely";
import { Migrator } from "kysely/migration";
import { Fault, unavailable } from "../faults.ts";
import type { Logger } from "../observability/logger.ts";
import type { Secret } from "../secret.ts";
import { isConnectionError, isDiskFull, isFileReplaced, isRetryableTransaction } from "./errors.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { postgresqlDialect } from "./postgresql.ts";
import type { Schema } from "./schema.ts";
import { sqliteDialect } from "./sqlite.ts";

const RETRY_AFTER_SECONDS = 1;
const MAX_ATTEMPTS = 5;
const RETRY_DELAY_MS = 20;

export interface DatabaseOptions {
  /** PostgreSQL; undefined: SQLite in `file`. */
  url: Secret | undefined;
  /** Absolute path, or `:memory:`. Not used with a URL. */
  file: string;
  logger: Logger;
  /** Whether the first use runs the migrations; default true. False for a read replica. */
  migrates?: boolean;
}

/** The database itself or a transaction on it, as repositories take it. */
export type Executor = Kysely<Schema>;

/** Connects lazily: the first use connects and runs the migrations, and a failed attempt is repeated by the next use. */
export function openDatabase(options: DatabaseOptions): Database {
  const dialect =
    options.url === undefined ? sqliteDialect(options.file) : postgresqlDialect(options.url, options.logger);
  return new Database(
    new Kysely<Schema>({ dialect, plugins: [new CamelCasePlugin()] }),
    options.url === undefined ? "sqlite" : "postgresql",
    options.migrates,
  );
}

export class Database {
  readonly kind: "sqlite" | "postgresql";
  readonly #kysely: Kysely<Schema>;
  #migrated: Promise<void> | undefined;
  #isClosed = false;

  constructor(kysely: Kysely<Schema>, kind: "sqlite" | "postgresql", migrates = true) {
    this.#kysely = kysely;
    this.kind = kind;
    if (!migrates) this.#migrated = Promise.resolve();
  }

  /** Throws a Fault `database_unavailable` when the database cannot be reached. */
  async run<Result>(work: (executor: Executor) => Promise<Result>): Promise<Result> {
    return this.#guard(() => work(this.#kysely));
  }

  /**
   * Runs `work` in one transaction and retries it after a deadlock or serialization failure. Throws a Fault
   * `database_unavailable` when the database cannot be reached.
   */
  async transaction<Result>(work: (transaction: Transaction<Schema>) => Promise<Result>): Promise<Result> {
    return this.#guard(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#kysely.transaction().execute(work);
        } catch (error) {
          if (!isRetryableTransaction(error) || attempt === MAX_ATTEMPTS) throw error;
          // Linear backoff lets the other transaction commit first.
          await pause(attempt * RETRY_DELAY_MS);
        }
      }
    });
  }

  /** Resolves when the database answers and its schema is current. Throws a Fault otherwise. */
  async check(): Promise<void> {
    await this.run((executor) => executor.selectFrom("accountChanges").select("version").execute());
  }

  /** Runs the migrations that the database lacks. Throws a Fault when a newer version has migrated it. */
  async migrate(): Promise<void> {
    await this.#guard(async () => {});
  }

  /** Returns the names of the migrations that the database lacks, oldest first, without running them. */
  async pendingMigrations(): Promise<string[]> {
    try {
      const migrations = await this.#migrator().getMigrations();
      return migrations.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
    } catch (error) {
      throw isConnectionError(error) ? unreachable(error) : error;
    }
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#kysely.destroy();
  }

  async #guard<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      this.#migrated ??= this.#migrate();
      await this.#migrated;
      return await work();
    } catch (error) {
      if (isFileReplaced(error)) this.#migrated = undefined;
      if (error instanceof Fault || !isConnectionError(error)) throw error;
      throw unreachable(error);
    }
  }

  async #migrate(): Promise<void> {
    try {
      const { error } = await this.#migrator().migrateToLatest();
      if (error !== undefined) throw newerFault(error) ?? error;
    } catch (error) {
      this.#migrated = undefined;
      throw error;
    }
  }

  /** Kysely's lock makes replicas that start at the same time migrate one after the other. */
  #migrator(): Migrator {
    const provider = { getMigrations: async () => ({ ...MIGRATIONS }) };
    return new Migrator({ db: this.#kysely.withoutPlugins(), provider });
  }
}

function unreachable(error: unknown): Fault {
  const message = isDiskFull(error)
    ? "The database's disk is full. Free some space, then try again."
    : "The database cannot be reached. Try again in a moment.";
  return unavailable(message, "database_unavailable", RETRY_AFTER_SECONDS, error);
}

/** Recognized by its message: Kysely gives this error no code. */
function newerFault(error: unknown): Fault | undefined {
  const message = error instanceof Error ? error.message : "";
  const [, name] = /^corrupted migrations: previously executed migration (\S+) is missing/.exec(message) ?? [];
  if (name === undefined) return undefined;
  const problem = `A newer Parlance has migrated this database, which this version cannot use (migration \`${name}\`).`;
  return new Fault("conflict", `${problem} Start the newer version, or restore a backup from before the upgrade.`, {
    cause: error,
  });
}
