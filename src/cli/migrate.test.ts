import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runParlance } from "../../test/support/service/run-parlance.ts";
import { MIGRATIONS } from "../storage/migrations/migrations.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "parlance-migrate-"));
});

afterEach(() => rm(cwd, { recursive: true, force: true }));

const run = (...words: string[]) => runParlance(words, { cwd, environment: { PARLANCE_DATA_DIR: cwd } });

test("lists pending migrations, runs them, and backs up and restores the result", async () => {
  const names = Object.keys(MIGRATIONS);
  expect(await run("migrate", "--check")).toMatchObject({ code: 1, stdout: `${names.join("\n")}\n` });
  expect(await run("migrate")).toMatchObject({ code: 0, stdout: `Migrated the database: ${names.join(", ")}.\n` });
  expect(await run("migrate", "--check")).toMatchObject({ code: 0, stdout: "" });

  const backedUp = await run("backup", "copy.sqlite");
  expect(backedUp).toMatchObject({ code: 0, stderr: "" });
  expect(backedUp.stdout).toContain(join(cwd, "copy.sqlite"));
  expect(await run("restore", "copy.sqlite")).toMatchObject({ code: 0, stderr: "" });
  const again = await run("backup", "copy.sqlite");
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("exists already");
});
