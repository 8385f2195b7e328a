import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SqliteThread } from "./sqlite-thread.ts";

const statement = (text: string) => ({ text, parameters: [], isFirst: true });

test("answers what was asked before it closes, and rejects what comes after", async () => {
  const thread = new SqliteThread({ path: ":memory:", identity: undefined });
  const one = thread.execute(statement("select 1 as number"));
  await thread.close();
  expect((await one).rows).toEqual([{ number: 1 }]);
  expect(thread.isEnded).toBe(true);
  await expect(thread.execute(statement("select 2 as number"))).rejects.toMatchObject({ code: "SQLITE_IOERR" });
});

test("rejects with SQLite's code, and goes on", async () => {
  const thread = new SqliteThread({ path: ":memory:", identity: undefined });
  await expect(thread.execute(statement("select * from absent"))).rejects.toMatchObject({
    code: "SQLITE_ERROR",
    message: "no such table: absent",
  });
  expect((await thread.execute(statement("select 1 as number"))).rows).toEqual([{ number: 1 }]);
  await thread.close();
});

test("opens again at the next statement a file that could not be opened", async () => {
  const thread = new SqliteThread({ path: "/dev/null/parlance.sqlite", identity: undefined });
  for (let time = 0; time < 2; time += 1) {
    await expect(thread.execute(statement("select 1"))).rejects.toMatchObject({ code: "EEXIST" });
  }
  await thread.close();
});

test("opens only the file that an earlier thread had open", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parlance-sqlite-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "a.sqlite");
  const first = new SqliteThread({ path, identity: undefined });
  await first.execute(statement("create table notes (text text)"));
  const identity = await first.close();

  const same = new SqliteThread({ path, identity });
  expect((await same.execute(statement("select * from notes"))).rows).toEqual([]);
  expect(await same.close()).toEqual(identity);

  // The next file may get the same inode.
  rmSync(path);
  const later = new SqliteThread({ path, identity });
  await expect(later.execute(statement("select 1"))).rejects.toMatchObject({ code: "SQLITE_READONLY_DBMOVED" });
  const other = new SqliteThread({ path, identity: undefined });
  await other.execute(statement("create table words (text text)"));
  await other.execute(statement("create table more_words (text text)"));
  await other.close();
  await expect(later.execute(statement("select 1"))).rejects.toMatchObject({ code: "SQLITE_READONLY_DBMOVED" });
  expect((await later.execute(statement("select * from words"))).rows).toEqual([]);
  await later.close();
});
