import type { Executor } from "../../storage/database.ts";
import type { ProjectGuardrailsRow } from "./guardrail-rows.ts";

export async function findGuardrailsOf(
  executor: Executor,
  projectIds: readonly string[],
): Promise<ProjectGuardrailsRow[]> {
  if (projectIds.length === 0) return [];
  return executor.selectFrom("projectGuardrails").selectAll().where("projectId", "in", projectIds).execute();
}

export async function putGuardrails(executor: Executor, row: ProjectGuardrailsRow): Promise<void> {
  const { projectId: _project, ...values } = row;
  await executor
    .insertInto("projectGuardrails")
    .values(row)
    .onConflict((conflict) => conflict.column("projectId").doUpdateSet(values))
    .execute();
}

export async function deleteGuardrails(executor: Executor, projectId: string): Promise<void> {
  await executor.deleteFrom("projectGuardrails").where("projectId", "=", projectId).execute();
}
