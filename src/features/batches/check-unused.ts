import { Fault } from "../../kernel/faults.ts";
import type { Database } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { findBatchOfInput } from "./batch-queries.ts";

/** Throws a Fault while a batch reads this file. */
export async function checkUnused(database: Database, file: ProjectResource): Promise<void> {
  const batch = await database.run((executor) => findBatchOfInput(executor, file));
  if (batch === undefined) return;
  throw new Fault("conflict", `The file is the input of ${batch.id}, which has not ended. Cancel it first.`);
}
