import BetterSqlite from "better-sqlite3";
import { afterEach, expect, test, vi } from "vitest";
import { SqliteFile } from "./sqlite-file.ts";

afterEach(() => vi.restoreAllMocks());

test("caches prepared statements within a memory bound", () => {
  const prepare = vi.spyOn(BetterSqlite.prototype, "prepare");
  const file = new SqliteFile(":memory:");
  file.ensureOpen();
  const select = (rows: number) => file.execute(`values ${"(1, 2, 3),".repeat(rows - 1)}(1, 2, 3)`, []).rows;

  for (let time = 0; time < 3; time += 1) expect(select(4)).toHaveLength(4);
  expect(prepare).toHaveBeenCalledTimes(1);
  for (let rows = 1000; rows < 1020; rows += 1) select(rows);
  expect(prepare).toHaveBeenCalledTimes(21);
  select(1019);
  expect(prepare).toHaveBeenCalledTimes(21);
  expect(select(1000)).toHaveLength(1000);
  expect(prepare).toHaveBeenCalledTimes(22);
  // Longer than the entire cache.
  expect(select(10_000)).toHaveLength(10_000);
  file.close();
});
