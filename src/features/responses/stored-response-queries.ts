/** Responses that outlive their request, always found through their project. */

import type { Executor } from "../../storage/database.ts";
import { firstWithin, MAX_PAGE_BYTES } from "../../storage/first-within.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { deleteResource, removeResourcesBefore } from "./expiring-resources.ts";
import type { StoredResponseRow } from "./stored-response-rows.ts";

/** Statuses of a response that still runs. */
const RUNNING_STATUSES = ["queued", "in_progress"] as const;

export async function insertResponse(executor: Executor, row: StoredResponseRow): Promise<void> {
  await executor.insertInto("storedResponses").values(row).execute();
}

export async function findResponse(
  executor: Executor,
  { projectId, id }: ProjectResource,
): Promise<StoredResponseRow | undefined> {
  return executor
    .selectFrom("storedResponses")
    .selectAll()
    .where("id", "=", id)
    .where("projectId", "=", projectId)
    .executeTakeFirst();
}

export interface ResponseSelection {
  projectId: string;
  /** Epoch milliseconds, both included. */
  from: number;
  until: number;
  /** The last response of the page before this one. */
  after: Pick<StoredResponseRow, "createdAt" | "id"> | undefined;
  limit: number;
}

/**
 * Lists responses that have an answer, newest first. A page of large ones ends before its limit. `next`: the `after` of
 * the next page; undefined at the end.
 */
export async function listAnsweredResponses(
  executor: Executor,
  { projectId, from, until, after, limit }: ResponseSelection,
): Promise<{ rows: StoredResponseRow[]; next: ResponseSelection["after"] }> {
  let heads = executor
    .selectFrom("storedResponses")
    .select(["id", "createdAt", (select) => select.fn<number | string>("length", ["content"]).as("bytes")])
    .where("projectId", "=", projectId)
    .where("status", "in", ["completed", "incomplete"])
    .where("createdAt", ">=", from)
    .where("createdAt", "<=", until);
  if (after !== undefined) {
    const { createdAt, id } = after;
    heads = heads.where(({ and, eb, or }) =>
      or([eb("createdAt", "<", createdAt), and([eb("createdAt", "=", createdAt), eb("id", "<", id)])]),
    );
  }
  const found = await heads.orderBy("createdAt", "desc").orderBy("id", "desc").limit(limit).execute();
  const page = firstWithin(MAX_PAGE_BYTES, found);
  const isLast = found.length < limit && page.length === found.length;
  return { rows: await readResponses(executor, page), next: isLast ? undefined : page.at(-1) };
}

/** Returns them newest first. */
async function readResponses(
  executor: Executor,
  heads: readonly Pick<StoredResponseRow, "id">[],
): Promise<StoredResponseRow[]> {
  if (heads.length === 0) return [];
  const ids = heads.map(({ id }) => id);
  const rows = executor.selectFrom("storedResponses").selectAll().where("id", "in", ids);
  return rows.orderBy("createdAt", "desc").orderBy("id", "desc").execute();
}

/** Lists at most `max` responses that have not ended, by the time of their last sign of life, in epoch milliseconds. */
export async function listSilentResponses(
  executor: Executor,
  { from, until }: { from: number; until: number },
  max: number,
): Promise<StoredResponseRow[]> {
  const rows = executor.selectFrom("storedResponses").selectAll().where("usedAt", ">=", from);
  const silent = rows.where("usedAt", "<=", until).where("status", "in", RUNNING_STATUSES);
  return silent.orderBy("usedAt").limit(max).execute();
}

/**
 * Changes a response that still runs; returns false when it has ended or was deleted, or has shown another sign of life
 * than at `seenAt`.
 */
