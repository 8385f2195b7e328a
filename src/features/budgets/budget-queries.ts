import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { BudgetRow } from "./budget-rows.ts";

/** Budget; of a key that replaced another one with the first key of its line. */
export interface BudgetWithSubject extends BudgetRow {
  subjectRootKeyId?: string | null | undefined;
}

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
): Promise<BudgetWithSubject[]> {
  if (organizationIds?.length === 0) return [];
  const budgets = executor
    .selectFrom("budgets as budget")
    .leftJoin("apiKeys as key", (join) =>
      join.onRef("key.id", "=", "budget.subjectId").on("budget.subject", "=", "api_key"),
    )
    .selectAll("budget")
    .select("key.rootKeyId as subjectRootKeyId")
    .orderBy("budget.createdAt")
    .orderBy("budget.id");
  const selected =
    organizationIds === undefined ? budgets : budgets.where("budget.organizationId", "in", organizationIds);
  return selected.execute();
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
