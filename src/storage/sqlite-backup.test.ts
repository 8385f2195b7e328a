import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { type Database, openDatabase } from "./database.ts";
import { backUpSqlite, restoreSqlite } from "./sqlite-backup.ts";

const logger = pino({ level: "silent" });
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let file: string;
let backup: string;

beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder.path, "parlance.sqlite");
  backup = join(folder.path, "backup.sqlite");
});

afterEach(() => folder[Symbol.asyncDispose]());

async function withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = openDatabase({ url: undefined, file, logger });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const addOrganization = (database: Database, id: string) =>
  database.run((executor) =>
    executor
      .insertInto("organizations")
      .values({ id, name: id, createdAt: 0, archivedAt: null, isDefault: 0 })
      .execute(),
  );

const organizationIds = () =>
  withDatabase((database) =>
    database.run(async (executor) =>
      (await executor.selectFrom("organizations").select("id").orderBy("id").execute()).map(({ id }) => id),
    ),
  );

test("restores what was committed when the backup began, although writers continued", async () => {
  await withDatabase(async (database) => {
    await addOrganization(database, "before");
    let isWriting = true;
    const writing = (async () => {
      for (let written = 0; isWriting; written += 1) {
        await addOrganization(database, `during-${written}`);
        await setImmediate();
      }
    })();
    expect(await backUpSqlite(file, backup)).toBeGreaterThan(4096);
    isWriting = false;
    await writing;
    await addOrganization(database, "after");
  });
  expect((await stat(backup)).mode & 0o777).toBe(0o600);
  expect(await restoreSqlite(backup, file)).toBe(`${file}.before-restore`);
  // Another one keeps what the first one kept.
  expect(await restoreSqlite(backup, file)).toBe(`${file}.before-restore-2`);
  const ids = await organizationIds();
  expect(ids).toContain("before");
  expect(ids).not.toContain("after");
  expect((await readdir(folder.path)).filter((name) => name.endsWith(".partial"))).toEqual([]);
});

test("restores into an empty folder", async () => {
  await withDatabase((database) => addOrganization(database, "one"));
  await backUpSqlite(file, backup);
  file = join(folder.path, "elsewhere.sqlite");
  expect(await restoreSqlite(backup, file)).toBeUndefined();
  expect(await organizationIds()).toEqual(["one"]);
});

test("creates missing folders of a backup and of the restored database", async () => {
  await withDatabase((database) => addOrganization(database, "one"));
  backup = join(folder.path, "backups", "today", "backup.sqlite");
  await backUpSqlite(file, backup);
  file = join(folder.path, "new", "data", "parlance.sqlite");
  expect(await restoreSqlite(backup, file)).toBeUndefined();
  expect(await organizationIds()).toEqual(["one"]);
});

test("refuses to restore while a process uses the database", async () => {
  await withDatabase(async (database) => {
    await addOrganization(database, "one");
    await backUpSqlite(file, backup);
    await addOrganization(database, "two");
    await expect(restoreSqlite(backup, file)).rejects.toThrow("is in use. Stop the service");
  });
  expect(await organizationIds()).toEqual(["one", "two"]);
});

test("refuses to overwrite a file and to back up a missing database", async () => {
  await expect(backUpSqlite(file, backup)).rejects.toThrow(`${file} does not exist`);
  await withDatabase((database) => addOrganization(database, "one"));
  await writeFile(backup, "precious");
  await expect(backUpSqlite(file, backup)).rejects.toThrow("exists already");
});

test("refuses a damaged backup, another file and a newer version's backup", async () => {
  await writeFile(backup, "not a database, but long enough to have a header of one hundred bytes".repeat(9));
  await expect(restoreSqlite(backup, file)).rejects.toThrow("is not a database of Parlance");
  const other = join(folder.path, "other.sqlite");
  new BetterSqlite(other)
    .exec("create table kysely_migration (name text)")
    .exec("insert into kysely_migration values ('9999-future')")
    .close();
  await expect(restoreSqlite(other, file)).rejects.toThrow("is from a newer Parlance (migration `9999-future`)");
});

test("backs up and restores a database that a newer, compatible version has migrated", async () => {
  await withDatabase((database) => addOrganization(database, "one"));
  new BetterSqlite(file)
    .exec("insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00.000Z')")
    .exec("insert into schema_compatibility values ('9999-later', null)")
    .close();
  await backUpSqlite(file, backup);
  await restoreSqlite(backup, file);
  expect(await organizationIds()).toEqual(["one"]);
});
