/** Evals and their runs: those that clients read are found through their project, and a run writes through its lease. */

import { sql, type Updateable } from "kysely";
import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage, withinBytes } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { Schema } from "../../storage/schema.ts";
import type { EvalItemRow, EvalRow, EvalRunRow } from "./eval-rows.ts";

export async function insertEval(executor: Executor, row: EvalRow): Promise<void> {
  await executor.insertInto("evals").values(row).execute();
}

export async function findEval(executor: Executor, { projectId, id }: ProjectResource): Promise<EvalRow | undefined> {
  const all = executor.selectFrom("evals").selectAll().where("projectId", "=", projectId);
  return all.where("id", "=", id).executeTakeFirst();
}

/** Lists a page, which ends before its limit when its rows are large; so do those of runs and items. */
export async function listEvals(
  executor: Executor,
  request: PageRequest & { projectId: string },
): Promise<Page<EvalRow>> {
  const all = executor.selectFrom("evals").where("projectId", "=", request.projectId);
  const sizes = all.select(["id", "createdAt", bytesOf("definition")]);
  const { entries, hasMore } = withinBytes(await readPage(request, "createdAt", sizes));
  return { entries: await readListed(executor, "evals", entries, request.order), hasMore };
}

export async function updateEval(
  executor: Executor,
  id: string,
  change: Partial<Pick<EvalRow, "name" | "metadata">>,
): Promise<void> {
  if (Object.keys(change).length > 0) await executor.updateTable("evals").set(change).where("id", "=", id).execute();
}

export async function deleteEval(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("evals").where("id", "=", id).execute();
}

export async function insertRun(executor: Executor, row: EvalRunRow): Promise<void> {
  await executor.insertInto("evalRuns").values(row).execute();
}

export interface RunReference extends ProjectResource {
  evalId: string;
}

export async function findRun(executor: Executor, reference: RunReference): Promise<EvalRunRow | undefined> {
  return selectRun(executor, reference).selectAll().executeTakeFirst();
}

/** Without the source, which may be megabytes of rows. */
export type NamedRun = Pick<EvalRunRow, "id" | "projectId" | "evalId" | "name">;

export async function findNamedRun(executor: Executor, reference: RunReference): Promise<NamedRun | undefined> {
  return selectRun(executor, reference).select(["id", "projectId", "evalId", "name"]).executeTakeFirst();
}

function selectRun(executor: Executor, { projectId, evalId, id }: RunReference) {
  const runs = executor.selectFrom("evalRuns").where("projectId", "=", projectId);
  return runs.where("evalId", "=", evalId).where("id", "=", id);
}

export type RunFilter = { comparisonId?: string | undefined; status?: EvalRunRow["status"] | undefined };

export async function listRuns(
  executor: Executor,
  evalId: string,
  { comparisonId, status, ...request }: PageRequest & RunFilter,
): Promise<Page<EvalRunRow>> {
  const all = executor.selectFrom("evalRuns").where("evalId", "=", evalId);
  const sizes = all.select(["id", "createdAt", bytesOf("source", "rowIds")]);
  let list = sizes;
  if (comparisonId !== undefined) list = list.where("comparisonId", "=", comparisonId);
  if (status !== undefined) list = list.where("status", "=", status);
  const { entries, hasMore } = withinBytes(await readPage(request, "createdAt", sizes, list));
  return { entries: await readListed(executor, "evalRuns", entries, request.order), hasMore };
}

export async function deleteRun(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("evalRuns").where("id", "=", id).execute();
}

/** Ends a run that has not ended. Its process stops at its next item. */
export async function cancelRun(executor: Executor, id: string, now: number): Promise<void> {
  const update = executor.updateTable("evalRuns").set({ status: "canceled", endedAt: now });
  await update.where("id", "=", id).where("endedAt", "is", null).execute();
}

/** Items of a run without their content. */
export type ItemSummaryRow = Pick<EvalItemRow, "position" | "status" | "summary">;

export async function listSummaries(executor: Executor, runId: string): Promise<ItemSummaryRow[]> {
  const items = executor.selectFrom("evalItems").select(["position", "status", "summary"]);
  return items.where("runId", "=", runId).orderBy("position").execute();
}

