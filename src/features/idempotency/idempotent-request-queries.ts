import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import type { IdempotentRequestRow } from "./idempotent-request-rows.ts";

/** Inserts a running request. Returns false where the same one is there. */
export async function insertIdempotentRequest(executor: Executor, row: IdempotentRequestRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await executor
    .insertInto("idempotentRequests")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .executeTakeFirstOrThrow();
  return Number(numInsertedOrUpdatedRows) > 0;
}

export async function findIdempotentRequest(executor: Executor, id: string): Promise<IdempotentRequestRow | undefined> {
  return executor.selectFrom("idempotentRequests").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Takes over a request whose process died. Returns false where another process was faster. */
export async function renewIdempotentRequest(
  executor: Executor,
  former: IdempotentRequestRow,
  { bodyHash, createdAt, expiresAt }: IdempotentRequestRow,
): Promise<boolean> {
  const { numUpdatedRows } = await executor
    .updateTable("idempotentRequests")
    .set({ bodyHash, createdAt, expiresAt, status: null, answer: null })
    .where("id", "=", former.id)
    .where("createdAt", "=", former.createdAt)
    .executeTakeFirst();
  return Number(numUpdatedRows) > 0;
}

export async function storeAnswer(
  executor: Executor,
  { id, createdAt }: Pick<IdempotentRequestRow, "id" | "createdAt">,
  answer: { status: number; answer: Buffer },
): Promise<void> {
  const { status, answer: sealed } = answer;
  await executor
    .updateTable("idempotentRequests")
    .set({ status, answer: sealed })
    .where("id", "=", id)
    .where("createdAt", "=", createdAt)
    .execute();
}

export async function removeIdempotentRequest(
  executor: Executor,
  { id, createdAt }: Pick<IdempotentRequestRow, "id" | "createdAt">,
): Promise<void> {
  await executor.deleteFrom("idempotentRequests").where("id", "=", id).where("createdAt", "=", createdAt).execute();
}

/** Removes expired requests of a key, then counts the others. */
export async function countIdempotentRequests(executor: Executor, keyId: string, now: number): Promise<number> {
  await executor.deleteFrom("idempotentRequests").where("keyId", "=", keyId).where("expiresAt", "<=", now).execute();
  const { count } = await executor
    .selectFrom("idempotentRequests")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("keyId", "=", keyId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Sums the stored answers of a key. */
export async function sumAnswerBytes(executor: Executor, keyId: string): Promise<number> {
  const { bytes } = await executor
    .selectFrom("idempotentRequests")
    .select(sql<number | string | null>`sum(length(${sql.ref("answer")}))`.as("bytes"))
    .where("keyId", "=", keyId)
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}
