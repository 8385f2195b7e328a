import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { BudgetRow } from "./budget-rows.ts";

export interface BudgetReference {
  organizationId: string;
  /** Null: those without a project; undefined: all. */
  projectId: string | null | undefined;
  kind: BudgetRow["kind"];
}

export async function insertBudget(executor: Executor, row: BudgetRow): Promise<void> {
  await executor.insertInto("budgets").values(row).execute();
}

export async function updateBudget(executor: Executor, id: string, change: Partial<BudgetRow>): Promise<void> {
  await executor.updateTable("budgets").set(change).where("id", "=", id).execute();
}

export async function deleteBudget(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("budgets").where("id", "=", id).execute();
}

export async function findBudget(
  executor: Executor,
  reference: BudgetReference,
  id: string,
): Promise<BudgetRow | undefined> {
  return budgetsIn(executor, reference).where("id", "=", id).executeTakeFirst();
}

export async function listBudgets(
  executor: Executor,
  reference: BudgetReference,
  request: PageRequest,
): Promise<Page<BudgetRow>> {
  return readPage(request, "createdAt", budgetsIn(executor, reference));
}

/** Finds budgets and alerts of these organizations, oldest first; undefined: of all. */
export async function findBudgetsOf(
  executor: Executor,
  organizationIds: readonly string[] | undefined,
): Promise<BudgetRow[]> {
  if (organizationIds?.length === 0) return [];
  const budgets = executor.selectFrom("budgets").selectAll().orderBy("createdAt").orderBy("id");
  return (organizationIds === undefined ? budgets : budgets.where("organizationId", "in", organizationIds)).execute();
}

export async function findBudgetsByIds(executor: Executor, ids: readonly string[]): Promise<BudgetRow[]> {
  return executor.selectFrom("budgets").selectAll().where("id", "in", ids).execute();
}

export async function countBudgets(executor: Executor, organizationId: string): Promise<number> {
  const { count } = await executor
    .selectFrom("budgets")
    .select((select) => select.fn.countAll<number | string>().as("count"))
    .where("organizationId", "=", organizationId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function budgetsIn(executor: Executor, { organizationId, projectId, kind }: BudgetReference) {
  const budgets = executor
    .selectFrom("budgets")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("kind", "=", kind);
  if (projectId === undefined) return budgets;
  return projectId === null ? budgets.where("projectId", "is", null) : budgets.where("projectId", "=", projectId);
}