/** Number of the items of each run that has any. */
export async function countItems(executor: Executor, runIds: readonly string[]): Promise<Map<string, number>> {
  if (runIds.length === 0) return new Map();
  const counts = executor
    .selectFrom("evalItems")
    .select(["runId", ({ fn }) => fn.countAll<number | string>().as("count")]);
  const rows = await counts.where("runId", "in", runIds).groupBy("runId").execute();
  // PostgreSQL returns counts as text.
  return new Map(rows.map(({ runId, count }) => [runId, Number(count)]));
}

export async function storeTotals(executor: Executor, id: string, totals: string): Promise<void> {
  const update = executor.updateTable("evalRuns").set({ totals }).where("id", "=", id);
  await update.where("endedAt", "is not", null).execute();
}

export async function listItems(
  executor: Executor,
  runId: string,
  { after, limit, order, status }: PageRequest & { status?: EvalItemRow["status"] | undefined },
): Promise<Page<EvalItemRow>> {
  const all = executor.selectFrom("evalItems").where("runId", "=", runId);
  let items = all.select(["position", bytesOf("content", "summary")]);
  if (status !== undefined) items = items.where("status", "=", status);
  if (after !== undefined) {
    const cursor = executor
      .selectFrom("evalItems")
      .select("position")
      .where("runId", "=", runId)
      .where("id", "=", after);
    items = items.where("position", order === "asc" ? ">" : "<", cursor);
  }
  const rows = await items
    .orderBy("position", order)
    .limit(limit + 1)
    .execute();
  const page = withinBytes({ entries: rows.slice(0, limit), hasMore: rows.length > limit });
  if (page.entries.length === 0) return { entries: [], hasMore: false };
  const positions = page.entries.map(({ position }) => position);
  const entries = await all.selectAll().where("position", "in", positions).orderBy("position", order).execute();
  return { entries, hasMore: page.hasMore };
}

/** Bytes, or characters of texts, in these columns together. */
function bytesOf(...columns: readonly string[]) {
  const lengths = columns.map((column) => sql`coalesce(length(${sql.ref(column)}), 0)`);
  return sql<number | string>`${sql.join(lengths, sql` + `)}`.as("bytes");
}

async function readListed<Table extends "evals" | "evalRuns">(
  executor: Executor,
  table: Table,
  listed: readonly { id: string }[],
  order: PageRequest["order"],
): Promise<Schema[Table][]> {
  if (listed.length === 0) return [];
  const ids = listed.map(({ id }) => id);
  const { rows } = await sql<Schema[Table]>`
    select * from ${sql.table(table)}
    where id in (${sql.join(ids)})
    order by ${sql.ref("createdAt")} ${sql.raw(order)}, id ${sql.raw(order)}
  `.execute(executor);
  return rows;
}

export async function findItem(executor: Executor, runId: string, id: string): Promise<EvalItemRow | undefined> {
  const items = executor.selectFrom("evalItems").selectAll().where("runId", "=", runId);
  return items.where("id", "=", id).executeTakeFirst();
}

export type ClaimedRun = EvalRunRow & { leaseId: string };

/** Changes a run for the process that has its lease. Returns false when it has ended or another process has it. */
export async function updateLeasedRun(
  executor: Executor,
  { id, leaseId }: Pick<ClaimedRun, "id" | "leaseId">,
  change: Updateable<Pick<EvalRunRow, "status" | "error" | "total" | "rowIds" | "endedAt">>,
): Promise<boolean> {
  const update = executor.updateTable("evalRuns").set(change).where("id", "=", id).where("leaseId", "=", leaseId);
  return (await update.where("endedAt", "is", null).executeTakeFirst()).numUpdatedRows > 0n;
}

/** Adds an item. Returns false when the run has ended or another process has it, and nothing is added. */
export async function addItem(executor: Executor, run: ClaimedRun, row: EvalItemRow): Promise<boolean> {
  // Locks the run, so that no other process takes it over between both statements.
  if (!(await updateLeasedRun(executor, run, { status: "in_progress" }))) return false;
  await executor
    .insertInto("evalItems")
    .values(row)
    .onConflict((conflict) => conflict.columns(["runId", "position"]).doNothing())
    .execute();
  return true;
}
