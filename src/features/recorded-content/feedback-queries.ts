import type { Executor } from "../../storage/database.ts";
import type { RequestFeedbackRow } from "./feedback-rows.ts";

/** Inserts feedback, or replaces what the same author said about the request. Returns the row as it is stored. */
export async function putFeedback(executor: Executor, row: RequestFeedbackRow): Promise<RequestFeedbackRow> {
  const { score, tags, comment, updatedAt } = row;
  const stored = await executor
    .insertInto("requestFeedback")
    .values(row)
    .onConflict((conflict) => conflict.columns(["requestId", "keyId"]).doUpdateSet({ score, tags, comment, updatedAt }))
    .returningAll()
    .executeTakeFirstOrThrow();
  return stored;
}

/** Feedback of a request, oldest first. */
export async function listFeedback(
  executor: Executor,
  organizationId: string,
  requestIds: readonly string[],
): Promise<RequestFeedbackRow[]> {
  if (requestIds.length === 0) return [];
  const rows = await executor
    .selectFrom("requestFeedback")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("requestId", "in", requestIds)
    .orderBy("createdAt")
    .orderBy("id")
    .execute();
  return rows;
}

/** Removes at most `max` rows about requests that are no longer recorded, and returns their number. */
export async function removeFeedbackBefore(executor: Executor, time: number, max: number): Promise<number> {
  const expired = executor
    .selectFrom("requestFeedback")
    .select("requestFeedback.id")
    .where("createdAt", "<", time)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("recordedContents")
            .select("number")
            .whereRef("recordedContents.id", "=", "requestFeedback.requestId"),
        ),
      ),
    )
    .limit(max);
  const { numDeletedRows } = await executor
    .deleteFrom("requestFeedback")
    .where("id", "in", expired)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
