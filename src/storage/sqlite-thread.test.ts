import { expect, test } from "vitest";
import { SqliteThread } from "./sqlite-thread.ts";

const statement = (text: string) => ({ text, parameters: [], isFirst: false });

test("answers what was asked before it closes, and rejects what comes after", async () => {
  const thread = new SqliteThread(":memory:");
  const one = thread.execute(statement("select 1 as number"));
  await thread.close();
  expect((await one).rows).toEqual([{ number: 1 }]);
  expect(thread.isEnded).toBe(true);
  await expect(thread.execute(statement("select 2 as number"))).rejects.toMatchObject({ code: "SQLITE_IOERR" });
});

test("rejects with SQLite's code, and goes on", async () => {
  const thread = new SqliteThread(":memory:");
  await expect(thread.execute(statement("select * from absent"))).rejects.toMatchObject({
    code: "SQLITE_ERROR",
    message: "no such table: absent",
  });
  expect((await thread.execute(statement("select 1 as number"))).rows).toEqual([{ number: 1 }]);
  await thread.close();
});

test("opens again at the next statement a file that could not be opened", async () => {
  const thread = new SqliteThread("/dev/null/parlance.sqlite");
  for (let time = 0; time < 2; time += 1) {
    await expect(thread.execute(statement("select 1"))).rejects.toMatchObject({ code: "EEXIST" });
  }
  await thread.close();
});
