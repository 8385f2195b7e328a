import type { CacheSize, NewStoredAnswer, PurgeFilter, StoredAnswer } from "../../inference/cache/cache-store.ts";
import type { Executor } from "../../storage/database.ts";

export async function findAnswer(executor: Executor, key: string, now: number): Promise<StoredAnswer | undefined> {
  const row = await executor
    .selectFrom("cachedAnswers")
    .select(["content", "storedAt"])
    .where("key", "=", key)
    .where("expiresAt", ">", now)
    .executeTakeFirst();
  return row && { content: row.content, storedAt: Number(row.storedAt) };
}

export async function writeAnswer(executor: Executor, answer: NewStoredAnswer): Promise<void> {
  const row = { ...answer, bytes: answer.content.length };
  const { key: _key, ...values } = row;
  await executor
    .insertInto("cachedAnswers")
    .values(row)
    .onConflict((conflict) => conflict.column("key").doUpdateSet(values))
    .execute();
}

export async function sumAnswers(
  executor: Executor,
  organizationId: string | undefined,
  now: number,
): Promise<CacheSize> {
  const all = executor
    .selectFrom("cachedAnswers")
    .select(({ fn }) => [fn.countAll().as("answers"), fn.sum("bytes").as("bytes")])
    .where("expiresAt", ">", now);
  const query = organizationId === undefined ? all : all.where("organizationId", "=", organizationId);
  const { answers, bytes } = await query.executeTakeFirstOrThrow();
  return { answers: Number(answers), bytes: Number(bytes ?? 0) };
}

export async function listOldestAnswers(executor: Executor, max: number): Promise<{ key: string; bytes: number }[]> {
  const rows = await executor
    .selectFrom("cachedAnswers")
    .select(["key", "bytes"])
    .orderBy("storedAt")
    .limit(max)
    .execute();
  return rows.map(({ key, bytes }) => ({ key, bytes: Number(bytes) }));
}

export async function removeAnswers(executor: Executor, keys: readonly string[]): Promise<void> {
  await executor.deleteFrom("cachedAnswers").where("key", "in", keys).execute();
}

/** Removes at most `max` answers and returns their number. */
export async function removeExpiredAnswers(executor: Executor, now: number, max: number): Promise<number> {
  const expired = executor.selectFrom("cachedAnswers").select("key").where("expiresAt", "<=", now).limit(max);
  const { numDeletedRows } = await executor
    .deleteFrom("cachedAnswers")
    .where("key", "in", expired)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Removes at most `max` answers and returns their number. */
export async function removeMatchingAnswers(
  executor: Executor,
  { key, organizationId, scopeId, model }: PurgeFilter,
  max: number,
): Promise<number> {
  let matching = executor.selectFrom("cachedAnswers").select("key");
  if (key !== undefined) matching = matching.where("key", "=", key);
  if (organizationId !== undefined) matching = matching.where("organizationId", "=", organizationId);
  if (scopeId !== undefined) matching = matching.where("scopeId", "=", scopeId);
  if (model !== undefined) {
    matching = matching.where(({ eb, or }) => or([eb("model", "=", model), eb("catalogId", "=", model)]));
  }
  const { numDeletedRows } = await executor
    .deleteFrom("cachedAnswers")
    .where("key", "in", matching.limit(max))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Lists projects and organizations that were archived at or after `time`. */
export async function listArchivedSince(executor: Executor, time: number): Promise<string[]> {
  const archived = (table: "projects" | "organizations") =>
    executor.selectFrom(table).select("id").where("archivedAt", ">=", time).execute();
  const [projects, organizations] = [await archived("projects"), await archived("organizations")];
  return [...projects, ...organizations].map(({ id }) => id);
}
