import { expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { evalRow, evalRunRow } from "../../../test/support/service/eval-rows.ts";
import { PERSONAL_DATA } from "../../app/personal-data.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import { MAX_PAGE_BYTES } from "../../storage/first-within.ts";
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

test.each(DATABASE_KINDS)("reads texts that quote a person within a bound of bytes, on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  await using _closed = { [Symbol.asyncDispose]: () => database.close() };
  const texts = [1, 0, 4_500_000, 1_500_000, 1_500_000, 1_500_000, 2].map(
    (length, index) => `${index} of ada@example.com ${"x".repeat(length)}`,
  );
  await database.run(async (executor) => {
    await insertOrganization(executor, { ...named, id: "org_a" });
    await insertProject(executor, { ...named, id: "proj_a", organizationId: "org_a" });
    for (const [index, definition] of [...texts, texts[0] as string].entries()) {
      await executor
        .insertInto("evals")
        .values({ ...evalRow(), id: `eval_${index}`, definition })
        .execute();
    }
  });
  const read: number[] = [];
  const counted: Database = Object.create(database, {
    run: {
      value: async (work: Parameters<Database["run"]>[0]) => {
        const result = (await database.run(work)) as { rows?: { text?: string }[] };
        read.push((result.rows ?? []).reduce((sum, { text = "" }) => sum + text.length, 0));
        return result;
      },
    },
  });
  const context = { database: counted, files: undefined as never, content: undefined };
  const rows = readTable("evals", PERSONAL_DATA.evals, context, endUserAsPerson("org_a", "ada@example.com"));
  const quoting = await Array.fromAsync(rows, (row) => (row as { definition: string }).definition.slice(0, 1));
  expect(quoting).toEqual(["0", "0", "1", "2", "3", "4", "5", "6"]);
  const largest = texts[2]?.length ?? 0;
  expect(Math.max(...read)).toBe(largest);
  expect(read.filter((length) => length > MAX_PAGE_BYTES)).toEqual([largest]);
});
