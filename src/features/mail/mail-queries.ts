/** The outbox of e-mails: one row per recipient until it is delivered. */

import { type RawBuilder, sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import type { MailDeliveryRow } from "./mail-rows.ts";

export async function insertMailDeliveries(executor: Executor, rows: readonly MailDeliveryRow[]): Promise<void> {
  await executor.insertInto("mailDeliveries").values(rows).execute();
}

/** Leases e-mails that are due, for one attempt. */
export async function claimMailDeliveries(
  executor: Executor,
  { now, leaseMs, limit }: { now: RawBuilder<number>; leaseMs: number; limit: number },
): Promise<MailDeliveryRow[]> {
  const due = executor
    .selectFrom("mailDeliveries")
    .select("id")
    .where("dueAt", "<=", now)
    .orderBy("dueAt")
    .limit(limit);
  return (
    executor
      .updateTable("mailDeliveries")
      .set((expression) => ({
        dueAt: sql<number>`${now} + ${leaseMs}`,
        attempts: expression("attempts", "+", 1),
      }))
      .where("id", "in", due)
      // PostgreSQL checks it again after waiting for another process that claims the same row.
      .where("dueAt", "<=", now)
      .returningAll()
      .execute()
  );
}

/** Extends the lease of an attempt. Returns false when another process has begun the next one. */
export async function renewMailDelivery(
  executor: Executor,
  { id, attempts, now, leaseMs }: { id: string; attempts: number; now: RawBuilder<number>; leaseMs: number },
): Promise<boolean> {
  const update = executor.updateTable("mailDeliveries").set({ dueAt: sql<number>`${now} + ${leaseMs}` });
  const result = await update.where("id", "=", id).where("attempts", "=", attempts).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function postponeMailDelivery(
  executor: Executor,
  id: string,
  now: RawBuilder<number>,
  delayMs: number,
): Promise<void> {
  const update = executor.updateTable("mailDeliveries").set({ dueAt: sql<number>`${now} + ${delayMs}` });
  await update.where("id", "=", id).execute();
}

export async function deleteMailDelivery(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("mailDeliveries").where("id", "=", id).execute();
}

/** Removes e-mails that nobody sends any more. Returns their number. */
export async function removeMailDeliveriesBefore(executor: Executor, createdAt: number): Promise<number> {
  const result = await executor.deleteFrom("mailDeliveries").where("createdAt", "<", createdAt).executeTakeFirst();
  return Number(result.numDeletedRows);
}
