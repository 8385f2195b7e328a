import BetterSqlite from "better-sqlite3";
import { Kysely, sql } from "kysely";
import { afterEach, expect, test, vi } from "vitest";
import { sqliteDialect } from "./sqlite.ts";

afterEach(() => vi.restoreAllMocks());

test("caches prepared statements within a memory bound", async () => {
  const prepare = vi.spyOn(BetterSqlite.prototype, "prepare");
  await using database = new Kysely({ dialect: sqliteDialect(":memory:") });
  const select = (rows: number) => sql.raw(`values ${"(1, 2, 3),".repeat(rows - 1)}(1, 2, 3)`).execute(database);

  for (let time = 0; time < 3; time += 1) expect((await select(4)).rows).toHaveLength(4);
  expect(prepare).toHaveBeenCalledTimes(1);
  for (let rows = 1000; rows < 1020; rows += 1) await select(rows);
  expect(prepare).toHaveBeenCalledTimes(21);
  await select(1019);
  expect(prepare).toHaveBeenCalledTimes(21);
  expect((await select(1000)).rows).toHaveLength(1000);
  expect(prepare).toHaveBeenCalledTimes(22);
  // Longer than the entire cache.
  expect((await select(10_000)).rows).toHaveLength(10_000);
});

test("reports SQLITE_FULL and starts the next transaction cleanly", async () => {
  await using database = new Kysely<{ notes: { text: string } }>({ dialect: sqliteDialect(":memory:") });
  await database.schema.createTable("notes").addColumn("text", "text").execute();
  const write = () =>
    database.transaction().execute(async (transaction) => {
      await transaction.insertInto("notes").values({ text: "small" }).execute();
      await transaction
        .insertInto("notes")
        .values({ text: "x".repeat(1_000_000) })
        .execute();
    });
  await sql.raw("pragma max_page_count = 20").execute(database);
  await expect(write()).rejects.toMatchObject({ code: "SQLITE_FULL" });
  expect(await database.selectFrom("notes").selectAll().execute()).toEqual([]);
  await sql.raw("pragma max_page_count = 20000").execute(database);
  await write();
  expect(await database.selectFrom("notes").selectAll().execute()).toHaveLength(2);
});
