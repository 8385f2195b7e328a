import { join } from "node:path";
import { expect, test } from "vitest";
import { OS_SANDBOX } from "../../test/support/service/os-sandbox.ts";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { codeInterpreterSettings } from "../features/code-interpreter/settings.ts";
import { createLogger } from "../kernel/logger.ts";
import { openDatabase } from "../storage/database.ts";
import { MIGRATIONS } from "../storage/migrations/migrations.ts";
import { checkDatabase, checkSandbox } from "./doctor-checks.ts";

test("migrates nothing when it checks the database of an older version", async () => {
  await using directory = await temporaryDirectory();
  const options = { url: undefined, file: join(directory.path, "parlance.sqlite"), logger: createLogger("silent") };
  const [newest = ""] = Object.keys(MIGRATIONS).sort().reverse();
  const { [newest]: _newest, ...older } = MIGRATIONS;
  const database = openDatabase({ ...options, migrations: older });
  await database.migrate();
  await database.close();

  const config = { environment: { DATABASE_URL: undefined }, dataDirectory: directory.path };
  expect(await checkDatabase(config)).toEqual({
    name: "Database",
    state: "ok",
    detail: "SQLite; the next start runs 1 pending migration (parlance migrate --check lists it)",
  });
  const after = openDatabase(options);
  expect(await after.pendingMigrations()).toEqual([newest]);
  await after.migrate();
  await after.close();
  expect(await checkDatabase(config)).toEqual({ name: "Database", state: "ok", detail: "SQLite" });
});

test("says whether code runs in the operating system's sandbox", async () => {
  const check = (sandbox: "bubblewrap" | "process") =>
    checkSandbox({ codeInterpreter: codeInterpreterSettings.parse({ sandbox }) });
  expect(await check("process")).toMatchObject({ state: "warning", detail: expect.stringContaining("only boundary") });
  expect((await checkSandbox({ codeInterpreter: undefined })).state).toBe("ok");
  const expected = OS_SANDBOX === undefined ? "error" : "ok";
  expect((await check("bubblewrap")).state).toBe(expected);
});
