/** Stored prompts, always found through their project. */

import { sql } from "kysely";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { PromptLabelRow, PromptRow, PromptVersionRow } from "./prompt-rows.ts";

export async function insertPrompt(executor: Executor, row: PromptRow): Promise<void> {
  await executor.insertInto("prompts").values(row).execute();
}

/** Finds a prompt by its ID or name. */
export async function findPrompt(
  executor: Executor,
  { projectId, id }: ProjectResource,
): Promise<PromptRow | undefined> {
  return executor
    .selectFrom("prompts")
    .selectAll()
    .where("projectId", "=", projectId)
    .where((where) => where.or([where("id", "=", id), where("name", "=", id)]))
    .orderBy((order) => order.case().when("id", "=", id).then(0).else(1).end())
    .executeTakeFirst();
}

export async function listPrompts(
  executor: Executor,
  request: PageRequest & { projectId: string },
): Promise<Page<PromptRow>> {
  const all = executor.selectFrom("prompts").selectAll().where("projectId", "=", request.projectId);
  return readPage(request, "createdAt", all);
}

/** Changes a prompt and, until the transaction ends, makes others that change it wait. */
export async function updatePrompt(
  executor: Executor,
  id: string,
  change: Partial<Pick<PromptRow, "name" | "description" | "updatedAt">>,
): Promise<void> {
  await executor.updateTable("prompts").set(change).where("id", "=", id).execute();
}

export async function deletePrompt(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("prompts").where("id", "=", id).execute();
}

export async function insertVersion(executor: Executor, row: PromptVersionRow): Promise<void> {
  await executor.insertInto("promptVersions").values(row).execute();
}

export async function findVersion(
  executor: Executor,
  promptId: string,
  version: number,
): Promise<PromptVersionRow | undefined> {
  return executor
    .selectFrom("promptVersions")
    .selectAll()
    .where("promptId", "=", promptId)
    .where("version", "=", version)
    .executeTakeFirst();
}

/** Lists versions, newest first. */
export async function listVersions(executor: Executor, promptId: string): Promise<PromptVersionRow[]> {
  const all = executor.selectFrom("promptVersions").selectAll().where("promptId", "=", promptId);
  return all.orderBy("version", "desc").execute();
}

/** Finds the newest version of each prompt. */
export async function findLatestVersions(
  executor: Executor,
  promptIds: readonly string[],
): Promise<{ promptId: string; version: number }[]> {
  if (promptIds.length === 0) return [];
  const rows = await executor
    .selectFrom("promptVersions")
    .select(({ fn }) => ["promptId", fn.max("version").as("version")])
    .where("promptId", "in", promptIds)
    .groupBy("promptId")
    .execute();
  return rows.map(({ promptId, version }) => ({ promptId, version: Number(version) }));
}

export async function findLabels(executor: Executor, promptIds: readonly string[]): Promise<PromptLabelRow[]> {
  if (promptIds.length === 0) return [];
  const all = executor.selectFrom("promptLabels").selectAll().where("promptId", "in", promptIds);
  return all.orderBy("label").execute();
}

export async function putLabel(executor: Executor, row: PromptLabelRow): Promise<void> {
  const { version, updatedAt } = row;
  await executor
    .insertInto("promptLabels")
    .values(row)
    .onConflict((conflict) => conflict.columns(["promptId", "label"]).doUpdateSet({ version, updatedAt }))
    .execute();
}

/** Returns false when there was none. */
export async function deleteLabel(executor: Executor, promptId: string, label: string): Promise<boolean> {
  const deletion = executor.deleteFrom("promptLabels").where("promptId", "=", promptId).where("label", "=", label);
  return (await deletion.executeTakeFirst()).numDeletedRows > 0n;
}

/** Value of the usage label of a version. */
export function toUsageLabel(promptId: string, version: number): string {
  return `${promptId}@${version}`;
}

export interface PromptVersionUsage {
  version: number;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  costNanoDollars: number | null;
  /** Beginning of the last UTC day with a request. */
  lastDay: number;
}

export interface PromptVersionRating {
  version: number;
  /** Scores of feedback about requests with the version. */
  ratings: number;
  meanScore: number;
}

/** Averages the feedback about requests with each version; feedback ends with the request it is about. */
export async function averageRatings(
  executor: Executor,
  projectId: string,
  promptId: string,
): Promise<PromptVersionRating[]> {
  const rows = await executor
    .selectFrom("requestFeedback")
    .select(({ fn }) => [
      "prompt",
      fn.count<number | string>("score").as("ratings"),
      fn.avg<number | string>("score").as("meanScore"),
    ])
    .where("projectId", "=", projectId)
    .where(isVersionOf("prompt", promptId))
    .where("score", "is not", null)
    .groupBy("prompt")
    .execute();
  return rows.map(({ prompt, ratings, meanScore }) => ({
    version: versionOfLabel(prompt ?? "", promptId),
    ratings: Number(ratings),
    meanScore: Number(meanScore),
  }));
}

/** Condition on a column with usage labels of versions. */
function isVersionOf(column: string, promptId: string) {
  return sql<boolean>`substr(${sql.ref(column)}, 1, ${promptId.length + 1}) = ${`${promptId}@`}`;
}

function versionOfLabel(label: string, promptId: string): number {
  return Number(label.slice(promptId.length + 1));
}

/** Sums the usage of each version that was used, newest first. */
export async function sumUsage(executor: Executor, projectId: string, promptId: string): Promise<PromptVersionUsage[]> {
  const rows = await executor
    .selectFrom("usageLabels as label")
    .innerJoin("usageLabelRollups as sum", "sum.labelId", "label.id")
    .select("label.value")
    .select(({ fn }) => [
      fn.sum<number | string>("sum.requests").as("requests"),
      fn.sum<number | string>("sum.promptTokens").as("promptTokens"),
      fn.sum<number | string>("sum.completionTokens").as("completionTokens"),
      fn.sum<number | string | null>("sum.costNanoDollars").as("costNanoDollars"),
      fn.max("sum.beginsAt").as("lastDay"),
    ])
    .where("label.projectId", "=", projectId)
    .where("label.kind", "=", "prompt")
    .where(isVersionOf("label.value", promptId))
    .where("sum.bucketSeconds", "=", DAY_SECONDS)
    .groupBy("label.value")
    .execute();
  return rows
    .map(({ value, costNanoDollars, ...sum }) => ({
      version: versionOfLabel(value, promptId),
      requests: Number(sum.requests),
      promptTokens: Number(sum.promptTokens),
      completionTokens: Number(sum.completionTokens),
      costNanoDollars: costNanoDollars === null ? null : Number(costNanoDollars),
      lastDay: Number(sum.lastDay),
    }))
    .sort((a, b) => b.version - a.version);
}
