import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { Kysely, sql } from "kysely";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { Database } from "./database.ts";
import type { Schema } from "./schema.ts";
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

test("waits 5 s in all for a locked file, however many writes wait, and says so", async () => {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, "locked.db");
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const kysely = new Kysely<Schema>({ dialect: sqliteDialect(file, clock) });
  await sql`create table notes (text text)`.execute(kysely);
  const other = new BetterSqlite(file);
  other.exec("begin immediate");
  const database = new Database(kysely, "sqlite", { migrates: false });
  try {
    const writes = Array.from({ length: 8 }, () =>
      database.transaction((transaction) => sql`insert into notes values (1)`.execute(transaction)),
    );
    const outcomes = await Promise.allSettled(writes);
    const fault = { code: "database_unavailable", message: expect.stringContaining("locked the database for more") };
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: fault });
    expect(now).toBeGreaterThan(5_000);
    expect(now).toBeLessThan(5_100);
    other.exec("rollback");
    await database.transaction((transaction) => sql`insert into notes values (1)`.execute(transaction));
  } finally {
    other.close();
    await database.close();
  }
});
