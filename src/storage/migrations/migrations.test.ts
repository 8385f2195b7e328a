/** The rule of CONTRIBUTING.md: a migration that older processes do not survive says so. */

import { Kysely } from "kysely";
import { afterEach, expect, test } from "vitest";
import { breakingChanges, readSchema } from "../../../test/support/databases/breaking-changes.ts";
import { sqliteDialect } from "../sqlite.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { SchemaMigration } from "./schema-migration.ts";

const opened: Kysely<unknown>[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.destroy()));
});

function openEmpty(): Kysely<unknown> {
  const db = new Kysely<unknown>({ dialect: sqliteDialect(":memory:") });
  opened.push(db);
  return db;
}

async function changesOf(db: Kysely<unknown>, { up }: SchemaMigration): Promise<string[]> {
  const before = await readSchema(db);
  await up(db);
  return breakingChanges(before, await readSchema(db));
}

test("every migration that removes or restricts something states the oldest compatible migration", async () => {
  const db = openEmpty();
  const names = Object.keys(MIGRATIONS);
  expect(names).toEqual(names.toSorted());
  for (const [name, migration] of Object.entries(MIGRATIONS)) {
    const changes = await changesOf(db, migration);
    const { oldestCompatible } = migration;
    if (changes.length > 0) expect(oldestCompatible, `${name} breaks older processes: ${changes}`).toBeDefined();
    if (oldestCompatible === undefined) continue;
    expect(MIGRATIONS).toHaveProperty(oldestCompatible);
    expect(oldestCompatible <= name, `${name} states a newer migration`).toBe(true);
  }
  expect(await changesOf(db, { up: (each) => each.schema.dropTable("model_sightings").execute() })).toEqual([
    "model_sightings: removed",
  ]);
});

const alter = (db: Kysely<unknown>) => db.schema.alterTable("things");

test.each<[string, SchemaMigration["up"], string[]]>([
  ["a new table", (db) => db.schema.createTable("others").addColumn("id", "text").execute(), []],
  ["a nullable column", (db) => alter(db).addColumn("note", "text").execute(), []],
  [
    "a default",
    (db) =>
      alter(db)
        .addColumn("size", "integer", (column) => column.notNull().defaultTo(0))
        .execute(),
    [],
  ],
  ["an index", (db) => db.schema.createIndex("by_name").on("things").column("name").execute(), []],
  ["a removed column", (db) => alter(db).dropColumn("name").execute(), ["things.name: removed"]],
  ["a renamed column", (db) => alter(db).renameColumn("name", "title").execute(), ["things.name: removed"]],
  ["a renamed table", (db) => alter(db).renameTo("articles").execute(), ["things: removed"]],
  [
    "a unique index",
    (db) => db.schema.createIndex("one_name").unique().on("things").column("name").execute(),
    ["things.unique (name)"],
  ],
  [
    "a table that is made again with requirements",
    async (db) => {
      await db.schema.dropTable("things").execute();
      const again = db.schema
        .createTable("things")
        .addColumn("id", "bigint")
        .addColumn("name", "text", (c) => c.notNull());
      await again.addColumn("owner", "text", (column) => column.notNull().references("things.id")).execute();
    },
    [
      "things.id: TEXT became bigint",
      "things.name: required",
      "things.owner: required",
      "things.foreign key (owner) to things",
    ],
  ],
])("the check finds what breaks older processes in %s", async (_name, up, changes) => {
  const db = openEmpty();
  await db.schema.createTable("things").addColumn("id", "text").addColumn("name", "text").execute();
  const found = await changesOf(db, { up });
  expect(found.map((each) => each.toLowerCase())).toEqual(changes.map((each) => each.toLowerCase()));
});
