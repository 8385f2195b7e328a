import { expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { evalRow, evalRunRow } from "../../../test/support/service/eval-rows.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import type { JobEnd } from "../../kernel/jobs/job-runner.ts";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { startEvalJobs } from "./eval-jobs.ts";
import { insertEval, insertRun } from "./eval-queries.ts";

const databases = useDatabases();
const logger = createLogger("silent");
const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };

test.each(DATABASE_KINDS)("leaves a place for runs of other projects, on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  await using _closed = { [Symbol.asyncDispose]: () => database.close() };
  await database.run((executor) => insertOrganization(executor, { ...named, id: "org_a" }));
  for (const id of ["proj_a", "proj_b"]) {
    await database.run((executor) => insertProject(executor, { ...named, id, organizationId: "org_a" }));
    await database.run((executor) => insertEval(executor, { ...evalRow(), id: `eval of ${id}`, projectId: id }));
  }
  const add = (id: string, projectId: string, createdAt: number) => {
    const row = { ...evalRunRow(), id, projectId, evalId: `eval of ${projectId}`, createdAt };
    return database.run((executor) => insertRun(executor, row));
  };
  for (const [index, id] of ["a1", "a2", "a3", "a4"].entries()) await add(id, "proj_a", index);
  const started: string[] = [];
  const run = ({ id }: { id: string }, signal: AbortSignal) => {
    started.push(id);
    return new Promise<JobEnd>((end) => {
      signal.addEventListener("abort", () => end("interrupted"));
    });
  };
  await using jobs = startEvalJobs({ database, logger, run });
  await eventually(() => expect(started.length).toBeGreaterThan(1));
  await add("b1", "proj_b", 10);
  jobs.wake();
  await eventually(() => expect(started).toEqual(["a1", "a2", "b1"]));
});
