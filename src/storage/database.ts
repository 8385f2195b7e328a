/** The database that accounts and usage keep their records in: SQLite or, by its URL, PostgreSQL. */

import { CamelCasePlugin, Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { retry } from "../kernel/async/retry.ts";
import { Fault, unavailable } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Secret } from "../kernel/secret.ts";
import { MAX_BUSY_MS } from "./busy-retry-connection.ts";
import {
  isBusy,
  isConnectionError,
  isDiskFull,
  isFileReplaced,
  isRetryableTransaction,
  isUnstorableText,
} from "./errors.ts";
import { assertCompatible, type Migrations, migrate, pendingMigrations } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { postgresqlDialect } from "./postgresql.ts";
import type { Schema } from "./schema.ts";
import { sqliteDialect } from "./sqlite.ts";

const RETRY_AFTER_SECONDS = 1;
const MAX_ATTEMPTS = 5;
/** Lets the other transaction commit first. */
const BACKOFF_MS = { initial: 20, max: 80 };

export interface DatabaseOptions {
  /** PostgreSQL; undefined: SQLite in `file`. */
  url: Secret | undefined;
  /** Absolute path, or `:memory:`. Not used with a URL. */
  file: string;
  logger: Logger;
  /** Whether the first use runs the migrations; default true. False for a read replica. */
  migrates?: boolean;
  /** Default: those of this version. */
  migrations?: Migrations;
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
    options,
  );
}

export class Database {
  readonly kind: "sqlite" | "postgresql";
  /** The database's clock in epoch milliseconds, for times that replicas compare: their clocks differ. */
  readonly now: RawBuilder<number>;
  readonly #kysely: Kysely<Schema>;
  readonly #migrations: Migrations;
  #migrated: Promise<void> | undefined;
  #isClosed = false;

  constructor(
    kysely: Kysely<Schema>,
    kind: "sqlite" | "postgresql",
    { migrates = true, migrations = MIGRATIONS }: Pick<DatabaseOptions, "migrates" | "migrations">,
  ) {
    this.#kysely = kysely;
    this.kind = kind;
    this.now =
      kind === "sqlite"
        ? sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`
        : sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
    this.#migrations = migrations;
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
    const options = { attempts: MAX_ATTEMPTS, backoff: BACKOFF_MS, isRetryable: isRetryableTransaction };
    return this.#guard(() => retry(() => this.#kysely.transaction().execute(work), options));
  }

  /** Resolves when the database answers and its schema is current or compatible. Throws a Fault otherwise. */
  async check(): Promise<void> {
    await this.#guard(() => assertCompatible(this.#tables, this.#migrations));
  }

  /** Runs the migrations that the database lacks. Throws a Fault when a newer version has made it incompatible. */
  async migrate(): Promise<void> {
    await this.#guard(async () => {});
  }

  /** Returns the names of the migrations that the database lacks, oldest first, without running them. */
  async pendingMigrations(): Promise<string[]> {
    try {
      return await pendingMigrations(this.#tables, this.#migrations);
    } catch (error) {
      throw isConnectionError(error) ? unreachable(error) : error;
    }
  }

  /**
   * Moves what SQLite's log still has into the file, so that no earlier version of a row remains. As far as readers let
   * it: the next checkpoint does the rest.
   */
  async emptyLog(): Promise<void> {
    if (this.kind === "sqlite") await this.run((executor) => sql`pragma wal_checkpoint(TRUNCATE)`.execute(executor));
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#kysely.destroy();
  }

  /** Tables and columns by the names that they have in the database. */
  get #tables(): Kysely<unknown> {
    return this.#kysely.withoutPlugins() as unknown as Kysely<unknown>;
  }

  async #guard<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      this.#migrated ??= this.#migrate();
      await this.#migrated;
      return await work();
    } catch (error) {
      if (isFileReplaced(error)) this.#migrated = undefined;
      if (isUnstorableText(error)) throw unstorable(error);
      if (error instanceof Fault || !isConnectionError(error)) throw error;
      throw unreachable(error);
    }
  }

  async #migrate(): Promise<void> {
    try {
      await migrate(this.#tables, this.#migrations);
    } catch (error) {
      this.#migrated = undefined;
      throw error;
    }
  }
}

function unstorable(error: unknown): Fault {
  const message = "The request has a text with a NUL character (U+0000), which the database cannot store. Remove it.";
  return new Fault("invalid-request", message, { code: "invalid_value", cause: error });
}

function unreachable(error: unknown): Fault {
  return unavailable(unreachableMessage(error), "database_unavailable", RETRY_AFTER_SECONDS, error);
}

function unreachableMessage(error: unknown): string {
  if (isDiskFull(error)) return "The database's disk is full. Free some space, then try again.";
  if (isBusy(error)) {
    return `Another process has locked the database for more than ${MAX_BUSY_MS / 1000} s. Try again in a moment.`;
  }
  return "The database cannot be reached. Try again in a moment.";
}
