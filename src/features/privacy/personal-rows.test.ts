import { expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { evalRow, evalRunRow } from "../../../test/support/service/eval-rows.ts";
import { PERSONAL_DATA } from "../../app/personal-data.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
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

test.each(DATABASE_KINDS)("reads texts that quote a person within bounds of rows and bytes, on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  await using _closed = { [Symbol.asyncDispose]: () => database.close() };
  const sizes = [1, 0, 1_500_000, 400_000, 400_000, 400_000, ...Array.from({ length: 1_100 }, () => 2)];
  const texts = sizes.map((length, index) => `"${index} of ada@example.com ${"x".repeat(length)}"`);
  await database.run(async (executor) => {
    await insertOrganization(executor, { ...named, id: "org_a" });
    await insertProject(executor, { ...named, id: "proj_a", organizationId: "org_a" });
    for (const [index, definition] of texts.entries()) {
      const id = `eval_${String(index).padStart(4, "0")}`;
      await executor
        .insertInto("evals")
        .values({ ...evalRow(), id, definition })
        .execute();
    }
  });
  const read: { bytes: number; rows: number }[] = [];
  const counted: Database = Object.create(database, {
    run: {
      value: async (work: Parameters<Database["run"]>[0]) => {
        const result = (await database.run(work)) as { rows: object[] };
        const bytes = JSON.stringify(result.rows).length;
        read.push({ bytes, rows: result.rows.length });
        return result;
      },
    },
  });
  const context = { database: counted, files: undefined as never, content: undefined };
  const rows = readTable("evals", PERSONAL_DATA.evals, context, endUserAsPerson("org_a", "ada@example.com"));
  const ids = await Array.fromAsync(rows, (row) => (row as { id: string }).id);
  expect(ids).toEqual(texts.map((_, index) => `eval_${String(index).padStart(4, "0")}`));
  const tooLong = { bytes: expect.toSatisfy((bytes: number) => bytes < 1_500_200), rows: 1 };
  expect(read.filter(({ bytes }) => bytes > 1_100_000)).toEqual([tooLong]);
  expect(Math.max(...read.map((page) => page.rows))).toBeLessThanOrEqual(1_000);
  expect(read.length).toBeLessThan(10);
});
