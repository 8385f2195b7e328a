import { expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { evalRow, evalRunRow } from "../../../test/support/service/eval-rows.ts";
import { PERSONAL_DATA } from "../../app/personal-data.ts";
import { openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { endUserAsPerson } from "./find-person.ts";
import { readTable } from "./personal-rows.ts";

const databases = useDatabases();
const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };
const RUNS = 100;
const RUN_BYTES = 1_000_000;

test.each(DATABASE_KINDS)("reads no hidden columns, which may be large, on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  await using _closed = { [Symbol.asyncDispose]: () => database.close() };
  const { source: _source, leaseId: _leaseId, ...shown } = evalRunRow();
  await database.run(async (executor) => {
    await insertOrganization(executor, { ...named, id: "org_a" });
    await insertProject(executor, { ...named, id: "proj_a", organizationId: "org_a" });
    await executor.insertInto("evals").values(evalRow()).execute();
    for (let index = 0; index < RUNS; index += 1) {
      const row = { ...evalRunRow(), id: `run ${index}`, source: Buffer.alloc(RUN_BYTES) };
      await executor.insertInto("evalRuns").values(row).execute();
    }
  });
  const nobody = endUserAsPerson("org_a", "somebody");
  const person = { ...nobody, identifiers: { ...nobody.identifiers, caller: ["key_a"] } };
  const context = { database, files: undefined as never, content: undefined };
  const before = process.memoryUsage().arrayBuffers;
  const rows = readTable("evalRuns", PERSONAL_DATA.evalRuns, context, person);
  expect((await rows.next()).value).toEqual({ ...shown, id: "run 0" });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((RUNS * RUN_BYTES) / 4);
  expect(await Array.fromAsync(rows)).toHaveLength(RUNS - 1);
});