export async function updateRunningResponse(
  executor: Executor,
  { projectId, id }: ProjectResource,
  change: Partial<Pick<StoredResponseRow, "status" | "usedAt" | "content" | "conversationId">>,
  seenAt?: number,
): Promise<boolean> {
  const update = executor
    .updateTable("storedResponses")
    .set(change)
    .where("id", "=", id)
    .where("projectId", "=", projectId)
    .where("status", "in", RUNNING_STATUSES);
  const result = await (seenAt === undefined ? update : update.where("usedAt", "=", seenAt)).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Links of a chain of responses, newest first. */
export interface ChainLink {
  id: string;
  previousResponseId: string | null;
  usedAt: number;
}

/** Reads at most `max` responses, from `id` to the first one of its chain or the last one that still exists. */
export async function readChain(
  executor: Executor,
  { projectId, id }: ProjectResource,
  max: number,
): Promise<ChainLink[]> {
  return executor
    .withRecursive("chain", (db) =>
      db
        .selectFrom("storedResponses")
        .select(["id", "previousResponseId", "usedAt", (eb) => eb.lit(0).as("depth")])
        .where("id", "=", id)
        .where("projectId", "=", projectId)
        .unionAll(
          db
            .selectFrom("storedResponses as earlier")
            .innerJoin("chain", "chain.previousResponseId", "earlier.id")
            .select(["earlier.id", "earlier.previousResponseId", "earlier.usedAt"])
            .select((eb) => eb("chain.depth", "+", 1).as("depth"))
            .where("earlier.projectId", "=", projectId)
            .where("chain.depth", "<", max),
        ),
    )
    .selectFrom("chain")
    .select(["id", "previousResponseId", "usedAt"])
    .orderBy("depth")
    .limit(max)
    .execute();
}

export async function touchResponses(executor: Executor, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await executor.updateTable("storedResponses").set({ usedAt: now }).where("id", "in", ids).execute();
}

/** Deletes the response, and its items that are in no conversation. Returns false when there was none. */
export function deleteResponse(executor: Executor, resource: ProjectResource): Promise<boolean> {
  return deleteResource(executor, "storedResponses", resource, deleteContentOf);
}

/** Deletes at most `max` responses last used before `time` and returns their number. */
export function removeResponsesBefore(executor: Executor, time: number, max: number): Promise<number> {
  return removeResourcesBefore(executor, "storedResponses", { time, max }, deleteContentOf);
}

async function deleteContentOf(executor: Executor, ids: readonly string[]): Promise<void> {
  await executor.deleteFrom("responseEvents").where("responseId", "in", ids).execute();
  const items = executor.deleteFrom("responseItems").where("responseId", "in", ids);
  await items.where("conversationId", "is", null).execute();
  await executor.updateTable("responseItems").set({ responseId: null }).where("responseId", "in", ids).execute();
}

export async function insertResponseEvents(
  executor: Executor,
  row: { responseId: string; firstSequence: number; content: Buffer },
): Promise<void> {
  await executor.insertInto("responseEvents").values(row).execute();
}

/** Reads the events from the row that contains the event `sequence`. */
export async function listResponseEvents(
  executor: Executor,
  responseId: string,
  sequence: number,
): Promise<{ firstSequence: number; content: Buffer }[]> {
  return executor
    .selectFrom("responseEvents")
    .select(["firstSequence", "content"])
    .where("responseId", "=", responseId)
    .where("firstSequence", ">=", (eb) =>
      eb
        .selectFrom("responseEvents as earlier")
        .select((each) => each.fn.coalesce(each.fn.max("earlier.firstSequence"), each.lit(0)).as("first"))
        .where("earlier.responseId", "=", responseId)
        .where("earlier.firstSequence", "<=", sequence),
    )
    .orderBy("firstSequence")
    .execute();
}

/** Deletes everything that a project has stored. */
export async function removeStoredContentOf(executor: Executor, projectId: string): Promise<void> {
  const projectResponses = executor.selectFrom("storedResponses").select("id").where("projectId", "=", projectId);
  await executor.deleteFrom("responseEvents").where("responseId", "in", projectResponses).execute();
  for (const table of ["responseItems", "conversations", "storedResponses"] as const) {
    await executor.deleteFrom(table).where("projectId", "=", projectId).execute();
  }
}

/** Returns archived projects that still have stored content: responses that ended after the archival. */
export async function listArchivedProjectsWithContent(executor: Executor): Promise<string[]> {
  const archived = executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
  const rows = await Promise.all(
    (["storedResponses", "conversations"] as const).map((table) =>
      executor.selectFrom(table).select("projectId").distinct().where("projectId", "in", archived).execute(),
    ),
  );
  return [...new Set(rows.flat().map(({ projectId }) => projectId))];
}

export function isRunningStatus(status: string): boolean {
  return (RUNNING_STATUSES as readonly string[]).includes(status);
}
