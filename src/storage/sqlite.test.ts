import { Kysely, sql } from "kysely";
import { expect, test } from "vitest";
import { sqliteDialect } from "./sqlite.ts";

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

test("leaves the event loop to others while it executes", async () => {
  await using database = new Kysely({ dialect: sqliteDialect(":memory:") });
  const counted = sql<{ sum: number }>`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 300000)
    select sum(n) as sum from numbers
  `.execute(database);
  let turns = 0;
  const ticker = setInterval(() => (turns += 1), 1);
  expect((await counted).rows).toEqual([{ sum: 45_000_150_000 }]);
  clearInterval(ticker);
  expect(turns).toBeGreaterThan(2);
});

test("returns bytes as buffers", async () => {
  await using database = new Kysely<{ notes: { content: Buffer } }>({ dialect: sqliteDialect(":memory:") });
  await database.schema.createTable("notes").addColumn("content", "bytea").execute();
  await database
    .insertInto("notes")
    .values({ content: Buffer.from("déjà vu") })
    .execute();
  const { content } = await database.selectFrom("notes").selectAll().executeTakeFirstOrThrow();
  expect(content.toString("utf8")).toBe("déjà vu");
});
