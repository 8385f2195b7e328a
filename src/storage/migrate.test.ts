/** Which versions work on a schema that a newer one has migrated. */

import type { Kysely } from "kysely";
import { sql } from "kysely";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../test/support/databases/databases.ts";
import { insertOrganization, listOrganizations } from "../features/accounts/organizations/organization-queries.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./database.ts";
import type { Migrations } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";

const databases = useDatabases();
const opened: Database[] = [];

/** The following version adds a column, the one after it removes a table and works with nothing older than the first. */
const NEXT: Migrations = {
  ...MIGRATIONS,
  "9000-expand": {
    up: async (db: Kysely<unknown>) => {
      await db.schema.alterTable("organizations").addColumn("note", "text").execute();
    },
  },
};
const AFTER_NEXT: Migrations = {
  ...NEXT,
  "9001-contract": {
    oldestCompatible: "9000-expand",
    up: async (db: Kysely<unknown>) => {
      await db.schema.dropTable("model_sightings").execute();
    },
  },
};

function open(options: DatabaseOptions, migrations?: Migrations): Database {
  const database = openDatabase({ ...options, migrations });
  opened.push(database);
  return database;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
});

const organization = { id: "a", name: "A", isDefault: 0, createdAt: 1, archivedAt: null };

test("lets requests pass while a migration waits for the lock of a table", async () => {
  const options = await databases.create("postgresql");
  const running = open(options);
  await running.check();
  const held = Promise.withResolvers<void>();
  onTestFinished(() => held.resolve());
  const hasLock = Promise.withResolvers<void>();
  // As pg_dump, it reads in one long transaction.
  const reading = open(options).transaction(async (transaction) => {
    await transaction.selectFrom("organizations").selectAll().execute();
    hasLock.resolve();
    await held.promise;
  });
  await hasLock.promise;
  const migrating = open(options, NEXT).migrate();
  const waiting = sql`select 1 from pg_locks where granted = false and relation = 'organizations'::regclass`;
  await expect
    .poll(() => running.run(async (executor) => (await waiting.execute(executor)).rows.length))
    .toBeGreaterThan(0);
  // Behind the waiting migration, which gives up for it.
  await running.run((executor) => insertOrganization(executor, organization));
  expect(await open(options, NEXT).pendingMigrations()).toEqual(["9000-expand"]);
  held.resolve();
  await reading;
  await migrating;
  expect(await open(options, NEXT).pendingMigrations()).toEqual([]);
});

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("a running and a starting process use a schema that a newer version has expanded", async () => {
    const options = await databases.create(kind);
    const running = open(options);
    await running.check();
    await open(options, NEXT).check();
    await running.check();
    await running.run((executor) => insertOrganization(executor, organization));
    const starting = open(options);
    await starting.check();
    expect(await starting.run(listOrganizations)).toMatchObject([organization]);
    expect(await starting.pendingMigrations()).toEqual([]);
    expect(await open(options, NEXT).pendingMigrations()).toEqual([]);
  });

  test("only processes older than a contraction allows refuse the schema, naming the migration", async () => {
    const options = await databases.create(kind);
    const running = open(options);
    await running.check();
    await open(options, AFTER_NEXT).check();
    const refusal = {
      name: "Fault",
      message: expect.stringMatching(/newer Parlance.*`9001-contract`.*Start the newer version/),
    };
    await expect(running.check()).rejects.toMatchObject(refusal);
    await expect(open(options).check()).rejects.toMatchObject(refusal);
    await open(options, NEXT).check();
    await open(options, AFTER_NEXT).check();
  });

  test("refuses a migration that states nothing", async () => {
    const options = await databases.create(kind);
    await open(options).check();
    await open(options).run((executor) =>
      sql`insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00.000Z')`.execute(executor),
    );
    await expect(open(options).check()).rejects.toThrow(/newer Parlance.*`9999-later`.*Start the newer version/);
  });

  test("refuses a schema whose newer migrations are older than their statements", async () => {
    const options = await databases.createEmpty(kind);
    const upTo = (name: string) => Object.fromEntries(Object.entries(MIGRATIONS).filter(([each]) => each <= name));
    await open(options, upTo("0012")).check();
    await open(options, upTo("0012-request-dimensions")).check();
    await expect(open(options, upTo("0012")).check()).rejects.toThrow("`0012-request-dimensions`");
  });
});
