import { sql } from "kysely";
import type { Database, Executor } from "../../storage/database.ts";
import type { ProjectRecordingRow, RecordedContentRow } from "./recorded-content-rows.ts";

type Kind = Database["kind"];

export interface NewContent extends Omit<RecordedContentRow, "number"> {
  /** For full-text search; empty: search does not find it. */
  tokens: readonly string[];
}

export type ContentRow = Omit<RecordedContentRow, "number"> & { number: number };

export async function findRecordingsOf(
  executor: Executor,
  projectIds: readonly string[],
): Promise<ProjectRecordingRow[]> {
  if (projectIds.length === 0) return [];
  return executor.selectFrom("projectRecordings").selectAll().where("projectId", "in", projectIds).execute();
}

/** Inserts content; a request that is recorded already keeps what it has. */
export async function insertContents(transaction: Executor, kind: Kind, rows: readonly NewContent[]): Promise<void> {
  for (const { tokens, ...row } of rows) {
    if (row.completionId !== null) await renameEarlier(transaction, row);
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto("recordedContents")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doNothing())
      .executeTakeFirstOrThrow();
    if (tokens.length > 0 && Number(numInsertedOrUpdatedRows) > 0) await writeTokens(transaction, kind, row.id, tokens);
  }
}

/** Some upstreams give each answer the same ID: the newest one has it, and earlier ones that of their request behind it. */
async function renameEarlier(executor: Executor, row: Pick<ContentRow, "id" | "projectId" | "completionId">) {
  await executor
    .updateTable("recordedContents")
    .set({ completionId: sql<string>`${sql.ref("completionId")} || '-' || ${sql.ref("id")}` })
    .where("projectId", "=", row.projectId)
    .where("completionId", "=", row.completionId)
    // A write that is repeated.
    .where("id", "!=", row.id)
    .execute();
}

async function writeTokens(executor: Executor, kind: Kind, id: string, tokens: readonly string[]): Promise<void> {
  if (kind === "postgresql") {
    await sql`update recorded_contents set tokens = array_to_tsvector(${tokens}::text[]) where id = ${id}`.execute(
      executor,
    );
    return;
  }
  await sql`insert into recorded_index(rowid, tokens)
    select number, ${tokens.join(" ")} from recorded_contents where id = ${id}`.execute(executor);
}

/** Replaces the tokens of content that has some. */
export async function replaceTokens(
  executor: Executor,
  kind: Kind,
  id: string,
  tokens: readonly string[],
): Promise<void> {
  const replacement =
    kind === "postgresql"
      ? sql`update recorded_contents set tokens = array_to_tsvector(${tokens}::text[])
          where id = ${id} and tokens is not null`
      : sql`insert or replace into recorded_index(rowid, tokens)
          select number, ${tokens.join(" ")} from recorded_contents
          where id = ${id} and number in (select rowid from recorded_index where rowid = recorded_contents.number)`;
  await replacement.execute(executor);
}

/** Replaces content that is still there. Returns whether it is. */
export async function replaceContent(
  executor: Executor,
  row: Pick<RecordedContentRow, "id" | "projectId" | "content">,
): Promise<boolean> {
  const { numUpdatedRows } = await executor
    .updateTable("recordedContents")
    .set({ content: row.content, bytes: row.content.length })
    .where("id", "=", row.id)
    .where("projectId", "=", row.projectId)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows) > 0;
}

export async function findContent(
  executor: Executor,
  organizationId: string,
  id: string,
): Promise<ContentRow | undefined> {
  const row = await executor
    .selectFrom("recordedContents")
    .select(CONTENT_COLUMNS)
    .where("id", "=", id)
    .where("organizationId", "=", organizationId)
    .executeTakeFirst();
  return row;
}

export async function isRecorded(executor: Executor, id: string): Promise<boolean> {
  const row = await executor.selectFrom("recordedContents").select("number").where("id", "=", id).executeTakeFirst();
  return row !== undefined;
}

export async function findCompletion(
  executor: Executor,
  projectId: string,
  completionId: string,
): Promise<ContentRow | undefined> {
  const row = await executor
    .selectFrom("recordedContents")
    .select(CONTENT_COLUMNS)
    .where("completionId", "=", completionId)
    .where("projectId", "=", projectId)
    .executeTakeFirst();
  return row;
}

/** Lists the projects of an organization that have content. */
export async function listProjectsWithContent(executor: Executor, organizationId: string): Promise<string[]> {
  const rows = await executor
    .selectFrom("projects")
    .select("id")
    .where("organizationId", "=", organizationId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("recordedContents").select("number").whereRef("recordedContents.projectId", "=", "projects.id"),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

/** Bytes that a project stores, read from an index. */
export async function sumContents(executor: Executor, projectId: string): Promise<number> {
  const { bytes } = await executor
    .selectFrom("recordedContents")
    .select(({ fn }) => fn.sum("bytes").as("bytes"))
    .where("projectId", "=", projectId)
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

/** Removes content with its tokens, and returns the number of bytes. */
async function remove(executor: Executor, kind: Kind, rows: readonly { number: number; bytes: number }[]) {
  if (rows.length === 0) return 0;
  const numbers = rows.map(({ number }) => number);
  if (kind === "sqlite") await sql`delete from recorded_index where rowid in (${sql.join(numbers)})`.execute(executor);
  await executor.deleteFrom("recordedContents").where("number", "in", numbers).execute();
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Merges the segments of SQLite's index: until then, they keep the tokens of content that was removed. */
export async function purgeRemovedTokens(executor: Executor, kind: Kind): Promise<void> {
  if (kind === "sqlite") await sql`insert into recorded_index(recorded_index) values ('optimize')`.execute(executor);
}

export type RemovedBy =
  | { id: string; projectId: string }
  | { projectId: string }
  | { ids: readonly string[] }
  | { expiredAt: number };

/** Removes at most `max` rows, the oldest first, until `maxBytes` are removed, and returns their number and bytes. */
export async function removeContents(
  executor: Executor,
  kind: Kind,
  by: RemovedBy,
  max: number,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<{ count: number; bytes: number }> {
  if ("ids" in by && by.ids.length === 0) return { count: 0, bytes: 0 };
  let query = executor.selectFrom("recordedContents").select(["number", "bytes"]).orderBy("number").limit(max);
  if ("expiredAt" in by) query = query.where("expiresAt", "<=", by.expiredAt);
  else if ("ids" in by) query = query.where("id", "in", by.ids);
  else query = query.where("projectId", "=", by.projectId);
  if ("id" in by) query = query.where("id", "=", by.id);
  let bytes = 0;
  const rows = (await query.execute()).filter((row) => {
    const isRemoved = bytes < maxBytes;
    if (isRemoved) bytes += row.bytes;
    return isRemoved;
  });
  return { count: rows.length, bytes: await remove(executor, kind, rows) };
}

/** An archived project with content, if there is one. */
export async function findArchivedProjectWithContent(executor: Executor): Promise<string | undefined> {
  const row = await executor
    .selectFrom("projects")
    .select("id")
    .where("archivedAt", "is not", null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("recordedContents").select("number").whereRef("recordedContents.projectId", "=", "projects.id"),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

export const CONTENT_COLUMNS = [
  "number",
  "id",
  "organizationId",
  "projectId",
  "keyId",
  "endUser",
  "completionId",
  "model",
  "at",
  "expiresAt",
  "bytes",
  "content",
] as const;
