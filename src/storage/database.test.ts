/** The behavior that both databases share. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../test/support/databases/databases.ts";
import { incrementAccountsVersion, readAccountsVersion } from "../features/accounts/accounts-version.ts";
import {
  findOrganization,
  insertOrganization,
  listOrganizations,
} from "../features/accounts/organizations/organization-queries.ts";
import { insertProject, listProjects } from "../features/accounts/projects/project-queries.ts";
import { type Database, type DatabaseOptions, type Executor, openDatabase } from "./database.ts";

const databases = useDatabases();
const opened: Database[] = [];

function open(options: DatabaseOptions): Database {
  const database = openDatabase(options);
  opened.push(database);
  return database;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
});

function organization(id: string) {
  return { id, name: `The ${id} 🦉`, isDefault: 0, createdAt: 1_795_244_801_537, archivedAt: null };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("returns what was written, times as numbers and missing values as null", async () => {
    const database = open(await databases.create(kind));
    await database.run((executor) => insertOrganization(executor, organization("a")));
    expect(await database.run((executor) => findOrganization(executor, "a"))).toEqual(organization("a"));
    expect(await database.run((executor) => findOrganization(executor, "b"))).toBeUndefined();
  });

  test("stores text with a NUL character, or refuses it with a fault that says so", async () => {
    const database = open(await databases.create(kind));
    const insert = database.run((executor) => insertOrganization(executor, organization("a\0b")));
    if (kind === "sqlite") await insert;
    else
      await expect(insert).rejects.toMatchObject({
        kind: "invalid-request",
        message: expect.stringContaining("NUL character"),
      });
  });

  test("migrates once when several callers start together", async () => {
    const options = await databases.createEmpty(kind);
    await Promise.all(Array.from({ length: 4 }, () => open(options).check()));
    const database = open(options);
    await database.check();
    expect(await database.run(readAccountsVersion)).toBe(1);
  });

  test("migrates safely when two processes start together", async () => {
    const { url, file } = await databases.createEmpty(kind);
    const script = fileURLToPath(new URL("../../test/support/databases/open-database.ts", import.meta.url));
    const outputs = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const child = spawn(process.execPath, [script, file, url?.reveal() ?? ""]);
        let output = "";
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding("utf8").on("data", (text: string) => {
            output += text;
          });
        }
        await once(child, "close");
        return output;
      }),
    );
    // Each connection incremented it 50 times, from 1.
    expect(outputs.map((output) => output.trim())).toEqual(["ok", "ok", "ok"]);
    const database = open({ ...(await databases.createEmpty(kind)), url, file });
    expect(await database.run(readAccountsVersion)).toBe(151);
  });

  test("rolls back a failed transaction", async () => {
    const database = open(await databases.create(kind));
    const failing = database.transaction(async (transaction) => {
      await insertOrganization(transaction, organization("a"));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await database.run(listOrganizations)).toEqual([]);
  });

  test("rejects a row that violates a foreign key", async () => {
    const database = open(await databases.create(kind));
    const orphan = { ...organization("p"), organizationId: "nobody" };
    const writing = database.run((executor) => insertProject(executor, orphan));
    await expect(writing).rejects.toThrow(/foreign key/i);
  });

  test("serializes write transactions of two connections", async () => {
    const options = await databases.create(kind);
    const [first, second] = [open(options), open(options)];
    await Promise.all(
      Array.from({ length: 40 }, (_each, index) =>
        (index % 2 === 0 ? first : second).transaction(async (transaction) => {
          await readAccountsVersion(transaction);
          await incrementAccountsVersion(transaction);
        }),
      ),
    );
    expect(await first.run(readAccountsVersion)).toBe(41);
  });

  test("pages through a changing list without repeating or missing an entry", async () => {
    const database = open(await databases.create(kind));
    const add = (id: string, createdAt: number) =>
      database.run((executor) =>
        insertProject(executor, { ...organization(id), createdAt, organizationId: "o", isDefault: 0 }),
      );
    const page = (after: string | undefined, order: "asc" | "desc") =>
      database.run((executor) => listProjects(executor, "o", false, { after, limit: 3, order }));
    await database.run((executor) => insertOrganization(executor, organization("o")));
    // Several entries within one millisecond, as a fast client creates them.
    for (const [index, id] of ["d", "a", "c", "b", "e", "f", "g"].entries()) await add(id, Math.floor(index / 4));

    const first = await page(undefined, "asc");
    expect(first).toMatchObject({ entries: [{ id: "a" }, { id: "b" }, { id: "c" }], hasMore: true });
    await add("0", 0);
    await add("h", 9);
    await database.run((executor) =>
      executor.updateTable("projects").set({ archivedAt: 1 }).where("id", "=", "c").execute(),
    );
    const second = await page("c", "asc");
    expect(second).toMatchObject({ entries: [{ id: "d" }, { id: "e" }, { id: "f" }], hasMore: true });
    expect(await page("f", "asc")).toMatchObject({ entries: [{ id: "g" }, { id: "h" }], hasMore: false });
    expect(await page(undefined, "desc")).toMatchObject({ entries: [{ id: "h" }, { id: "g" }, { id: "f" }] });
  });

  test("rejects an unknown cursor", async () => {
    const database = open(await databases.create(kind));
    const listing = database.run((executor) =>
      listProjects(executor, "o", false, { after: "'; --", limit: 3, order: "asc" }),
    );
    await expect(listing).rejects.toMatchObject({ kind: "invalid-request", param: "after" });
  });
});

test("reports an unavailable database and recovers when it is back", async () => {
  const database = open(await databases.create("postgresql"));
  await database.check();
  await databases.postgres.stop();
  await expect(database.check()).rejects.toMatchObject({ kind: "unavailable", code: "database_unavailable" });
  await databases.postgres.start();
  await database.check();
});

test("retries a transaction after a deadlock", async () => {
  const database = open(await databases.create("postgresql"));
  for (const id of ["a", "b"]) await database.run((executor) => insertOrganization(executor, organization(id)));
  const rename = (executor: Executor, id: string) =>
    executor.updateTable("organizations").set({ name: "Renamed" }).where("id", "=", id).execute();
  let attempts = 0;
  const haveOne = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await Promise.all(
    ["ab", "ba"].map(([first = "", second = ""], index) =>
      database.transaction(async (transaction) => {
        attempts += 1;
        await rename(transaction, first);
        haveOne[index]?.resolve();
        await Promise.all(haveOne.map(({ promise }) => promise));
        await rename(transaction, second);
      }),
    ),
  );
  expect(attempts).toBeGreaterThan(2);
});

test("discards a connection whose query timed out", async () => {
  const database = open(await databases.create("postgresql"));
  await expect(database.run((executor) => sql`select pg_sleep(25)`.execute(executor))).rejects.toMatchObject({
    code: "database_unavailable",
  });
  // On the previous connection this query would time out too.
  await database.check();
});

test("can be opened while the database is unavailable", async () => {
  const options = await databases.create("postgresql");
  await databases.postgres.stop();
  const database = open(options);
  await expect(database.check()).rejects.toMatchObject({ code: "database_unavailable" });
  await databases.postgres.start();
  await database.check();
});

test("reports an unavailable database when its file cannot be opened", async () => {
  const database = open({ ...(await databases.create("sqlite")), file: "/dev/null/parlance.sqlite" });
  await expect(database.check()).rejects.toMatchObject({ code: "database_unavailable" });
});

test("names a full disk", async () => {
  const database = open(await databases.create("sqlite"));
  await database.run((executor) => sql`pragma max_page_count = 1`.execute(executor));
  const fill = async () => {
    for (let each = 0; each < 1000; each += 1) {
      await database.run((executor) => insertOrganization(executor, organization(`full-${each}`)));
    }
  };
  await expect(fill()).rejects.toMatchObject({
    code: "database_unavailable",
    message: "The database's disk is full. Free some space, then try again.",
  });
});

test("reports a removed or replaced file instead of writing to the unlinked one", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-moved-"));
  const file = join(directory, "parlance.sqlite");
  const database = open({ ...(await databases.create("sqlite")), file });
  const write = (id: string) => database.run((executor) => insertOrganization(executor, organization(id)));
  const unavailable = expect.objectContaining({ code: "database_unavailable" });
  await write("a");
  await database.run((executor) => sql`vacuum into ${join(directory, "backup")}`.execute(executor));
  for (const name of ["parlance.sqlite", "parlance.sqlite-wal", "parlance.sqlite-shm"]) await rm(join(directory, name));
  await expect(write("b")).rejects.toEqual(unavailable);
  await expect(database.check()).rejects.toMatchObject({ cause: { message: expect.stringContaining("was removed") } });

  // Like the restore of an earlier version's backup.
  await rename(join(directory, "backup"), file);
  await expect(write("b")).rejects.toEqual(unavailable);
  await write("b");
  const found = await database.run(listOrganizations);
  expect(found.map(({ id }) => id).sort()).toEqual(["a", "b"]);
  await rm(directory, { recursive: true });
});

test("does not write the old WAL into a backup that replaces the file", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-replaced-"));
  const file = join(directory, "parlance.sqlite");
  const database = open({ ...(await databases.create("sqlite")), file });
  const write = (id: string) => database.run((executor) => insertOrganization(executor, organization(id)));
  await write("a");
  await database.run((executor) => sql`vacuum into ${join(directory, "backup")}`.execute(executor));
  // More than SQLite's WAL holds: the WAL alone is not a complete database.
  for (let row = 0; row < 6; row += 1) {
    await database.run((executor) =>
      sql`insert into organizations (id, name, is_default, created_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
        select ${row} || ' ' || i, ${"x".repeat(4000)}, 0, 0 from n`.execute(executor),
    );
  }
  await write("b");
  await rename(join(directory, "backup"), file);

  await expect(write("c")).rejects.toMatchObject({ code: "database_unavailable" });
  await write("c");
  const found = await database.run((executor) => executor.selectFrom("organizations").select("id").execute());
  expect(found.map(({ id }) => id).sort()).toEqual(["a", "c"]);
  await rm(directory, { recursive: true });
});

test("recovers when the file was temporarily replaced by something that is not a database", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-wrong-"));
  const file = join(directory, "parlance.sqlite");
  const database = open({ ...(await databases.create("sqlite")), file });
  const unavailable = { code: "database_unavailable" };
  await database.check();
  await rename(file, join(directory, "aside"));
  await writeFile(file, "not a database ".repeat(100));
  await expect(database.check()).rejects.toMatchObject(unavailable);
  await expect(database.check()).rejects.toMatchObject(unavailable);
  await rename(join(directory, "aside"), file);
  await expect(database.check()).rejects.toMatchObject(unavailable);
  await database.check();
  await rm(directory, { recursive: true });
});
