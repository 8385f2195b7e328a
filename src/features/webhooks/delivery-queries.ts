/** The outbox of webhooks: one row per event and endpoint until it is delivered. */

import { type RawBuilder, sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import type { WebhookDeliveryRow } from "./webhook-rows.ts";

export async function insertWebhookDeliveries(executor: Executor, rows: readonly WebhookDeliveryRow[]): Promise<void> {
  await executor.insertInto("webhookDeliveries").values(rows).execute();
}

/** Leases deliveries to this endpoint that are due, for one attempt. */
export async function claimWebhookDeliveries(
  executor: Executor,
  { endpoint, now, leaseMs, limit }: { endpoint: string; now: RawBuilder<number>; leaseMs: number; limit: number },
): Promise<WebhookDeliveryRow[]> {
  const due = executor
    .selectFrom("webhookDeliveries")
    .select("id")
    .where("dueAt", "<=", now)
    .where("endpoint", "=", endpoint)
    .orderBy("dueAt")
    .limit(limit);
  return (
    executor
      .updateTable("webhookDeliveries")
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

export async function postponeWebhookDelivery(
  executor: Executor,
  id: string,
  now: RawBuilder<number>,
  delayMs: number,
): Promise<void> {
  const update = executor.updateTable("webhookDeliveries").set({ dueAt: sql<number>`${now} + ${delayMs}` });
  await update.where("id", "=", id).execute();
}

export async function deleteWebhookDelivery(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("webhookDeliveries").where("id", "=", id).execute();
}

/** Makes a delivery due, which is in the outbox or was there: its attempts begin again. */
export async function requeueWebhookDelivery(executor: Executor, row: WebhookDeliveryRow): Promise<void> {
  await executor
    .insertInto("webhookDeliveries")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ dueAt: row.dueAt }))
    .execute();
}

/** Counts deliveries that were not attempted or have to be repeated, by endpoint. */
export async function countPendingDeliveries(executor: Executor): Promise<{ endpoint: string; count: number }[]> {
  const counts = executor
    .selectFrom("webhookDeliveries")
    .select(["endpoint", ({ fn }) => fn.countAll<number | string>().as("count")]);
  const rows = await counts.groupBy("endpoint").execute();
  return rows.map(({ endpoint, count }) => ({ endpoint, count: Number(count) }));
}

/** Removes deliveries to endpoints that are no longer configured. Returns their number. */
export async function removeWebhookDeliveriesBefore(executor: Executor, createdAt: number): Promise<number> {
  const result = await executor.deleteFrom("webhookDeliveries").where("createdAt", "<", createdAt).executeTakeFirst();
  return Number(result.numDeletedRows);
}
