import { expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { evalItemRow, evalRow, evalRunRow } from "../../../test/support/service/eval-rows.ts";
import { openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { insertEval, insertRun } from "./eval-queries.ts";
import { EVAL_SIZES } from "./eval-sizes.ts";

const databases = useDatabases();
const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };

test.each(DATABASE_KINDS)("measures evals, runs and items by project in pages, on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  await using _closed = { [Symbol.asyncDispose]: () => database.close() };
  await database.run((executor) => insertOrganization(executor, { ...named, id: "org_a" }));
  for (const [index, projectId] of ["proj_a", "proj_b"].entries()) {
    const [evalId, runId] = [`eval ${projectId}`, `run-${projectId}`];
    await database.run(async (executor) => {
      await insertProject(executor, { ...named, id: projectId, organizationId: "org_a" });
      await insertEval(executor, { ...evalRow(), id: evalId, projectId, definition: "x".repeat(10 ** index) });
      await insertRun(executor, { ...evalRunRow(), id: runId, evalId, projectId, source: Buffer.alloc(200) });
      for (let position = 0; position < 12; position += 1) {
        const item = { ...evalItemRow(), runId, position, id: `item ${position}`, content: Buffer.alloc(1_000) };
        await executor.insertInto("evalItems").values(item).execute();
      }
    });
  }
  const sums = new Map<string, number>();
  for (const read of EVAL_SIZES) {
    for (let after = ""; ; ) {
      const page = await database.run((executor) => read(executor, after, 5));
      for (const { projectId, bytes } of page) sums.set(projectId, (sums.get(projectId) ?? 0) + Number(bytes));
      if (page.length < 5) break;
      after = page.at(-1)?.id ?? "";
    }
  }
  expect(Object.fromEntries(sums)).toEqual({ proj_a: 12_201, proj_b: 12_210 });
});
