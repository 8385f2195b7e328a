import { expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { evalItemRow, evalRow, evalRunRow } from "../../../test/support/service/eval-rows.ts";
import { openDatabase } from "../../storage/database.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { insertEval, insertRun, listEvals, listItems, listRuns } from "./eval-queries.ts";

const databases = useDatabases();
const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };
/** Two fit into a page, three do not. */
const LARGE_BYTES = 1_500_000;
const COUNT = 5;

/** Reads all pages, and resolves with the IDs of each. */
async function readPages(list: (page: PageRequest) => Promise<Page<{ id: string }>>, order: "asc" | "desc") {
  const pages: string[][] = [];
  for (let after: string | undefined; ; after = pages.at(-1)?.at(-1)) {
    const { entries, hasMore } = await list({ after, limit: 100, order });
    pages.push(entries.map(({ id }) => id));
    if (!hasMore) return pages;
  }
}

test.each(DATABASE_KINDS)("ends pages of evals, runs and items early when they are large, on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  await using _closed = { [Symbol.asyncDispose]: () => database.close() };
  await database.run((executor) => insertOrganization(executor, { ...named, id: "org_a" }));
  await database.run((executor) => insertProject(executor, { ...named, id: "proj_a", organizationId: "org_a" }));
  const large = Buffer.alloc(LARGE_BYTES, 1);
  for (let index = 0; index < COUNT; index += 1) {
    const item = { ...evalItemRow(), runId: "run 0", id: `item ${index}`, position: index, content: large };
    await database.run(async (executor) => {
      const definition = JSON.stringify("x".repeat(LARGE_BYTES));
      await insertEval(executor, { ...evalRow(), id: `eval ${index}`, definition, createdAt: index });
      await insertRun(executor, { ...evalRunRow(), id: `run ${index}`, evalId: "eval 0", source: large });
      await executor.insertInto("evalItems").values(item).execute();
    });
  }
  const [ascending, descending] = [
    (name: string) => [[`${name} 0`, `${name} 1`], [`${name} 2`, `${name} 3`], [`${name} 4`]],
    (name: string) => [[`${name} 4`, `${name} 3`], [`${name} 2`, `${name} 1`], [`${name} 0`]],
  ];
  const lists = {
    eval: (page: PageRequest) => database.run((executor) => listEvals(executor, { ...page, projectId: "proj_a" })),
    run: (page: PageRequest) => database.run((executor) => listRuns(executor, "eval 0", page)),
    item: (page: PageRequest) => database.run((executor) => listItems(executor, "run 0", page)),
  };
  for (const [name, list] of Object.entries(lists)) {
    expect(await readPages(list, "asc")).toEqual(ascending(name));
    expect(await readPages(list, "desc")).toEqual(descending(name));
  }
});
